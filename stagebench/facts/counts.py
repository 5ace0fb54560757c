"""How are trip counts multiplied and summed when some of them are symbolic?

A count is an integer or an expression in the compiler's own words.  Products keep their constant
factor in front; sums collect equal terms, so that ``3*(K) + 2*(K)`` reads ``5*(K)``.
"""

from __future__ import annotations

from collections.abc import Iterable

from stagebench.model import Extent


def product(extents: Iterable[Extent]) -> Extent:
    """The product of trip counts: an integer if all are, else ``c*(a)*(b)``."""
    factor = 1
    symbols: list[str] = []
    for extent in extents:
        if isinstance(extent, int):
            factor *= extent
        else:
            symbols.append(f"({extent})")
    if factor == 0 or not symbols:
        return factor
    return "*".join([*([str(factor)] if factor != 1 else []), *sorted(symbols)])


def total(counts: Iterable[Extent]) -> Extent:
    """The sum of counts as `product` makes them: an integer if all are, else a sum of terms."""
    constant = 0
    terms: dict[str, int] = {}
    for count in counts:
        if isinstance(count, int):
            constant += count
            continue
        head, _, rest = count.partition("*")
        factor, symbol = (int(head), rest) if head.isdigit() and rest else (1, count)
        terms[symbol] = terms.get(symbol, 0) + factor
    parts = [f"{n}*{symbol}" if n != 1 else symbol for symbol, n in terms.items()]
    if not parts:
        return constant
    return " + ".join([*parts, *([str(constant)] if constant else [])])
