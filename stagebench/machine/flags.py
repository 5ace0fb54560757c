"""Which flags of a kernel are for the programs behind the compiler, and which can't be had here?

Pass configs that are really flags, and the kernel's own ``compile_flags``, which a lowering keeps
as the evidence of its note ``compile-flags-kept``.

Source: TileLang 0.1.15, ``jit/adapter/libgen.py`` (``LibraryGenerator.compile_lib``): it splits
them at blanks and hands them to nvcc.  NVRTC's own options are those of its documentation,
"Supported Compile Options"; what is for ptxas goes to ptxas, whatever compiles before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stagebench.model import Diagnostic, Evidence, VariantResult

KEPT = "compile-flags-kept"
"""The diagnostic whose evidence names the flags."""
_FAST_MATH = "tl.enable_fast_math"
_REGISTER_USAGE = "tl.ptxas_register_usage_level"

_FOR_PTXAS = ("-Xptxas", "--ptxas-options")
_REGISTERS = ("-maxrregcount", "--maxrregcount")
_OF_BOTH = (
    "-D", "--define-macro", "-U", "--undefine-macro", "-I", "--include-path",
    "-use_fast_math", "--use_fast_math", "-ftz", "--ftz", "-prec-div", "--prec-div",
    "-prec-sqrt", "--prec-sqrt", "-fmad", "--fmad", "-restrict", "--restrict",
    "-extra-device-vectorization", "--extra-device-vectorization",
)  # fmt: skip
_OURS = (
    "-arch", "--gpu-architecture", "-gencode", "--generate-code", "-code", "--gpu-code",
    "-std", "--std", "-ptx", "--ptx", "-cubin", "--cubin", "-o", "-G", "--device-debug",
    "-L", "--library-path", "-l", "--library", "-shared", "--shared",
)  # fmt: skip
"""Chosen by us, or about something that is not made here."""
_NO_DIFFERENCE = (
    "-O", "-O0", "-O1", "-O2", "-O3", "--optimize", "-w", "--disable-warnings", "-lineinfo",
    "--generate-line-info", "-std=c++20", "--std=c++20", "-v", "--verbose",
)  # fmt: skip
"""``-O`` is for host code (CUDA Compiler Driver NVCC, "Options for Specifying Behavior of
Compiler/Linker"); the rest is as we do it, or about what is printed."""
_PTXAS_SAYS = ("", "-v", "--verbose")
_WITH_VALUE = (
    *_FOR_PTXAS, *_REGISTERS, "-D", "-U", "-I", "-Xcompiler", "--compiler-options", "-Xcudafe",
    "-Xlinker", "-std", "--std", "-arch", "-gencode", "-code", "-include", "--pre-include", "-L",
    "-o", "-diag-suppress", "--diag-suppress", "-ccbin",
)  # fmt: skip


@dataclass(frozen=True)
class Flags:
    """For the compiler of CUDA, for ptxas, and those that are applied nowhere."""

    cuda: tuple[str, ...]
    ptxas: tuple[str, ...]
    left_out: tuple[str, ...]


def flags(result: VariantResult, *, nvcc: bool) -> Flags:
    """The flags of a variant; ``nvcc``: it compiles, which takes more of them than NVRTC does."""
    configs = result.variant.pass_configs
    cuda = ["--use_fast_math"] if configs.get(_FAST_MATH) else []
    level = configs.get(_REGISTER_USAGE)
    ptxas = [] if level is None else [f"--register-usage-level={level}"]
    left_out: list[str] = []
    for words in _whole(_own(result)):
        name = words[0].partition("=")[0]
        if words[0] in _NO_DIFFERENCE:
            continue
        if name in _FOR_PTXAS:
            ptxas += [one for one in _value(words).split(",") if one not in _PTXAS_SAYS]
        elif name in _REGISTERS:
            ptxas.append(f"--maxrregcount={_value(words)}")
        elif name in _OURS:
            left_out.append(" ".join(words))
        elif nvcc or name in _OF_BOTH or name[:2] in ("-D", "-U", "-I"):
            cuda += [word for word in words if len(words) > 1 or word not in cuda]
        else:
            left_out.append(" ".join(words))
    return Flags(tuple(cuda), tuple(ptxas), tuple(left_out))


def not_applied(found: Flags, *, nvcc: bool) -> Diagnostic | None:
    """What a reader of machine code must know of flags that it was made without."""
    if not found.left_out:
        return None
    hint = "" if nvcc else " (--assembler nvcc takes what nvcc does)"
    return Diagnostic(
        severity="warning",
        code="compile-flags-not-applied",
        message=f"assembled without the kernel's flags {', '.join(found.left_out)}{hint}",
        evidence=tuple(Evidence(artifact="source", text=one) for one in found.left_out),
    )


def _own(result: VariantResult) -> list[str]:
    """The kernel's own flags, split at blanks."""
    notes = () if result.facts is None else result.facts.diagnostics
    told = [one.text for note in notes if note.code == KEPT for one in note.evidence]
    return [word for text in told if text for word in text.split()]


def _whole(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Each flag with the value that follows it."""
    rest = iter(words)
    for word in rest:
        value = next(rest, None) if word in _WITH_VALUE else None
        yield (word,) if value is None else (word, value)


def _value(words: tuple[str, ...]) -> str:
    return words[1] if len(words) > 1 else words[0].partition("=")[2]
