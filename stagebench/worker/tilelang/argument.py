"""How does a value of the command line become a kernel's argument?  By what it expects.

`as_argument` makes of ``float16`` what the parameter expects (a TileLang dtype, a torch dtype, a
string) and refuses a value that contradicts the parameter's annotation.  `as_recorded` makes of any
argument or default a value that a record can hold.
"""

from __future__ import annotations

import enum
import inspect
from typing import Any

import torch
from tilelang import language

from stagebench.errors import UsageError
from stagebench.model import ParamValue, Scalar
from stagebench.worker.loading.plain_values import NO_VALUE, converted_to

_DTYPE_PREFIXES = ("T.", "torch.", "tl.", "tilelang.", "tilelang.language.")
_TILELANG_DTYPE = type(language.float16)
_TORCH_ONLY = {"half": "float16", "float": "float32", "double": "float64", "long": "int64"}


def as_argument(
    owner: str, parameter: inspect.Parameter, hint: object, value: ParamValue
) -> object:
    """Return the argument to pass for ``value``; a `UsageError` where the annotation forbids it.

    ``hint`` is the evaluated annotation (``parameter.annotation`` where it can't be evaluated).
    """
    if isinstance(value, str):
        made = _dtype(parameter, hint, value)
        if made is not NO_VALUE:
            return made
    converted = converted_to(hint, value)
    if converted is NO_VALUE:
        raise UsageError(
            f"parameter `{parameter.name}` of `{owner}` is {annotation_text(parameter)}, "
            f"and {value!r} is not",
            hint=f"give --set {parameter.name}=VALUE with a value of that type",
        )
    return converted


def annotation_text(parameter: inspect.Parameter) -> str:
    """Spell a parameter's annotation as the file does."""
    if parameter.annotation is _TILELANG_DTYPE:
        return "T.dtype"
    return inspect.formatannotation(parameter.annotation).strip("'")


def _dtype(parameter: inspect.Parameter, hint: object, value: str) -> object:
    """Return the dtype that ``value`` names, where the parameter wants one."""
    prefix = next((p for p in _DTYPE_PREFIXES if value.startswith(p)), "")
    name = value[len(prefix) :]
    torch_dtype = getattr(torch, name, None)
    is_torch = isinstance(torch_dtype, torch.dtype)
    tilelang_dtype = _tilelang_dtype(_TORCH_ONLY.get(name, name) if is_torch else name)
    if tilelang_dtype is None and not is_torch:
        return NO_VALUE
    default = parameter.default
    if hint is str or hint == "str" or type(default) is str:
        return name if prefix else NO_VALUE
    wants_torch = isinstance(default, torch.dtype) or hint is torch.dtype
    if is_torch and (wants_torch or (prefix == "torch." and not _wants_dtype(parameter, hint))):
        return torch_dtype
    if prefix or _wants_dtype(parameter, hint):
        return NO_VALUE if tilelang_dtype is None else tilelang_dtype
    return NO_VALUE


def _wants_dtype(parameter: inspect.Parameter, hint: object) -> bool:
    if isinstance(parameter.default, _TILELANG_DTYPE) or hint is _TILELANG_DTYPE:
        return True
    named = parameter.annotation is parameter.empty or "dtype" in annotation_text(parameter)
    return named and ("dtype" in parameter.name or "dtype" in annotation_text(parameter))


def _tilelang_dtype(name: str) -> Any:
    found = getattr(language, name, None)
    return found if isinstance(found, _TILELANG_DTYPE) else None


def as_recorded(value: object) -> ParamValue:
    """Convert ``value`` to what a record holds: the same on any machine, no addresses."""
    if isinstance(value, (list, tuple)):
        return tuple(
            tuple(_scalar(inner) for inner in item)
            if isinstance(item, (list, tuple))
            else _scalar(item)
            for item in value
        )
    return _scalar(value)


def _scalar(value: object) -> Scalar:
    if value is None or type(value) in (bool, int, float, str):
        return value  # type: ignore[return-value]
    if isinstance(value, torch.dtype):
        return str(value).removeprefix("torch.")
    if isinstance(value, enum.Enum):
        return _scalar(value.value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        return int(value)
    if callable(value):
        return getattr(value, "__qualname__", type(value).__qualname__)
    constant = getattr(value, "value", None)
    if type(constant) in (bool, int, float, str):
        return constant
    text = str(value)
    return type(value).__qualname__ if " at 0x" in text else text
