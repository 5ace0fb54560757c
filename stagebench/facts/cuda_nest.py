"""How often does the body of the innermost loop run, over all loops around it in its function?

The rules are those of the IR's reader: trip counts are multiplied; one that depends on a loop
around it is added up, trip by trip; what is neither constant nor the same in every trip has no
count.  This is a reader of its own, of the text's syntax, so that the two can be compared.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from tree_sitter import Node

from stagebench.facts.cuda_expressions import (
    COMPUTE,
    constant,
    is_integer_cast,
    named,
    operator_of,
    render,
    without_parentheses,
)
from stagebench.facts.cuda_index import CudaIndex, base_identifier
from stagebench.facts.cuda_loops import multiplied, split_product
from stagebench.facts.cuda_ranges import Range
from stagebench.facts.cuda_records import Factors
from stagebench.model.base import Extent

MOST_ITERATIONS = 1_000_000
_NAME = re.compile(r"[A-Za-z_]\w*")
_PICKS: Mapping[str, Callable[[int, int], int]] = {"min": min, "max": max}

_Value = Callable[[dict[str, int]], int]
"""The value of an expression for the values of loop variables."""


@dataclass(frozen=True)
class Header:
    """A loop statement; ``values`` where its header says which values ``var`` takes."""

    node: Node
    var: str
    values: Range | None
    extent: Extent


class _NotSummedError(Exception):
    """A sum that can't be made, or takes too long."""


