"""What does depth cost on the machine?  Registers, shared memory and occupancy against depth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stagebench.errors import UsageError
from stagebench.model import MachineCode, Run, VariantResult
from stagebench.trace.svg_figure import svg_figure
from stagebench.trace.timeline_svg import PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_KIB = 1024


def machine_chart(run: Run) -> bytes:
    """Four panels over one axis of depths, one line for each arch (and set of parameters).

    Raises `UsageError` where nothing was assembled, `MachineError` without matplotlib.
    """
    lines: dict[str, list[tuple[int, VariantResult, MachineCode]]] = {}
    for result in run.variants:
        depth = result.variant.num_stages
        if result.facts is not None and result.facts.machine is not None and depth is not None:
            lines.setdefault(_name(result, run), []).append((depth, result, result.facts.machine))
    if not lines:
        raise UsageError("no variant has machine code: there is nothing to draw", hint="--machine")
    kernels = dict.fromkeys(result.variant.kernel for result in run.variants)
    with svg_figure(width_inches=7.2, height_inches=6.4) as opened:
        panels = opened.figure.subplots(2, 2, sharex=True).flatten()
        opened.figure.suptitle(f"{', '.join(kernels)}: what each num_stages takes")
        for index, (name, points) in enumerate(lines.items()):
            points.sort(key=lambda point: point[0])
            _draw(panels, points, _Line(name, PALETTE[index % 8], _MARKERS[index % 8]))
        for panel, title in zip(panels, _TITLES, strict=True):
            panel.set_title(title, fontsize=9)
            panel.set_ylim(bottom=0)
            panel.grid(color="#dddddd", linewidth=0.5)
        panels[2].set_xlabel("num_stages")
        panels[3].set_xlabel("num_stages")
        depths = sorted({depth for points in lines.values() for depth, *_ in points})
        panels[3].set_xticks(depths)
        panels[0].legend(fontsize=8)
    return opened.svg


_TITLES = (
    "registers of a thread",
    "shared memory of a CTA, KiB (dotted: the limit)",
    "CTAs per SM",
    "sync: SASS (line), executed (dashed)",
)


@dataclass(frozen=True)
class _Line:
    """How the points of one arch are drawn."""

    name: str
    colour: str
    marker: str

    def plot(
        self, panel: Axes, points: Sequence[tuple[int, float]], *, dashed: bool = False
    ) -> None:
        panel.plot(
            [depth for depth, _ in points],
            [value for _, value in points],
            color=self.colour,
            marker=self.marker,
            linestyle="--" if dashed else "-",
            label=f"{self.name}, executed" if dashed else self.name,
        )


def _draw(
    panels: Sequence[Axes], points: Sequence[tuple[int, VariantResult, MachineCode]], line: _Line
) -> None:
    line.plot(panels[0], [(depth, machine.registers) for depth, _, machine in points])
    memories = [(d, r.facts.shared_memory) for d, r, _ in points if r.facts is not None]
    line.plot(panels[1], [(depth, memory.total_bytes / _KIB) for depth, memory in memories])
    limit = memories[-1][1].limit_bytes
    if limit is not None:
        panels[1].axhline(limit / _KIB, color=line.colour, linestyle=":", linewidth=1)
    known = [(depth, machine.occupancy) for depth, _, machine in points]
    line.plot(panels[2], [(depth, one.ctas_per_sm) for depth, one in known if one is not None])
    static = [(d, sum(c.static for c in m.sync_sass.values())) for d, _, m in points]
    line.plot(panels[3], static)
    executed = [(depth, _executed(machine)) for depth, _, machine in points]
    walked = [(depth, count) for depth, count in executed if count is not None]
    line.plot(panels[3], walked, dashed=True)


def _executed(machine: MachineCode) -> int | None:
    """Executions of all sync instructions in the PTX; ``None`` where one is not known."""
    total = 0
    for count in machine.sync_ptx.values():
        if not isinstance(count.executed, int):
            return None
        total += count.executed
    return total


def _name(result: VariantResult, run: Run) -> str:
    """The arch, and the parameters that differ within the run."""
    params = [one.variant.params for one in run.variants]
    varying = [
        name
        for name in result.variant.params
        if name != "num_stages" and len({repr(one.get(name)) for one in params}) > 1
    ]
    words = [f"{name}={result.variant.params[name]}" for name in varying]
    return " ".join([result.variant.arch, *words])
