"""Do a plan's arguments have the types that the source's signature says?  As far as it is read.

A template's own types, structs and typedefs are not (`stagebench.bundle.source_entries`); sizes are
held against the PTX as well (`stagebench.bundle.plan_checks`).
"""

from __future__ import annotations

from collections.abc import Callable

from stagebench.bundle.cuda_params import SourceParam
from stagebench.bundle.plan_records import ELEMENT_BITS, Plan, PlanArgument
from stagebench.bundle.source_entries import cuda_entries, plain_name
from stagebench.errors import UsageError

_RAW = ("int8", "uint8", "bool")
"""What bytes of any kind are passed as."""


def check_signature(plan: Plan, text: str, where: str, warn: Callable[[str], None]) -> None:
    """Raise `UsageError` for a scalar of another kind; ``warn`` of tensors of other elements."""
    name = plain_name(plan.entry)
    entry = next((one for one in cuda_entries(text) if one.name == name), None)
    if entry is None or len(entry.params) != len(plan.arguments):
        return
    for argument, param in zip(plan.arguments, entry.params, strict=True):
        said = f"{where}: argument {argument.name}"
        if param.dtype is None or argument.dtype is None:
            continue
        if param.kind == "scalar":
            _check_scalar(argument, param.dtype, param, said)
        elif argument.shape is not None and not _alike(argument.dtype, param.dtype):
            warn(f"{said} is {argument.dtype}, in the source it is {param.written_as}")


def _check_scalar(argument: PlanArgument, dtype: str, param: SourceParam, said: str) -> None:
    if argument.value is None:
        raise UsageError(
            f"{said} is a tensor, in the source it is {param.written_as}",
            hint=f"dtype = '{dtype}' and a value",
        )
    given = argument.dtype or ""
    same = ELEMENT_BITS[given] == ELEMENT_BITS[dtype]
    if not same or _is_float(given) != _is_float(dtype):
        raise UsageError(
            f"{said} is {given}, in the source it is {param.written_as}", hint=f"dtype = '{dtype}'"
        )


def _alike(given: str, dtype: str) -> bool:
    """The same elements, integers of one size, spellings of one format, or bytes of any."""
    if dtype in _RAW:
        return True
    if ELEMENT_BITS[given] != ELEMENT_BITS[dtype] or _is_float(given) != _is_float(dtype):
        return False
    return not _is_float(given) or given.removesuffix("fn") == dtype.removesuffix("fn")


def _is_float(dtype: str) -> bool:
    return dtype.startswith(("float", "bfloat"))
