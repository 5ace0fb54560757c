"""Which of a variant's pass configs are really flags of the programs behind the compiler?

Source: TileLang 0.1.15, ``jit/adapter/libgen.py`` (``LibraryGenerator.compile_lib``): it passes
these on to nvcc and ptxas.  A kernel's own ``compile_flags`` are not known here.
"""

from __future__ import annotations

from stagebench.model import Variant

_FAST_MATH = "tl.enable_fast_math"
_REGISTER_USAGE = "tl.ptxas_register_usage_level"


def flags(variant: Variant) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Flags for the compiler of CUDA, and for ptxas."""
    configs = variant.pass_configs
    cuda = ("--use_fast_math",) if configs.get(_FAST_MATH) else ()
    level = configs.get(_REGISTER_USAGE)
    ptxas = () if level is None else (f"--register-usage-level={level}",)
    return cuda, ptxas
