"""What does a kernel of CUDA C++ take?  The declarations of its parameters, as far as we read them.

Declarators are those of C (ISO C++, [dcl.decl]): pointers, arrays (which a parameter's outermost
extent turns into pointers), pointers to arrays, parentheses.  A type that is not a plain one (a
struct, a template's own type, a typedef, a function pointer) has no dtype: people fill it in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from stagebench.bundle.c_types import C_DTYPES

Kind = Literal["tensor", "scalar", "descriptor"]

_NAME = re.compile(r"([A-Za-z_]\w*)\s*$")
_NOISE = re.compile(
    r"\b(?:const|volatile|__restrict__|__restrict|restrict|__grid_constant__|struct|typename)\b"
    r"|\[\[[^\[\]]*\]\]"
)
_ARRAYS = re.compile(r"(?:\[[^\[\]]*\]\s*)+$")
_GROUPED = re.compile(r"\(\s*([*&][^()]*)\)\s*$")
_WORDS = frozenset(word for name in C_DTYPES for word in name.split())
"""What is part of a type's name, and so is no parameter's."""


@dataclass(frozen=True)
class SourceParam:
    """One parameter; ``dtype`` is ``None`` where the source does not say, ``read_only``: const."""

    name: str
    kind: Kind
    dtype: str | None
    read_only: bool
    written_as: str


def cuda_params(text: str) -> tuple[SourceParam, ...]:
    """The parameters of what is between a kernel's parentheses; those without a name get one."""
    return tuple(_param(one, f"arg{place}") for place, one in enumerate(_split(text)))


def _param(text: str, unnamed: str) -> SourceParam:
    written = " ".join(text.split())
    base, name = _declared(_before_default(written))
    called = name or unnamed
    read_only = "const" in base.partition("*")[0].split()
    kind = " ".join(_NOISE.sub(" ", base).replace("*", " * ").split())
    if "CUtensorMap" in kind:
        return SourceParam(called, "descriptor", None, read_only=True, written_as=written)
    if kind.endswith("*"):
        dtype = C_DTYPES.get(kind.removesuffix("*").strip().rpartition("::")[2])
        return SourceParam(called, "tensor", dtype, read_only=read_only, written_as=written)
    dtype = C_DTYPES.get(kind.rpartition("::")[2])
    return SourceParam(called, "scalar", dtype, read_only=True, written_as=written)


def _declared(text: str) -> tuple[str, str | None]:
    """The type and the name; a pointer to arrays, and an array, are pointers to their elements."""
    text = _NOISE.sub(lambda one: one[0] if one[0] == "const" else " ", text).strip()
    element = _ARRAYS.sub("", text).rstrip()
    is_array = element != text
    grouped = _GROUPED.search(element)
    if grouped is not None:
        inner, name = _declared(grouped[1])
        return f"{element[: grouped.start()]}{inner}", name
    base, name = _named(element)
    return (f"{base} *" if is_array else base), name


def _named(text: str) -> tuple[str, str | None]:
    """A type and its name, unless the last word is still the type's."""
    name = _NAME.search(text)
    if name is None or name[1] in _WORDS or not _NOISE.sub("", text[: name.start()]).strip():
        return text, None
    if text[: name.start()].rstrip().endswith("::"):
        return text, None
    return text[: name.start()], name[1]


def _before_default(text: str) -> str:
    """Without a default argument."""
    return next(_parts(text, "="))


def _split(text: str) -> list[str]:
    """Split at commas that are in no bracket."""
    parts = [part for part in _parts(text, ",") if part.strip()]
    return [] if [part.strip() for part in parts] == ["void"] else parts


def _parts(text: str, separator: str) -> Iterator[str]:
    depth = last = 0
    for place, letter in enumerate(text):
        depth += (letter in "(<[{") - (letter in ")>]}")
        if letter == separator and depth == 0:
            yield text[last:place]
            last = place + 1
    yield text[last:]
