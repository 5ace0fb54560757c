"""How does a timeline look on paper?  One self-contained SVG: same timeline, same bytes.

A row is a track, a block a slice, a thin line below a group its counter.  Colours are Okabe and
Ito's, which people with any colour vision can tell apart (https://jfly.uni-koeln.de/color/), and
grey for `BUSY`.
"""

from __future__ import annotations

import math
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from stagebench.trace.timeline import BUSY, Counter, Slice, Timeline, depths, rows, span

PALETTE = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999",
)  # fmt: skip

_WIDTH, _LEFT, _RIGHT = 1200, 190, 20
_ROW, _GAP, _HEAD, _COUNTER_ROW = 18, 4, 58, 30
_TICKS = 10
_CHARACTER = 6.2  # width of one character at 11 px
_MOST_SLICES = 20_000
_GROUND = "#d4d4d4"
_FONT = "font-family:system-ui,sans-serif;font-size:11px;fill:#222"


def timeline_svg(timeline: Timeline) -> bytes:
    """The drawing.  Above 20 000 slices the shortest are left out; a line says how many."""
    extent = span(timeline)
    start, end = extent if extent is not None else (0, 1)
    kinds = _kinds(timeline)
    drawing = _Drawing(start, max(end, start + 1), kinds, _too_many(timeline))
    drawing.legend(timeline.title)
    groups = [track.group for track in timeline.tracks]
    groups += [counter.group for counter in timeline.counters]
    for group in dict.fromkeys(groups):
        drawing.heading(group)
        for track in timeline.tracks:
            if track.group == group:
                for number, row in enumerate(rows(track.slices) or ((),)):
                    drawing.row(track.name if number == 0 else "", row)
        for counter in timeline.counters:
            if counter.group == group:
                drawing.counter(counter)
    return drawing.finish()


def _kinds(timeline: Timeline) -> dict[str, str]:
    found = dict.fromkeys(item.kind for track in timeline.tracks for item in track.slices)
    shown = [kind for kind in found if kind != BUSY]
    colours = {kind: PALETTE[index % len(PALETTE)] for index, kind in enumerate(shown)}
    return {BUSY: _GROUND, **colours} if BUSY in found else colours


def _too_many(timeline: Timeline) -> frozenset[int]:
    """The identities of the slices beyond the longest 20 000; the earlier of equals is drawn."""
    slices = [item for track in timeline.tracks for item in track.slices]
    if len(slices) <= _MOST_SLICES:
        return frozenset()
    slices.sort(key=lambda item: (item.start_ns - item.end_ns, item.start_ns))
    return frozenset(id(item) for item in slices[_MOST_SLICES:])


