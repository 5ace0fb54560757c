"""Where does time go as the pipeline gets deeper?  Kernel time and stalls against depth, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from stagebench.errors import UsageError
from stagebench.model.timing import StallCause, VariantTiming
from stagebench.timing.per_tile import stall_by_cause
from stagebench.trace.svg_figure import svg_figure
from stagebench.trace.timeline_svg import PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS: dict[StallCause, str] = {
    "data": PALETTE[0],
    "slot": PALETTE[1],
    "compute": PALETTE[2],
    "barrier": PALETTE[3],
    "other": PALETTE[7],
}
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")


def stall_chart(timings: Sequence[VariantTiming], *, title: str) -> bytes:
    """Two panels over one axis of depths; the same timings give the same bytes.

    Depths whose output was wrong are left out, and the title says which.  `MachineError` without
    matplotlib, `UsageError` where no depth has a time.
    """
    known = [(timing.num_stages, timing) for timing in timings if timing.num_stages is not None]
    ordered = sorted(known, key=lambda pair: pair[0])
    wrong = [str(depth) for depth, timing in ordered if timing.correct is False]
    sound = [pair for pair in ordered if pair[1].correct is not False and pair[1].base]
    if not sound:
        raise UsageError(
            f"{title}: no depth has a time and a right output", hint="measure it again"
        )
    note = f" (output wrong at {', '.join(wrong)}: not shown)" if wrong else ""
    with svg_figure(width_inches=7.2, height_inches=5.4) as opened:
        time_panel, stall_panel = opened.figure.subplots(2, 1, sharex=True)
        opened.figure.suptitle(title + note)
        _times(time_panel, sound)
        _stalls(stall_panel, sound)
    return opened.svg


def _times(panel: Axes, sound: Sequence[tuple[int, VariantTiming]]) -> None:
    """Medians with their intervals, from zero."""
    times = [(depth, timing.base) for depth, timing in sound if timing.base is not None]
    panel.errorbar(
        [depth for depth, _ in times],
        [time.median_us for _, time in times],
        yerr=[
            [max(0.0, time.median_us - time.low_us) for _, time in times],
            [max(0.0, time.high_us - time.median_us) for _, time in times],
        ],
        color="#222222",
        marker="o",
        capsize=3,
    )
    panel.set_ylabel("kernel, µs")
    panel.set_ylim(bottom=0)


def _stalls(panel: Axes, sound: Sequence[tuple[int, VariantTiming]]) -> None:
    """One line for each role and cause; a producer's are dashed."""
    columns = [(depth, stall_by_cause(timing.stalls)) for depth, timing in sound]
    keys = sorted({key for _, column in columns for key in column})
    for number, (role, cause) in enumerate(keys):
        known = [
            (depth, column[role, cause]) for depth, column in columns if (role, cause) in column
        ]
        panel.plot(
            [depth for depth, _ in known],
            [cycles for _, cycles in known],
            label=f"{role}: {cause}",
            color=_COLOURS[cause],
            marker=_MARKERS[number % len(_MARKERS)],
            linestyle="--" if role == "producer" else "-",
        )
    panel.set_ylabel("waiting, cycles per tile")
    panel.set_xlabel("num_stages")
    panel.set_xticks([depth for depth, _ in columns])
    if keys:
        panel.legend()
