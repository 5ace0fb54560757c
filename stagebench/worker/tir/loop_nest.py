"""How often does the body of the innermost loop run, over all trips of the loops around it?

The product of the extents, where none depends on a loop around it.  Loops that do are summed over
the trips of those that they depend on (``for i in 8: for j in i + 1`` runs 36 times); what else is
around them is a factor.  The sum is exact, or there is none (``None``): an extent that depends on a
loop without a constant range, on memory, or takes more than `MOST_ITERATIONS` steps to add up.
An expression holds only names that are bound outside of all loops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from stagebench.facts.counts import product
from stagebench.model import Extent
from stagebench.worker.tir import nodes as ir
from stagebench.worker.tir import storage
from stagebench.worker.tir.classes import Allocate, AllocBuffer
from stagebench.worker.tir.index_values import operation
from stagebench.worker.tir.nodes import tirx

MOST_ITERATIONS = 1_000_000

_Value = Callable[[dict[int, int]], int]
"""The value of an expression for the values of loop variables, by their place in the nest."""


@dataclass(frozen=True)
class _Header:
    """A loop: ``var`` of a ``while`` is ``None``, its ``extent`` the condition."""

    var: Any | None
    first: Any
    step: Any
    extent: Any
    shown: Extent


@dataclass(frozen=True)
class _Summed:
    """A loop of a sum; ``is_read``: an inner one depends on its variable."""

    place: int
    first: _Value
    step: _Value
    trips: _Value
    is_read: bool


class _NotSummedError(Exception):
    """A sum that can't be made, or takes too long."""


class LoopNest:
    """The loops around the place where a walk is.  It is told of every statement."""

    def __init__(self) -> None:
        self._headers: list[_Header] = []
        self._bound: list[tuple[Any, Any]] = []
        self._views = storage.Views()
        self._own_memory: list[Any] = []

    def note(self, stmt: Any) -> None:
        """Take a statement: what it allocates is the kernel's own, what it binds may vary."""
        self._views.note(stmt)
        if isinstance(stmt, AllocBuffer):
            self._own_memory.append(storage.variable_of(stmt.buffer))
        elif isinstance(stmt, Allocate):
            self._own_memory.append(stmt.buffer_var)
        elif isinstance(stmt, ir.Bind) and self._headers:
            self._bound.append((stmt.var, stmt.value))

    def enter(self, loop: Any, shown: Extent) -> Extent | None:
        """Enter a ``For`` or ``While`` of that extent; how often its body runs in all."""
        if isinstance(loop, tirx.For):
            step = getattr(loop, "step", None)
            header = _Header(loop.loop_var, loop.min, step, loop.extent, shown)
        else:
            header = _Header(None, None, None, loop.condition, shown)
        self._headers.append(header)
        return self._executions()

    def leave(self) -> None:
        """Leave the innermost loop."""
        self._headers.pop()

    def _executions(self) -> Extent | None:
        if any(header.shown == 0 for header in self._headers):
            return 0
        tied = self._tied()
        free = [
            self._free_extent(place)
            for place, header in enumerate(self._headers)
            if place not in tied
        ]
        try:
            whole = self._sum(sorted(tied)) if tied else 1
        except (_NotSummedError, ArithmeticError, ValueError):
            whole = None
        return product([*free, whole])

    def _tied(self) -> set[int]:
        """The loops whose extents depend on a loop around them, and those they depend on."""
        tied: set[int] = set()
        for place, header in enumerate(self._headers):
            around = self._read(header.extent, place)
            if around:
                tied |= {place, *around}
        for place in range(len(self._headers) - 1, -1, -1):
            if place in tied and self._headers[place].var is not None:
                tied |= self._read(self._headers[place].first, place)
        return tied

    def _read(self, expr: Any, place: int) -> set[int]:
        """The loops around ``place`` whose variables an expression depends on."""
        found: set[int] = set()
        for var in ir.variables(expr):
            found |= {
                at
                for at, header in enumerate(self._headers[:place])
                if header.var is not None and var.same_as(header.var)
            }
            value = self._value_of(var)
            if value is not None:
                found |= self._read(value, place)
        return found

    def _value_of(self, var: Any) -> Any | None:
        """What a variable is bound to inside of a loop."""
        return next((value for bound, value in self._bound if var.same_as(bound)), None)

    def _free_extent(self, place: int) -> Extent | None:
        """An extent that no loop variable changes; ``None`` where a trip may change it."""
        header = self._headers[place]
        expr, shown = header.extent, header.shown
        if isinstance(expr, ir.Var) and (value := self._value_of(expr)) is not None:
            expr, shown = value, ir.extent_of(value)
        if any(self._value_of(var) is not None for var in ir.variables(expr)):
            return None
        varies = header.var is None or self._reads_own_memory(expr)
        return None if place and varies else shown

    def _reads_own_memory(self, expr: Any) -> bool:
        """Whether an expression loads what the kernel has allocated, and may have written."""
        loads: list[Any] = []

        def visit(node: Any) -> None:
            if isinstance(node, ir.BufferLoad):
                loads.append(node)

        ir.post_order_visit(expr, visit)
        roots = [self._views.root(storage.buffer_of(load)) for load in loads]
        return any(root is None or any(root.same_as(o) for o in self._own_memory) for root in roots)

    def _sum(self, places: Sequence[int]) -> int:
        read = {
            at
            for place in places
            for expr in (self._headers[place].first, self._headers[place].extent)
            if expr is not None
            for at in self._read(expr, place)
        }
        loops = [self._summed(place, place in read) for place in places]
        return _Adder(loops).total()

    def _summed(self, place: int, is_read: bool) -> _Summed:
        header = self._headers[place]
        if header.var is None:
            raise _NotSummedError
        step = self._function(header.step) if header.step is not None else lambda _: 1
        return _Summed(
            place, self._function(header.first), step, self._function(header.extent), is_read
        )

    def _function(self, node: Any) -> _Value:
        constant = ir.constant(node)
        if constant is not None:
            return lambda _: constant
        if isinstance(node, ir.Var):
            for place, header in enumerate(self._headers):
                if header.var is not None and node.same_as(header.var):
                    return lambda values: values[place]
            value = self._value_of(node)
            if value is None:
                raise _NotSummedError
            return self._function(value)
        if isinstance(node, tirx.Cast):
            return self._function(node.value)
        compute, operands = operation(node)
        if compute is None:
            raise _NotSummedError
        left, right = (self._function(operand) for operand in operands)
        return lambda values: compute(left(values), right(values))


class _Adder:
    """Adds up a nest, outermost loop first."""

    def __init__(self, loops: Sequence[_Summed]) -> None:
        self._loops = loops
        self._values: dict[int, int] = {}
        self._left = MOST_ITERATIONS

    def total(self, depth: int = 0) -> int:
        """The executions of the innermost body in one trip of the loops around ``depth``."""
        if depth == len(self._loops):
            return 1
        loop = self._loops[depth]
        trips = max(0, loop.trips(self._values))
        if not loop.is_read:
            return trips and trips * self.total(depth + 1)
        self._left -= trips
        if self._left < 0:
            raise _NotSummedError
        first, step = loop.first(self._values), loop.step(self._values)
        found = 0
        for trip in range(trips):
            self._values[loop.place] = first + trip * step
            found += self.total(depth + 1)
        return found
