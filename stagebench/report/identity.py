"""Which variant is this, in a few words?  A built-in GEMM by its shape, others by their values."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from stagebench.kernels import BUILTINS, TVM_BUILTINS
from stagebench.model import Compiler, ParamValue, Scalar, Variant

AS_WRITTEN = "as written"
"""The depth of a kernel that has no parameter for it."""
_SIZE, _TILE = ("M", "N", "K"), ("block_M", "block_N", "block_K")


def parameters(variant: Variant, without: Collection[str] = ()) -> tuple[str, ...]:
    """The parameters and pass configs that identify a table: all but the depth, shortened."""
    left_out = {"num_stages", *without}
    params = {name: value for name, value in variant.params.items() if name not in left_out}
    short = _gemm(variant.kernel, params)
    plain = [f"{name}={value_text(value)}" for name, value in params.items()]
    configs = [
        f"{name}={value_text(value)}"
        for name, value in variant.pass_configs.items()
        if name not in left_out
    ]
    return (*short, *plain, *configs)


def differing(variants: Sequence[Variant]) -> tuple[str, ...]:
    """The parameters and pass configs, but for the depth, that these do not all have alike."""
    told = [{**variant.params, **variant.pass_configs} for variant in variants]
    names = dict.fromkeys(name for values in told for name in values if name != "num_stages")
    return tuple(name for name in names if len({repr(values.get(name)) for values in told}) > 1)


def value_text(value: ParamValue | Scalar) -> str:
    """A parameter's value as it is typed on the command line."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "(" + ", ".join(value_text(item) for item in value) + ")"
    return str(value)


def compiler(variant: Variant) -> str:
    """Name and version of the compiler."""
    return f"{variant.compiler.name} {variant.compiler.version}"


def compiler_names(variants: Sequence[Variant]) -> dict[Compiler, str]:
    """Each compiler of a run as a column's head: its version where all have one name."""
    compilers = list(dict.fromkeys(variant.compiler for variant in variants))
    one_name = len({compiler.name for compiler in compilers}) == 1
    return {c: c.version if one_name else f"{c.name} {c.version}" for c in compilers}


def depth(variant: Variant) -> str | None:
    """The depth as a column's head; ``None`` where the kernel has no such parameter."""
    value = variant.params.get("num_stages")
    return None if value is None else value_text(value)


def _gemm(kernel: str, params: dict[str, ParamValue]) -> list[str]:
    """The words for a built-in GEMM's parameters, which are taken out of ``params``."""
    if not (kernel.startswith("gemm") and (kernel in BUILTINS or kernel in TVM_BUILTINS)):
        return []
    found: list[str] = []
    if params.keys() >= set(_SIZE):
        m, n, k = (params.pop(name) for name in _SIZE)
        found.append(f"{m}³" if m == n == k else f"{m}×{n}×{k}")
    if params.keys() >= set(_TILE):
        found.append("tile " + "×".join(str(params.pop(name)) for name in _TILE))
    if "threads" in params:
        found.append(f"{params.pop('threads')} threads")
    if "dtype" in params:
        accumulated = params.pop("accum_dtype", "float32")
        into = "" if accumulated == "float32" else f" into {accumulated}"
        found.append(f"{params.pop('dtype')}{into}")
    return found
