"""Which kernels does a source have, and what do they take?  Enough to start a launch plan from.

Of PTX the ``.entry`` and its ``.param`` list.  Of CUDA C++ the text behind each ``__global__``:
the last name before the parenthesis; `stagebench.bundle.cuda_params` reads its parameters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from stagebench.bundle.cuda_params import SourceParam, cuda_params
from stagebench.bundle.plan_checks import parameter_bits
from stagebench.errors import UsageError
from stagebench.ptx.read import read_module
from stagebench.ptx.records import Variable

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_NAME = re.compile(r"([A-Za-z_]\w*)\s*$")
_ATTRIBUTES = ("__launch_bounds__", "__cluster_dims__", "__maxnreg__", "__block_size__")
_BOUNDS = re.compile(r"__launch_bounds__\s*\(\s*(\d+)")
_EXTERN_CUDA = re.compile(r"\bextern\s+__shared__")
_EXTERN_PTX = re.compile(r"\.extern\s+\.shared\b")
_PTX_SCALARS = {
    ".u8": "uint8", ".s8": "int8", ".b8": "uint8", ".u16": "uint16", ".s16": "int16",
    ".b16": "uint16", ".u32": "uint32", ".s32": "int32", ".b32": "int32", ".f32": "float32",
    ".f64": "float64",
}  # fmt: skip
_DESCRIPTOR_BITS = 1024
_LENGTH = re.compile(r"\d+")
_DEPTH_NAME = re.compile(r"\b[A-Z0-9_]*STAGES[A-Z0-9_]*\b")
_DECLARED = re.compile(r"\b(?:int|unsigned|auto|size_t|typename|\w+_t)\s+([A-Z0-9_]*STAGES\w*)")
_GUARD = re.compile(r"#\s*ifndef\s+(\w+)|!\s*defined\s*\(?\s*(\w+)")
_DEFINED = re.compile(r"#\s*define\s+(\w+)")


@dataclass(frozen=True)
class SourceEntry:
    """One kernel; ``threads`` is the largest block that it allows, ``arch`` what it is for.

    ``dynamic_smem``: the source has shared memory whose size the launch says.  ``depth_macro`` is
    the macro of its depth, ``takes_depth``: that a compiler's ``-D`` is free to say.
    """

    name: str
    params: tuple[SourceParam, ...]
    threads: int | None
    arch: str | None
    dynamic_smem: bool
    depth_macro: str | None = None
    takes_depth: bool = False


def plain_name(name: str) -> str:
    """A function's name without what C++ mangling adds to it (Itanium C++ ABI, "Mangling")."""
    found, place = name, 3 if name.startswith("_ZN") else 2
    while name.startswith("_Z") and (length := _LENGTH.match(name, place)):
        place = length.end() + int(length[0])
        found = name[length.end() : place]
        if not name.startswith("_ZN"):
            break
    return found if place <= len(name) else name


def source_entries(path: Path) -> tuple[SourceEntry, ...]:
    """The kernels of a ``.cu`` or ``.ptx``; `UsageError` where it is neither, or has none."""
    if path.suffix not in (".cu", ".ptx"):
        raise UsageError(f"{path}: neither .cu nor .ptx", hint="CUDA C++ or PTX, as text")
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as exc:
        raise UsageError(f"{path}: {exc.strerror}", hint="a .cu or .ptx that is there") from exc
    except UnicodeDecodeError as exc:
        raise UsageError(f"{path} is no text: {exc}", hint="a cubin has no plan") from exc
    found = tuple(cuda_entries(text) if path.suffix == ".cu" else _of_ptx(text))
    if not found:
        raise UsageError(f"{path} has no kernel", hint="a kernel is __global__, or an .entry")
    return found


def _of_ptx(text: str) -> Iterator[SourceEntry]:
    module = read_module(text)
    arch = next((one for one in module.targets if one.startswith("sm_")), None)
    for function in module.entries:
        bounds = function.directives.get(".reqntid") or function.directives.get(".maxntid")
        threads = 1
        for extent in bounds or ():
            threads *= extent
        params = tuple(
            _ptx_param(variable, f"arg{place}") for place, variable in enumerate(function.params)
        )
        dynamic = _EXTERN_PTX.search(text) is not None
        yield SourceEntry(function.name, params, threads if bounds else None, arch, dynamic)


def _ptx_param(variable: Variable, name: str) -> SourceParam:
    bits = parameter_bits(variable)
    written = " ".join((*variable.qualifiers, variable.name))
    if bits == 64 and not variable.shape:
        return SourceParam(name, "tensor", None, read_only=False, written_as=written)
    if bits == _DESCRIPTOR_BITS:
        return SourceParam(name, "descriptor", None, read_only=True, written_as=written)
    dtype = None
    if not variable.shape:
        dtype = next((_PTX_SCALARS[q] for q in variable.qualifiers if q in _PTX_SCALARS), None)
    return SourceParam(name, "scalar", dtype, read_only=True, written_as=written)


def cuda_entries(text: str) -> Iterator[SourceEntry]:
    """The kernels that CUDA C++ defines."""
    text = _COMMENT.sub(" ", text)
    macro, is_free = _depth_macro(text)
    seen: set[str] = set()
    for start in (match.end() for match in re.finditer(r"\b__global__\b", text)):
        header = start
        while (opening := text.find("(", header)) >= 0:
            name = _NAME.search(text[start:opening])
            end = _closing(text, opening)
            if name is None or end is None:
                break
            if name[1] in _ATTRIBUTES:
                header = end
                continue
            is_defined = text[end:].lstrip().startswith("{")
            if name[1] not in seen and is_defined:
                seen.add(name[1])
                bounds = _BOUNDS.search(text[start:opening])
                params = cuda_params(text[opening + 1 : end - 1])
                threads = int(bounds[1]) if bounds else None
                dynamic = _EXTERN_CUDA.search(text) is not None
                yield SourceEntry(name[1], params, threads, None, dynamic, macro, is_free)
            break


def _depth_macro(text: str) -> tuple[str | None, bool]:
    """The macro that says the depth, by its name; whether the source leaves it open.

    A constant or a template's parameter of that name is none.
    """
    names = dict.fromkeys(_DEPTH_NAME.findall(text))
    declared = {one[1] for one in _DECLARED.finditer(text)}
    macros = [one for one in names if one not in declared]
    guarded = {one for match in _GUARD.finditer(text) for one in match.groups() if one}
    defined = set(_DEFINED.findall(text))
    is_free = [one for one in macros if one in guarded or one not in defined]
    return next(iter(is_free or macros), None), bool(is_free)


def _closing(text: str, opening: int) -> int | None:
    """One past the parenthesis that closes the one at ``opening``."""
    depth = 0
    for place in range(opening, len(text)):
        depth += (text[place] == "(") - (text[place] == ")")
        if depth == 0:
            return place + 1
    return None
