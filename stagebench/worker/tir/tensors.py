"""Which tensors does a kernel take, and which of them may its device function read or write?

Shapes and strides come from the function as its author wrote it; reads and writes
from the final device function.  The compiler's own ``tl.readonly_param_indices`` lists every
parameter, outputs too (TileLang 0.1.15), and is not used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from stagebench.model import LaunchTensor, TmaDescriptor
from stagebench.worker.tir import nodes as ir
from stagebench.worker.tir import storage
from stagebench.worker.tir.nodes import tirx

_MASK_READ, _MASK_WRITTEN = 1, 2  # of tvm_access_ptr (include/tvm/tir/builtin.h)


@dataclass(frozen=True)
class TensorOps:
    """A compiler's ops that are given pointers to global memory, by the names of ``name_of``.

    ``read`` are those that only read it, ``written`` those that only write it; any other op may do
    both.  ``functions_read`` are device functions, called by their names, that only read it.
    """

    read: frozenset[str]
    written: frozenset[str]
    name_of: Callable[[str], str]
    functions_read: frozenset[str] = frozenset()


def read_tensors(
    prim_func: Any, function: Any, descriptors: Sequence[TmaDescriptor], ops: TensorOps
) -> tuple[LaunchTensor, ...]:
    """The tensors of ``prim_func`` in its order, with what the device ``function`` does to each."""
    uses = _Uses(function.params, {d.name: d.tensor for d in descriptors}, ops)
    for stmt in ir.statements(function.body):
        uses.visit(stmt)
    found = []
    for buffer in storage.tensor_parameters(prim_func):
        name = storage.pointer_name(buffer)
        strides = tuple(ir.extent_of(stride) for stride in buffer.strides)
        found.append(
            LaunchTensor(
                name=name,
                dtype=str(buffer.dtype),
                shape=tuple(ir.extent_of(dim) for dim in buffer.shape),
                strides=strides or None,
                read=name in uses.read,
                written=name in uses.written,
            )
        )
    return tuple(found)


class _Uses:
    """What one walk over the device function saw happen to the tensors that it is passed."""

    def __init__(self, params: Sequence[Any], tensor_of: dict[str, str], ops: TensorOps) -> None:
        self.read: set[str] = set()
        self.written: set[str] = set()
        self._params = list(params)
        self._tensor_of = tensor_of
        self._ops = ops
        self._views = storage.Views()

    def visit(self, stmt: Any) -> None:
        self._views.note(stmt)
        if isinstance(stmt, tirx.BufferStore):
            self._note(self._passed(stmt.buffer), read=False, written=True)
        for expr in ir.expressions(stmt):
            self._visit_expression(expr)

    def _visit_expression(self, expr: Any) -> None:
        pointed = 0  # loads that are only the operand of an address_of
        loads: list[str] = []
        handles: list[str] = []
        masked: list[str] = []
        casts: list[Any] = []

        def visit(node: Any) -> None:
            nonlocal pointed
            if isinstance(node, ir.BufferLoad):
                name = self._loaded(node)
                loads.extend([name] if name else [])
            elif isinstance(node, ir.Var):
                name = self._passed(node)
                handles.extend([name] if name else [])
            elif isinstance(node, ir.Call):
                casts[:] = [c for c in casts if not any(c.same_as(arg) for arg in node.args)]
                casts.extend([node] if storage.is_cast(node) else [])
                pointed += self._visit_call(node, masked)

        ir.post_order_visit(expr, visit)
        if len(loads) > pointed or pointed == 0:
            for name in loads:
                self._note(name, read=True, written=False)
        for name in set(masked) & set(handles):
            handles.remove(name)
        gone = [self._pointee(cast) for cast in casts]  # of no call whose argument it is
        for tensor in (*handles, *gone):  # a pointer that goes we don't know where
            self._note(tensor, read=True, written=True)

    def _visit_call(self, call: Any, masked: list[str]) -> int:
        """Note what a call does with pointers; returns how many loads are addresses only."""
        name = self._ops.name_of(ir.op_name(call))
        if storage.is_cast(call):
            return 0  # it goes where the call around it says
        if name == "address_of":
            load = call.args[0]
            return int(isinstance(load, ir.BufferLoad) and bool(self._loaded(load)))
        if name == "tvm_access_ptr":
            tensor = self._passed(call.args[1])
            mask = ir.constant(call.args[4])
            if tensor and mask is not None:
                masked.append(tensor)
                self._note(tensor, read=bool(mask & _MASK_READ), written=bool(mask & _MASK_WRITTEN))
            return 0
        only_read = name in self._ops.read
        if name in ("call_extern", "call_pure_extern"):
            only_read = str(call.args[0].value).partition("<")[0] in self._ops.functions_read
        for arg in call.args:
            tensor = self._pointee(arg)
            if tensor is None and (only_read or name in self._ops.written):
                tensor = self._passed(arg)  # a bare pointer, and we know what becomes of it
                masked.extend([tensor] if tensor else [])
            if tensor:
                read = name not in self._ops.written or _reduces(call, name)
                self._note(tensor, read=read, written=not only_read)
        return 0

    def _pointee(self, arg: Any) -> str | None:
        """The tensor whose address (or TMA descriptor) an argument is."""
        arg = storage.uncast(arg)
        if isinstance(arg, ir.Call) and self._ops.name_of(ir.op_name(arg)) == "address_of":
            inner = arg.args[0]
            if isinstance(inner, ir.BufferLoad):
                return self._loaded(inner)
            arg = inner
        return self._tensor_of.get(str(arg.name)) if isinstance(arg, ir.Var) else None

    def _loaded(self, load: Any) -> str | None:
        """The tensor that a load is of."""
        return self._passed(storage.buffer_of(load))

    def _passed(self, pointer: Any) -> str | None:
        """The tensor that a pointer or buffer is, if the device function has it as a parameter."""
        var = self._views.root(pointer)
        if var is None or str(var.name) in self._tensor_of:
            return None
        return str(var.name) if any(var.same_as(param) for param in self._params) else None

    def _note(self, tensor: str | None, *, read: bool, written: bool) -> None:
        if tensor is None:
            return
        if read:
            self.read.add(tensor)
        if written:
            self.written.add(tensor)


def _reduces(call: Any, name: str) -> bool:
    """Does a TMA store add to what is there?  (``need_reduce``, the last argument but one.)"""
    return name == "tma_store" and ir.constant(call.args[-2]) != 0
