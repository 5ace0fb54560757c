"""How is a quantity written for people?  Bytes, extents, lists of small integers, depths."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from stagebench.model import Extent
from stagebench.model.facts import LineKind
from stagebench.model.timing import Measurement
from stagebench.report.identity import AS_WRITTEN

UNKNOWN = "–"
"""Not looked at, or not known; never a zero."""

_MANY = 6


def known(value: Extent | None) -> str:
    """A value as it is, or `UNKNOWN`."""
    return UNKNOWN if value is None else str(value)


def python_line(line: int | None, kind: LineKind | None) -> str:
    """``27`` where the statement carries the line, ``~23`` where a pass put it near that line."""
    return f"~{line}" if line is not None and kind == "synthetic" else known(line)


def size(value: int | None) -> str:
    """Bytes in the unit that reads best: ``48 B``, ``16 KiB``, ``96.05 KiB``."""
    if value is None:
        return UNKNOWN
    if value < 1024:
        return f"{value} B"
    return f"{kib(value)} KiB"


def measured(time: Measurement | None) -> str:
    """``243 ± 1`` µs: the median and the wider half of its interval, in three digits or so."""
    if time is None:
        return UNKNOWN
    half = max(time.high_us - time.median_us, time.median_us - time.low_us)
    decimals = (
        0 if time.median_us >= 100 and half >= 1 else 1 if round(time.median_us, 2) >= 10 else 2
    )
    return f"{time.median_us:.{decimals}f} ± {half:.{decimals}f}"


def kib(value: int) -> str:
    """Bytes in KiB, as exactly as two decimals allow, without trailing zeros."""
    text = f"{value / 1024:.2f}"
    return text.rstrip("0").rstrip(".")


def extents(values: Sequence[Extent], *, keep: int = 1) -> str:
    """``8×8`` for x, y, z; trailing ones beyond the first ``keep`` are left out."""
    shown = list(values)
    while len(shown) > keep and shown[-1] == 1:
        shown.pop()
    return "×".join(str(value) for value in shown)


def shape(values: Sequence[Extent]) -> str:
    """A declared shape, every dimension."""
    return "×".join(str(value) for value in values) or "scalar"


def run_lengths(values: Sequence[int | None]) -> str:
    """``0 0 2``; where the list is long, repeats are counted: ``0 1×9 0 2``."""
    names = [known(value) for value in values]
    if len(names) <= _MANY:
        return " ".join(names)
    runs = [(name, len(list(repeats))) for name, repeats in groupby(names)]
    return " ".join(name if count == 1 else f"{name}×{count}" for name, count in runs)


def number_list(values: Sequence[int | None]) -> str:
    """``0 1 2``; where the list is long, ascending runs are joined: ``0–4 11 5–10``."""
    numbers = [value for value in values if value is not None]
    if len(values) <= _MANY or len(numbers) != len(values):
        return " ".join(map(known, values))
    return " ".join(_spans(numbers))


def depth_range(depths: Sequence[str]) -> str:
    """``1–3, 8`` for the depths 1 2 3 8, in the order given; what is no integer stands alone."""
    if not all(depth.isdigit() for depth in depths):
        return ", ".join(depths)
    return ", ".join(_spans([int(depth) for depth in depths]))


def depths_name(depths: Sequence[str]) -> str:
    """``depth 2`` or ``depths 2–4``; the empty string where there is no depth to name.

    Compilers (``0.1.15``, ``novenv``) take the place of depths in a run that has several: they need
    no word.
    """
    named = [depth for depth in depths if depth != UNKNOWN]
    if not named:
        return ""
    if not all(depth.isdigit() or depth == AS_WRITTEN for depth in named):
        return ", ".join(named)
    return f"depth{'s' if len(named) > 1 else ''} {depth_range(named)}"


def _spans(values: Sequence[int]) -> list[str]:
    spans: list[tuple[int, int]] = []
    for value in values:
        if spans and value == spans[-1][1] + 1:
            spans[-1] = (spans[-1][0], value)
        else:
            spans.append((value, value))
    return [str(first) if first == last else f"{first}–{last}" for first, last in spans]


def seconds(value: float | None) -> str:
    """A wall time: ``< 0.1 ms``, ``0.4 ms``, ``85 ms``, ``5.1 s``, ``2 min 5 s``."""
    if value is None:
        return UNKNOWN
    if value < 0.0001:
        return "< 0.1 ms"
    if value < 0.01:
        return f"{value * 1000:.1f} ms"
    if value < 1:
        return f"{value * 1000:.0f} ms"
    if value < 120:
        return f"{value:.1f} s"
    return f"{int(value) // 60} min {int(value) % 60} s"


def count(number: int, noun: str) -> str:
    """``1 variant``, ``8 variants``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