class _Drawing:
    """Places elements from top to bottom."""

    def __init__(
        self, start: int, end: int, kinds: dict[str, str], left_out: frozenset[int]
    ) -> None:
        self._start, self._end, self._kinds, self._left_out = start, end, kinds, left_out
        self._scale = (_WIDTH - _LEFT - _RIGHT) / (end - start)
        self._root = Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "style": _FONT})
        self._paper = SubElement(self._root, "rect", {"width": str(_WIDTH), "fill": "#ffffff"})
        self._grid = SubElement(self._root, "g", {"stroke": "#dddddd"})
        self._top = self._body = _HEAD

    def legend(self, title: str) -> None:
        """The title, what the colours mean, and what is not drawn."""
        self._text(10, 18, title, {"style": "font-size:14px;font-weight:600"})
        x = 10.0
        for kind, colour in self._kinds.items():
            needed = 16 + _CHARACTER * len(kind) + 16
            if x + needed > _WIDTH - _RIGHT and x > 10:
                x, self._top = 10.0, self._top + 16
            y = self._top - 20
            SubElement(
                self._root,
                "rect",
                {"x": _number(x), "y": str(y - 9), "width": "11", "height": "11", "fill": colour},
            )
            self._text(x + 16, y, kind)
            x += needed
        if self._left_out:
            self._top += 16
            text = f"{len(self._left_out)} shortest slices are not drawn"
            self._text(10, self._top - 20, text)
        self._body = self._top

    def heading(self, name: str) -> None:
        """The name of a group of tracks."""
        self._top += _GAP
        self._text(10, self._top + 13, name, {"font-weight": "600"})
        self._top += _ROW

    def row(self, name: str, row: tuple[Slice, ...]) -> None:
        """One row of slices; inner ones are drawn lower."""
        self._text(20, self._top + 13, _cut(name, _LEFT - 30))
        for item, depth in zip(row, depths(row), strict=True):
            if id(item) not in self._left_out:
                self._slice(item, min(depth, 3))
        self._top += _ROW

    def counter(self, counter: Counter) -> None:
        """A step line from 0 to the counter's highest value."""
        most = max((value for _, value in counter.samples), default=0)
        label = f"{counter.name}, 0 to {most}"
        self._text(20, self._top + 18, _cut(label, _LEFT - 30))
        base = self._top + _COUNTER_ROW
        points: list[str] = []
        last = float(base)
        for at, value in counter.samples:
            x, y = _number(self._x(at)), base - (value * (_COUNTER_ROW - 6) / most if most else 0)
            points += [f"{x},{_number(last)}", f"{x},{_number(y)}"]
            last = y
        if points:
            points.append(f"{_number(self._x(self._end))},{_number(last)}")
            SubElement(
                self._root,
                "polyline",
                {"points": " ".join(points), "fill": "none", "stroke": "#222222"},
            )
        self._top = base

    def finish(self) -> bytes:
        """Draw the axis and return the file."""
        bottom = self._top + _GAP
        step = _step((self._end - self._start) / 1000)
        count = math.floor((self._end - self._start) / 1000 / step)
        for index in range(count + 1):
            x = _number(self._x(self._start + index * step * 1000))
            SubElement(
                self._grid,
                "line",
                {"x1": x, "x2": x, "y1": str(self._body - 4), "y2": str(bottom)},
            )
            self._text(float(x), bottom + 14, f"{index * step:g}", {"text-anchor": "middle"})
        self._text(_WIDTH - _RIGHT, bottom + 30, "time in µs", {"text-anchor": "end"})
        height = str(bottom + 40)
        self._paper.set("height", height)
        self._root.set("viewBox", f"0 0 {_WIDTH} {height}")
        self._root.set("width", str(_WIDTH))
        self._root.set("height", height)
        indent(self._root, space=" ")
        found: bytes = tostring(self._root, encoding="utf-8", xml_declaration=True)
        return found + b"\n"

    def _slice(self, item: Slice, depth: int) -> None:
        x = self._x(item.start_ns)
        width = max(0.5, (item.end_ns - item.start_ns) * self._scale)
        box = {
            "x": _number(x),
            "y": str(self._top + 1 + 4 * depth),
            "width": _number(width),
            "height": str(_ROW - 2 - 4 * depth),
            "fill": self._kinds[item.kind],
        }
        element = SubElement(self._root, "rect", box)
        duration = (item.end_ns - item.start_ns) / 1000
        extra = "".join(f"\n{name}: {value}" for name, value in sorted(item.args.items()))
        SubElement(element, "title").text = _printable(f"{item.name}: {duration:g} µs{extra}")

    def _x(self, at: float) -> float:
        return _LEFT + (at - self._start) * self._scale

    def _text(
        self, x: float, y: float, text: str, attributes: dict[str, str] | None = None
    ) -> None:
        place = {"x": _number(x), "y": _number(y), **(attributes or {})}
        SubElement(self._root, "text", place).text = _printable(text)


def _step(microseconds: float) -> float:
    """1, 2 or 5 times a power of ten, so that there are at most ten ticks."""
    rough = microseconds / _TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= rough)


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _cut(text: str, width: float) -> str:
    most = int(width / _CHARACTER)
    return text if len(text) <= most else text[: most - 1] + "…"


def _printable(text: str) -> str:
    """XML 1.0 has no control characters: they are spelt out (XML 1.0, section 2.2, ``Char``)."""
    return "".join(
        char if char in "\t\n" or (char >= " " and not 0xD800 <= ord(char) <= 0xDFFF
                                   and char not in "\ufffe\uffff") else repr(char)[1:-1]
        for char in text
    )  # fmt: skip
