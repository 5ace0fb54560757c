"""Where does time go as the pipeline gets deeper?  Kernel time and stalls against depth, as SVG."""

from __future__ import annotations

import io
from collections.abc import Sequence

from stagebench.errors import MachineError, UsageError
from stagebench.model.timing import StallCause, VariantTiming
from stagebench.timing.correlate import stall_by_cause
from stagebench.trace.timeline_svg import PALETTE

_COLOURS: dict[StallCause, str] = {
    "data": PALETTE[0],
    "slot": PALETTE[1],
    "compute": PALETTE[2],
    "barrier": PALETTE[3],
    "other": PALETTE[7],
}
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_SETTINGS = {"svg.hashsalt": "stagebench", "svg.fonttype": "none", "font.size": 9.0}


def stall_chart(timings: Sequence[VariantTiming], *, title: str) -> bytes:
    """Two panels over one axis of depths; the same timings give the same bytes.

    Depths whose output was wrong are left out, and the title says which.  `MachineError` without
    matplotlib, `UsageError` where no depth has a time.
    """
    try:
        import matplotlib as mpl
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure
    except ImportError as exc:
        raise MachineError(
            "a chart needs matplotlib, which is not installed",
            hint="pip install 'stagebench[chart]'",
        ) from exc
    ordered = sorted(timings, key=lambda timing: timing.num_stages)
    wrong = [str(timing.num_stages) for timing in ordered if timing.correct is False]
    sound = [timing for timing in ordered if timing.correct is not False and timing.base]
    if not sound:
        raise UsageError(
            f"{title}: no depth has a time and a right output", hint="measure it again"
        )
    note = f" (output wrong at {', '.join(wrong)}: not shown)" if wrong else ""
    with mpl.rc_context(_SETTINGS):
        figure = Figure(figsize=(7.2, 5.4), layout="constrained")
        FigureCanvasSVG(figure)
        time_panel, stall_panel = figure.subplots(2, 1, sharex=True)
        figure.suptitle(title + note)
        depths = [timing.num_stages for timing in sound]
        times = [timing.base for timing in sound if timing.base is not None]
        time_panel.errorbar(
            depths,
            [time.median_us for time in times],
            yerr=[
                [time.median_us - time.low_us for time in times],
                [time.high_us - time.median_us for time in times],
            ],
            color="#222222",
            marker="o",
            capsize=3,
        )
        time_panel.set_ylabel("kernel, µs")
        time_panel.set_ylim(bottom=0)
        columns = [stall_by_cause(timing.stalls) for timing in sound]
        keys = sorted({key for column in columns for key in column})
        for number, (role, cause) in enumerate(keys):
            known = [
                (depth, column[role, cause])
                for depth, column in zip(depths, columns, strict=True)
                if (role, cause) in column
            ]
            stall_panel.plot(
                [depth for depth, _ in known],
                [cycles for _, cycles in known],
                label=f"{role}: {cause}",
                color=_COLOURS[cause],
                marker=_MARKERS[number % len(_MARKERS)],
                linestyle="--" if role == "producer" else "-",
            )
        stall_panel.set_ylabel("waiting, cycles per tile")
        stall_panel.set_xlabel("num_stages")
        stall_panel.set_xticks(depths)
        if keys:
            stall_panel.legend()
        data = io.BytesIO()
        figure.savefig(data, format="svg", metadata={"Date": None, "Creator": "stagebench"})
    return data.getvalue()
