"""Which tensors hold the times of the kernel's own marks of regions, and what are they called?

A tensor is a profiler's because the device IR passes it to the ``timer_*_cuda`` intrinsics: these
are all that `tvm.tirx.bench.CudaProfiler` makes.  One that the kernel uses in any other way too is
left out: it holds more than times, and is compared like every tensor.  The IR has ids alone: the
names of events and groups are the author's, in an attribute of the function, by id::

    kernel.with_attr("stagebench.profiler", {"events": ["load", "compute"], "groups": ["all"]})

Source: ``tvm/backend/cuda/op.py`` (positions of arguments) and
``tvm/backend/cuda/operator/intrinsics/misc.py`` (what each writes) of Apache TVM 0.25.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from stagebench.errors import UsageError
from stagebench.model import Extent, ProfilerBuffer
from stagebench.worker.tir import nodes as ir
from stagebench.worker.tir import storage
from stagebench.worker.tir.nodes import tirx
from stagebench.worker.tvm.intrinsics import short_name

ATTRIBUTE = "stagebench.profiler"
_INIT, _START, _END, _FINALIZE = (
    "timer_init_cuda", "timer_start_cuda", "timer_end_cuda", "timer_finalize_cuda",
)  # fmt: skip
_BUFFER = {_INIT: 0, _START: 1, _END: 1, _FINALIZE: 0}
_STRIDE = {_START: 4, _END: 4, _FINALIZE: 3}
_GROUPS, _EVENT = 3, 0
_KEYS = ("events", "groups")


def read_profilers(host: Any, function: Any) -> tuple[ProfilerBuffer, ...]:
    """The profilers' tensors of the device ``function``, in the order of its parameters.

    ``host`` is the function as its author wrote it, with the names.
    """
    events, groups = profiler_names(host)
    found = []
    views = storage.Views()
    for stmt in ir.statements(function.body):
        views.note(stmt)
    for param in function.params:
        marks = [
            (name, call) for name, call in _marks(function) if _writes(name, call, param, views)
        ]
        if marks and len(marks) == _uses(function, param, views):
            found.append(_profiler(str(param.name), marks, events, groups))
    return tuple(found)


def _marks(function: Any) -> list[tuple[str, Any]]:
    named = (
        (short_name(ir.op_name(call)), call)
        for stmt in ir.statements(function.body)
        for expr in ir.expressions(stmt)
        for call in ir.calls(expr)
    )
    return [(name, call) for name, call in named if name in _BUFFER]


def _writes(name: str, call: Any, param: Any, views: storage.Views) -> bool:
    return _is(param, views.root(call.args[_BUFFER[name]]))


def _is(param: Any, root: Any | None) -> bool:
    return root is not None and bool(root.same_as(param))


def _uses(function: Any, param: Any, views: storage.Views) -> int:
    """How often what the device function does names a tensor's pointer, in whatever way."""
    count = 0

    def visit(node: Any) -> None:
        nonlocal count
        named = storage.buffer_of(node) if isinstance(node, ir.BufferLoad) else node
        if named is not node or isinstance(node, ir.Var):
            count += _is(param, views.root(named))

    for stmt in ir.statements(function.body):
        if isinstance(stmt, tirx.BufferStore):
            count += _is(param, views.root(stmt.buffer))
        for expr in ir.expressions(stmt):
            ir.post_order_visit(expr, visit)
    return count


def profiler_names(host: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The author's names of events and of groups; raises `UsageError` where they are no names."""
    declared = host.attrs[ATTRIBUTE] if host.attrs is not None and ATTRIBUTE in host.attrs else {}
    if not hasattr(declared, "items"):
        raise _no_names(declared)
    found: dict[str, tuple[str, ...]] = dict.fromkeys(_KEYS, ())
    for key, names in declared.items():
        if str(key) not in _KEYS:
            raise _no_names(declared)
        plain = isinstance(names, Iterable) and not isinstance(names, str)
        if not plain or not all(isinstance(name, str) and name for name in names):
            raise _no_names(declared)
        found[str(key)] = tuple(str(name) for name in names)
    return found["events"], found["groups"]


def _no_names(declared: object) -> UsageError:
    return UsageError(
        f"the attribute {ATTRIBUTE} is {declared}",
        hint='{"events": ["load", "compute"], "groups": ["producer", "consumer"]}: names by id',
    )


def _profiler(
    tensor: str,
    calls: list[tuple[str, Any]],
    event_names: tuple[str, ...],
    group_names: tuple[str, ...],
) -> ProfilerBuffer:
    marks = {name: sum(1 for each, _ in calls if each == name) for name in sorted(_BUFFER)}
    return ProfilerBuffer(
        tensor=tensor,
        format="tvm",
        groups=_only(ir.extent_of(call.args[_GROUPS]) for name, call in calls if name == _INIT),
        stride=_only(
            ir.extent_of(call.args[_STRIDE[name]]) for name, call in calls if name != _INIT
        ),
        events=_sorted(
            ir.extent_of(call.args[_EVENT]) for name, call in calls if name in (_START, _END)
        ),
        event_names=event_names,
        group_names=group_names,
        marks={name: count for name, count in marks.items() if count},
    )


def _only(values: Iterable[Extent]) -> Extent | None:
    found = set(values)
    return found.pop() if len(found) == 1 else None


def _sorted(values: Iterable[Extent]) -> tuple[Extent, ...]:
    return tuple(sorted(set(values), key=lambda value: (isinstance(value, str), value)))
