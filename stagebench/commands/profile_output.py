"""How is a profile shown?  JSON, tables, charts and timelines, as they were asked for."""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from stagebench.commands.json_output import STDOUT, check_json, write_json
from stagebench.commands.output_place import check_folder, write_output
from stagebench.commands.warning import warn
from stagebench.errors import UsageError

if TYPE_CHECKING:
    from stagebench.gpu.records import Profile
    from stagebench.timing.measured import Measured


@dataclass(frozen=True)
class Found:
    """What there is to show, and the folder that it lies in.

    ``profile`` is ``None`` where only ``timings.json`` was kept.
    """

    profile: Profile | None
    measured: Measured
    folder: Path

    @property
    def bad(self) -> bool:
        """Is a variant that is shown wrong, or did one, or a build of it, not run?

        Whichever file says so: times alone have verdicts too.
        """
        timings = (timing for sweep in self.measured.sweeps for timing in sweep.timings)
        if any(timing.bad or timing.refused for timing in timings):
            return True
        found = self.profile
        if found is None:
            return False
        return any(one.bad for one in found.variants) or bool(found.skipped) or not found.complete


def check_shown(arguments: argparse.Namespace) -> None:
    """Raise `UsageError`, before a GPU works, where something asked for can't be written."""
    check_json(arguments.json)
    for option in ("chart", "timeline"):
        folder = getattr(arguments, option)
        if folder is not None:
            check_folder(folder, f"--{option}")


def show(found: Found, arguments: argparse.Namespace) -> None:
    """Tables, JSON, pictures: as they were asked for; what is printed can't fail for a file."""
    from stagebench.report.profile_view import print_measured, print_verdicts

    if arguments.json != STDOUT:
        if found.profile is not None:
            print_verdicts(found.profile)
        print_measured(found.measured, sites=arguments.sites)
    if arguments.json is not None:
        from stagebench.timing.profile_report import profile_report

        write_json(profile_report(found.profile, found.measured), arguments.json)
    if arguments.chart is not None:
        _write_charts(found.measured, arguments.chart)
    if arguments.timeline is not None:
        _write_timelines(found, arguments)


def _write_charts(measured: Measured, folder: Path) -> None:
    from stagebench.timing.measured import sweep_names
    from stagebench.timing.stall_chart import stall_chart

    for sweep, told in zip(measured.sweeps, sweep_names(measured), strict=True):
        if all(timing.num_stages is None for timing in sweep.timings):
            warn(f"{told} has no depth: there is nothing to draw against it")
            continue
        name = re.sub(r"[^A-Za-z0-9._=,+-]", ".", told)
        title = f"{told.replace('/', ' · ')} · {measured.device}"
        write_output(folder / f"{name}.svg", stall_chart(sweep.timings, title=title), "--chart")


def _write_timelines(found: Found, arguments: argparse.Namespace) -> None:
    from stagebench.timing.timeline_files import write_timelines

    if found.profile is None:
        raise UsageError(
            f"--timeline needs the probe buffers, and {arguments.bundle} is times alone",
            hint="give the folder that `stagebench profile -o` wrote",
        )
    written = write_timelines(found.profile, found.folder, arguments.timeline)
    if not written:
        warn("no variant has a probe buffer: no timeline was written")
