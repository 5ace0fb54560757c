"""How is a chart made so that the same numbers give the same bytes?"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stagebench.errors import MachineError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass
class SvgFigure:
    """A figure to draw on; ``svg`` are its bytes once the context has been left."""

    figure: Figure
    svg: bytes = b""


@contextlib.contextmanager
def svg_figure(*, width_inches: float, height_inches: float) -> Iterator[SvgFigure]:
    """Open a figure.  Raises `MachineError` without matplotlib."""
    try:
        import matplotlib as mpl
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure
    except ImportError as exc:
        raise MachineError(
            "a chart needs matplotlib, which is not installed",
            hint="pip install 'stagebench[chart]'",
        ) from exc
    with mpl.rc_context({"svg.hashsalt": "stagebench", "svg.fonttype": "none", "font.size": 9.0}):
        figure = Figure(figsize=(width_inches, height_inches), layout="constrained")
        FigureCanvasSVG(figure)
        opened = SvgFigure(figure)
        yield opened
        data = io.BytesIO()
        figure.savefig(data, format="svg", metadata={"Date": None, "Creator": "stagebench"})
        opened.svg = data.getvalue()
