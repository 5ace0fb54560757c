"""Whose storage is a buffer or a pointer, and what is it called?

From Apache TVM 0.26 on a buffer is a variable, storage has no name of its own, and a pointer is a
call of the buffer; earlier a buffer holds the variable of its storage.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stagebench.model import Extent
from stagebench.worker.tir import nodes as ir
from stagebench.worker.tir.classes import (
    Allocate,
    AllocBuffer,
    BufferType,
    Call,
    DeclBuffer,
    Var,
    tvm,
)

_POINTER_CASTS = frozenset(
    {"reinterpret", "cuda.cvta_generic_to_shared", "cuda_cvta_generic_to_shared"}
)


def buffer_of(access: Any) -> Any:
    """The buffer that a load, a store or a region names."""
    found = getattr(access, "buffer", None)
    return access.source if found is None else found


def buffer_name(buffer: Any) -> str:
    """The name of a buffer's storage, which aliases of one allocation share.

    From 0.26 on it is the buffer's own: `Views` knows whose storage an alias has.
    """
    return str(buffer.name if isinstance(buffer, Var) else buffer.data.name)


def pointer_name(buffer: Any) -> str:
    """What the device function's parameter for a buffer of the host is called.

    0.26 and later name it after the buffer, with ``_ptr`` (seen after ``SplitHostDevice``).
    """
    is_variable = isinstance(getattr(buffer, "ty", None), BufferType)
    return f"{buffer.name}_ptr" if is_variable else buffer_name(buffer)


def variable_of(node: Any) -> Any | None:
    """The variable that a buffer's storage or a pointer is, ``None`` for any other node.

    Casts between address spaces are looked through.
    """
    node = uncast(node)
    if isinstance(node, Call):
        node = node.args[0] if ir.op_name(node) == "tirx.buffer_data" else None
    return node if isinstance(node, Var) else getattr(node, "data", None)


def uncast(pointer: Any) -> Any:
    """A pointer without the casts between address spaces around it."""
    while is_cast(pointer):
        pointer = list(pointer.args)[-1]
    return pointer


def is_cast(node: Any) -> bool:
    """Whether a node is a pointer (or a number) in another address space or type."""
    return isinstance(node, Call) and ir.op_name(node).removeprefix("tirx.") in _POINTER_CASTS


def declared_view(stmt: Any) -> tuple[Any, Any] | None:
    """A buffer variable that a statement declares over the storage of another variable: the two.

    ``None`` before 0.26, where a buffer holds its storage's variable itself.
    """
    if not isinstance(stmt, DeclBuffer) or getattr(stmt, "data", None) is None:
        return None
    of = variable_of(stmt.data)
    return None if of is None else (stmt.buffer, of)


class Views:
    """Which variable's storage is a buffer or pointer?  Told of every statement, in order."""

    def __init__(self) -> None:
        self._declared: list[tuple[Any, Any]] = []

    def note(self, stmt: Any) -> None:
        """Take a statement; most declare no view."""
        view = declared_view(stmt)
        if view is not None:
            self._declared.append(view)

    def root(self, node: Any) -> Any | None:
        """The variable that a buffer or pointer is a view of in the end; ``None``: neither."""
        var = variable_of(node)
        for view, of in reversed(self._declared):
            if var is not None and var.same_as(view):
                var = of
        return var


def tensor_parameters(prim_func: Any) -> list[Any]:
    """The buffers that a function takes, in the order of its parameters."""
    declared = getattr(prim_func, "buffer_map", None)
    if declared is None:
        return [param for param in prim_func.params if isinstance(param.ty, BufferType)]
    return [declared[param] for param in prim_func.params if param in declared]


def type_of(var: Any) -> Any:
    """The type of a parameter: a pointer's, or its own; ``None`` where none is annotated."""
    return getattr(var, "type_annotation", None) or getattr(var, "ty", None)


def dtype_of(var: Any) -> str:
    """The data type of a scalar variable."""
    held = getattr(var, "ty", None)
    return str(var.dtype if held is None else held.dtype)


@dataclass(frozen=True)
class Allocation:
    """Storage that a statement allocates; ``shape`` is in elements of ``bits`` each."""

    name: str
    scope: str
    dtype: str
    bits: int
    shape: tuple[Extent, ...]
    buffer: Any | None
    """``None`` in TileLang 0.1.9, where a variable is allocated."""


def allocation(stmt: Any) -> Allocation | None:
    """What a statement allocates, ``None`` where it is no allocation."""
    buffer = None
    if isinstance(stmt, AllocBuffer):
        buffer = stmt.buffer
        name, scope, shape = buffer_name(stmt.buffer), stmt.buffer.scope(), stmt.buffer.shape
        dtype = stmt.buffer.dtype
    elif isinstance(stmt, Allocate):
        pointer = stmt.buffer_var.type_annotation
        name, scope, shape = stmt.buffer_var.name, pointer.storage_scope, stmt.extents
        dtype = tvm.DataType(stmt.dtype)
    else:
        return None
    bits = int(dtype.bits) * int(dtype.lanes)
    extents = tuple(ir.extent_of(dim) for dim in shape)
    return Allocation(str(name), str(scope), str(dtype), bits, extents, buffer)
