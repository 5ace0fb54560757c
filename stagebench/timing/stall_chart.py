"""Where does time go as the pipeline gets deeper?  Kernel time and stalls against depth, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from stagebench.errors import UsageError
from stagebench.model.timing import StallCause, VariantTiming
from stagebench.timing.ailments import bad_depths
from stagebench.timing.per_tile import stall_by_cause
from stagebench.timing.probe_cost import Doubt, doubt, why_cost_unknown
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
_HOLLOW: dict[Doubt, str] = {
    "perturbed": "perturbed by the probes",
    "cost_unknown": "the probes' cost is not known",
}
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")


def stall_chart(timings: Sequence[VariantTiming], *, title: str) -> bytes:
    """Two panels over one axis of depths; the same timings give the same bytes.

    Depths that are wrong, fail or hang are left out, and the waits of damaged probes and of a
    refused probed build: the title says which.  Waits that are perturbed, or may be (nobody knows
    what the probes cost), have hollow markers.  `MachineError` without matplotlib, `UsageError`
    where no depth has a time.
    """
    known = [(timing.num_stages, timing) for timing in timings if timing.num_stages is not None]
    ordered = sorted(known, key=lambda pair: pair[0])
    sound = [pair for pair in ordered if not pair[1].bad and pair[1].base]
    if not sound:
        raise _nothing_to_draw(title, ordered)
    with svg_figure(width_inches=7.2, height_inches=5.4) as opened:
        time_panel, stall_panel = opened.figure.subplots(2, 1, sharex=True)
        opened.figure.suptitle(title + _note(ordered))
        _times(time_panel, sound)
        _stalls(stall_panel, sound)
    return opened.svg


def _note(ordered: Sequence[tuple[int, VariantTiming]]) -> str:
    """What is not drawn, in brackets on a line of its own; nothing where all is."""
    said = [f"{told}: not shown" for told in _bad(ordered)]
    doubts: dict[tuple[str, str], list[str]] = {}
    for depth, timing in ordered:
        found = None if timing.bad else _not_drawn_as_sound(timing)
        if found is not None:
            doubts.setdefault(found, []).append(str(depth))
    said += [f"{why} at {', '.join(depths)}: {what}" for (why, what), depths in doubts.items()]
    return f"\n({'; '.join(said)})" if said else ""


def _bad(ordered: Sequence[tuple[int, VariantTiming]]) -> list[str]:
    found = bad_depths([timing for _, timing in ordered])
    return [f"{why} at {', '.join(map(str, depths))}" for why, depths in found.items()]


def _not_drawn_as_sound(timing: VariantTiming) -> tuple[str, str] | None:
    """Why, and what of it; the legend says enough of what is perturbed."""
    found = doubt(timing)
    if found == "damaged":
        return "probes damaged", "waits not shown"
    if found == "refused":
        return why_cost_unknown(timing), "waits not shown"
    if found == "cost_unknown":
        return why_cost_unknown(timing), "waits may be perturbed"
    return None


def _nothing_to_draw(title: str, ordered: Sequence[tuple[int, VariantTiming]]) -> UsageError:
    """A time can be measured again; a wrong kernel stays wrong."""
    message = f"{title}: no depth has a time and a right output"
    if all(timing.bad for _, timing in ordered):
        why = "; ".join(_bad(ordered))
        return UsageError(message, hint=f"{why}: mend the kernel, then measure it again")
    return UsageError(message, hint="measure it again, with --runs above 0")


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
    """One line for each role and cause; a producer's are dashed, depths in doubt hollow."""
    columns = [(depth, stall_by_cause(timing.stalls)) for depth, timing in sound]
    doubts = {depth: doubt(timing) for depth, timing in sound}
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
        hollow = [pair for pair in known if doubts[pair[0]] is not None]
        if not hollow:
            continue
        panel.plot(
            [depth for depth, _ in hollow],
            [cycles for _, cycles in hollow],
            color=_COLOURS[cause],
            marker=_MARKERS[number % len(_MARKERS)],
            markerfacecolor="white",
            linestyle="none",
        )
    panel.set_ylabel("waiting, cycles per tile")
    panel.set_xlabel("num_stages")
    panel.set_xticks([depth for depth, _ in columns])
    shown = {doubts[depth] for depth, column in columns if column}
    words = [told for found, told in _HOLLOW.items() if found in shown]
    if words:
        panel.plot([], [], color="#222222", marker="o", markerfacecolor="white", linestyle="none",
                   label=f"hollow: {' or '.join(words)}")  # fmt: skip
    if keys:
        panel.legend()