@dataclass(frozen=True)
class Nest:
    """The loops around a place in one function, outermost first."""

    index: CudaIndex
    parameters: frozenset[str]
    headers: tuple[Header, ...] = ()

    def within(self, header: Header) -> Nest:
        """Inside one more loop."""
        return Nest(self.index, self.parameters, (*self.headers, header))

    def of_call(self, inside: Factors | None, given: Mapping[str, Extent]) -> Factors | None:
        """Executions of what runs ``inside`` times in one call of a function made here.

        A factor that is a parameter is what the call passes; one that is computed of parameters,
        or of what changes from call to call, is not known.
        """
        factor, symbols = inside or (1, ())
        passed = [self._passed(symbol, given) for symbol in symbols]
        return multiplied(
            self.executions, split_product([factor, *passed, *(() if inside else (None,))])
        )

    def _passed(self, symbol: str, given: Mapping[str, Extent]) -> Extent | None:
        value = given.get(symbol, symbol)
        if isinstance(value, int):
            return value
        names = set(_NAME.findall(value))
        if value == symbol and names & given.keys():
            return None
        vary = {header.var for header in self.headers} | set(self._bound(len(self.headers)))
        return None if names & vary else value

    @cached_property
    def executions(self) -> Factors | None:
        """How often this place is reached in one call of the function, every branch taken."""
        if any(header.extent == 0 for header in self.headers):
            return 0, ()
        tied = self._tied()
        free = [
            self._free_extent(place)
            for place, header in enumerate(self.headers)
            if place not in tied
        ]
        try:
            whole = self._sum(sorted(tied), {}, [MOST_ITERATIONS]) if tied else 1
        except (_NotSummedError, ArithmeticError, ValueError, RecursionError):
            whole = None
        return split_product([*free, whole])

    def _tied(self) -> set[int]:
        """The loops whose trips depend on a loop around them, and those they depend on."""
        tied: set[int] = set()
        for place, header in enumerate(self.headers):
            around = self._read_by(header, place)
            if around:
                tied |= {place, *around}
        for place in range(len(self.headers) - 1, -1, -1):
            values = self.headers[place].values
            if place in tied and values is not None:
                tied |= self._read(values.start, place)
        return tied

    def _read_by(self, header: Header, place: int) -> set[int]:
        """The loops around whose variables the number of trips depends on.

        ``for (int j = i; j < i + 4; ++j)`` depends on ``i`` in the text; the sum says 4 each time.
        """
        return set().union(*(self._read(part, place) for part in _parts(header)))

    def _read(self, node: Node, place: int) -> set[int]:
        found: set[int] = set()
        for identifier in _identifiers(node):
            name = self.index.tree.text(identifier)
            found |= {at for at in range(place) if self.headers[at].var == name}
            value = self._bound(place).get(name)
            if value is not None and not _holds(value, node):
                found |= self._read(value, place)
        return found

    def _bound(self, place: int) -> dict[str, Node | None]:
        """What is declared inside the loops around ``place``, and its value where it has one."""
        if not place:
            return {}
        variables = {header.var for header in self.headers}
        found: dict[str, Node | None] = {}
        for declaration in self.index.declarations(self.headers[0].node):
            for declarator in declaration.children_by_field_name("declarator"):
                base = base_identifier(declarator)
                name = self.index.tree.text(base) if base is not None else ""
                if name and name not in variables:
                    value = declarator.child_by_field_name("value")
                    found[name] = None if name in found else value
        return found

    def _free_extent(self, place: int) -> Extent | None:
        """A trip count that no loop variable changes; ``None`` where a trip may change it."""
        header = self.headers[place]
        if isinstance(header.extent, int) or not place:
            return header.extent
        extent: Extent = header.extent
        if header.values is None:  # a `while` in a loop: each time it may run otherwise
            return None
        parts, bound = _parts(header), self._bound(place)
        if extent in bound and (value := bound[extent]) is not None:
            extent, parts = render(value, self.index.tree.text), [value]
        names = {self.index.tree.text(one) for part in parts for one in _identifiers(part)}
        if names & bound.keys() or any(self._reads_own_memory(part) for part in parts):
            return None
        return extent

    def _reads_own_memory(self, node: Node) -> bool:
        """Whether an expression loads what is no parameter's: the kernel may have written it."""
        loads = node.type == "subscript_expression" or (
            node.type == "pointer_expression" and node.children[0].type == "*"
        )
        base = node.child_by_field_name("argument") if loads else None
        if base is not None and not any(
            self.index.tree.text(one) in self.parameters for one in _identifiers(base)
        ):
            return True
        return any(self._reads_own_memory(child) for child in node.named_children)

    # -- sums -------------------------------------------------------------------------------------

    def _sum(self, places: list[int], values: dict[str, int], left: list[int]) -> int:
        loops = [(self.headers[place].var, *self._functions(place)) for place in places]
        names = {
            self.headers[at].var
            for place in places
            for at in self._read_by(self.headers[place], place)
        }

        def add(depth: int) -> int:
            if depth == len(loops):
                return 1
            name, span, start, end = loops[depth]
            first = start(values)
            trips = span.trips(first, end(values))
            if name not in names:
                return trips * add(depth + 1) if trips else 0
            left[0] -= trips
            if left[0] < 0:
                raise _NotSummedError
            found = 0
            for trip in range(trips):
                values[name] = first + trip * span.step
                found += add(depth + 1)
            return found

        return add(0)

    def _functions(self, place: int) -> tuple[Range, _Value, _Value]:
        values = self.headers[place].values
        if values is None:
            raise _NotSummedError
        return values, self._function(values.start, place), self._function(values.end, place)

    def _function(self, node: Node, place: int) -> _Value:
        """Raises `_NotSummedError` for what is no arithmetic of loop variables and constants."""
        text = self.index.tree.text
        node = without_parentheses(node)
        known = constant(node, text)
        if known is not None:
            return lambda _: known
        if node.type == "identifier":
            return self._variable(text(node), place)
        if node.type == "cast_expression" and is_integer_cast(node, text):
            value = node.child_by_field_name("value")
            if value is not None:
                return self._function(value, place)
        compute, parts = self._operation(node)
        if compute is None or len(parts) != 2:
            raise _NotSummedError
        left, right = (self._function(part, place) for part in parts)
        return lambda values: _whole(compute(left(values), right(values)))

    def _variable(self, name: str, place: int) -> _Value:
        if any(header.var == name for header in self.headers[:place]):
            return lambda values: values[name]
        value = self._bound(place).get(name)
        if value is None:
            raise _NotSummedError
        return self._function(value, place)

    def _operation(self, node: Node) -> tuple[Callable[[int, int], int | None] | None, list[Node]]:
        function = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        if function is not None and arguments is not None:
            return _PICKS.get(self.index.tree.text(function)), named(arguments)
        sides = [node.child_by_field_name(side) for side in ("left", "right")]
        return COMPUTE.get(operator_of(node)), [side for side in sides if side is not None]


def _whole(value: int | None) -> int:
    if value is None:
        raise _NotSummedError
    return value


def _parts(header: Header) -> list[Node]:
    """What the number of trips is computed from."""
    if header.values is not None:
        return [header.values.start, header.values.end]
    names = ("initializer", "condition", "update", "right")
    parts = [header.node.child_by_field_name(name) for name in names]
    return [part for part in parts if part is not None]


def _identifiers(node: Node) -> Iterator[Node]:
    if node.type == "identifier":
        yield node
    for child in node.named_children:
        yield from _identifiers(child)


def _holds(outer: Node, inner: Node) -> bool:
    return outer.start_byte <= inner.start_byte and inner.end_byte <= outer.end_byte
