"""What does a loop header say?  Trip counts of ``for`` headers, and how products are written."""

from __future__ import annotations

from collections.abc import Iterable

from tree_sitter import Node

from stagebench.facts.cuda_expressions import Text, squeeze
from stagebench.facts.cuda_ranges import Range, induction, read_range
from stagebench.facts.cuda_records import Factors
from stagebench.model.base import Extent


def for_header(node: Node, text: Text) -> tuple[str, Range | None, Extent]:
    """Read a ``for`` statement: its variable, the range of it, and the trip count.

    Where `read_range` does not know the header there is no range, and the count is
    ``trips(<header>)``.
    """
    name, start = induction(node.child_by_field_name("initializer"), text)
    found = None if start is None else read_range(node, name, start, text)
    if found is not None:
        return name, found, found.extent(text)
    parts = [node.child_by_field_name(part) for part in ("initializer", "condition", "update")]
    shown = [squeeze(text(part)).rstrip(";") if part is not None else "" for part in parts]
    return name, None, f"trips(for ({'; '.join(shown)}))"


def split_product(extents: Iterable[Extent | None]) -> Factors | None:
    """Split a product into its integer part and its symbolic factors, in order.

    ``None`` where a factor is not known, unless another is zero.
    """
    factor, symbols, known = 1, [], True
    for extent in extents:
        if isinstance(extent, int):
            factor *= extent
        elif extent is None:
            known = False
        else:
            symbols.append(extent)
    if factor == 0:
        return 0, ()
    return (factor, tuple(symbols)) if known else None


def multiplied(left: Factors | None, right: Factors | None) -> Factors | None:
    """The product of two products; zero where one is."""
    if (0, ()) in (left, right):
        return 0, ()
    if left is None or right is None:
        return None
    return left[0] * right[0], left[1] + right[1]


def written(factors: Factors | None) -> Extent | None:
    """Write a product: an integer, or ``16 * (K + 31)`` with the integers in front."""
    return None if factors is None else join_product(*factors)


def join_product(factor: int, symbols: tuple[str, ...], *, alone: bool = True) -> Extent:
    """Write ``factor`` times ``symbols``; ``alone`` unless it will be a term of a sum."""
    if not symbols:
        return factor
    bare = alone and factor == 1 and len(symbols) == 1
    shown = [symbol if bare or _is_closed(symbol) else f"({symbol})" for symbol in symbols]
    return " * ".join(([] if factor == 1 else [str(factor)]) + shown)


def _is_closed(expression: str) -> bool:
    """Whether an expression can stand in a product without parentheses: a name or a call."""
    depth = 0
    for character in expression:
        depth += (character in "([") - (character in ")]")
        if depth == 0 and character in " +-*/%&|^<>?":
            return False
    return not expression.startswith("(")
