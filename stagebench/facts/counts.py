"""How are trip counts multiplied and summed when some of them are symbolic?

A count is an integer or an expression in the compiler's own words.  Products keep their constant
factor in front; sums collect equal terms, so that ``3*K + 2*K`` reads ``5*K``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import overload

from stagebench.model import Extent


@overload
def product(extents: Iterable[Extent]) -> Extent: ...


@overload
def product(extents: Iterable[Extent | None]) -> Extent | None: ...


def product(extents: Iterable[Extent | None]) -> Extent | None:
    """The product of trip counts: an integer if all are, else ``c*(a)*(b)``.

    ``None`` where one is, unless another is zero.
    """
    extents = list(extents)
    if None in extents:
        return 0 if 0 in extents else None
    factor = 1
    symbols: list[str] = []
    for extent in extents:
        if isinstance(extent, int):
            factor *= extent
        elif extent is not None:
            symbols.append(extent)
    if factor == 0 or not symbols:
        return factor
    if len(symbols) == 1 and factor == 1:
        return symbols[0]
    symbols = [symbol if symbol.isidentifier() else f"({symbol})" for symbol in symbols]
    return "*".join([*([str(factor)] if factor != 1 else []), *sorted(symbols)])


@overload
def total(counts: Iterable[Extent]) -> Extent: ...


@overload
def total(counts: Iterable[Extent | None]) -> Extent | None: ...


def total(counts: Iterable[Extent | None]) -> Extent | None:
    """The sum of counts as `product` makes them: an integer if all are, else a sum of terms.

    ``None`` where one is.
    """
    constant = 0
    terms: dict[str, int] = {}
    for count in counts:
        if count is None:
            return None
        if isinstance(count, int):
            constant += count
            continue
        factor, symbol = _term(count)
        terms[symbol] = terms.get(symbol, 0) + factor
    parts = [f"{n}*{symbol}" if n != 1 else symbol for symbol, n in terms.items()]
    if not parts:
        return constant
    if parts == list(terms) and len(parts) == 1 and not constant:
        return parts[0].removeprefix("(").removesuffix(")") if _wrapped(parts[0]) else parts[0]
    return " + ".join([*parts, *([str(constant)] if constant else [])])


def _term(count: str) -> tuple[int, str]:
    """A constant factor and a symbol that can stand behind it: a product of atoms as it is.

    Anything else goes into brackets, as `product` puts it: in ``2*n + 1`` the 2 is no factor.
    """
    head, star, rest = count.partition("*")
    if star and head.isdigit() and _is_product(rest):
        return int(head), rest
    return 1, count if _is_product(count) else f"({count})"


def _is_product(text: str) -> bool:
    """Whether the text is names and bracketed expressions joined with ``*``."""
    depth = 0
    factors = [""]
    for char in text:
        depth += (char == "(") - (char == ")")
        if char == "*" and depth == 0:
            factors.append("")
        else:
            factors[-1] += char
    return all(factor.isidentifier() or _wrapped(factor) for factor in factors)


def _wrapped(text: str) -> bool:
    """Whether one pair of parentheses holds the whole text."""
    depth = 0
    for index, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return text.startswith("(") and index == len(text) - 1
    return False
