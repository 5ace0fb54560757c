"""What did an earlier `profile` write, and can it be true?  Told by what a file holds.

Three documents: verdicts (``profile.json``), times (``timings.json``), and what ``profile --json``
told, which has both.  A file that is called like one of the first two is taken for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from stagebench.errors import DumpError
from stagebench.gpu.profile_file import TIMINGS
from stagebench.gpu.records import PROFILE, Profile
from stagebench.model.codec import decode
from stagebench.timing.agreement import disagreements
from stagebench.timing.measured import Measured, measure
from stagebench.timing.profile_report import ProfileReport
from stagebench.timing.recorded_checks import measured_problems, profile_problems

T = TypeVar("T")
Document = Literal["profile", "timings", "report"]

_KEYS: dict[Document, frozenset[str]] = {
    "report": frozenset({"profile", "timings"}),
    "profile": frozenset({"device", "variants", "complete"}),
    "timings": frozenset({"device", "sweeps"}),
}
_OPENINGS: dict[bytes, Document] = {
    b'device": "': "timings",
    b'device": {': "profile",
    b'profile": ': "report",
}
_OPENING = re.compile(rb'\s*\{\s*"schema_version": \d+,\s*"')
"""How each document starts as it is written: what is damaged further on is told by it."""
_MADE_AGAIN = "`stagebench profile` writes it"
_SHOWN_DIFFERENCES = 3
_START = 64


@dataclass(frozen=True)
class Recorded:
    """``profile`` is ``None`` where only times were kept; ``folder`` has the probe buffers."""

    profile: Profile | None
    measured: Measured
    folder: Path


def document(path: Path) -> Document | None:
    """Which of the documents a file is, damaged or not; ``None``: none of them."""
    return _by_content(path) or _by_name(path)


def _by_content(path: Path) -> Document | None:
    with suppress(OSError), path.open("rb") as file:
        start = file.read(_START)
        if not start.lstrip(b" \t\r\n").startswith(b"{"):  # a bundle may be a large file
            return None
        data = start + file.read()
        try:
            found = set(msgspec.json.decode(data, type=dict[str, msgspec.Raw]))
        except (msgspec.DecodeError, RecursionError):
            return _by_opening(data)
        return next((kind for kind, keys in _KEYS.items() if keys <= found), _by_opening(data))
    return None


def _by_opening(data: bytes) -> Document | None:
    opening = _OPENING.match(data)
    if opening is None:
        return None
    rest = data[opening.end() :]
    return next((kind for start, kind in _OPENINGS.items() if rest.startswith(start)), None)


def _by_name(path: Path) -> Document | None:
    if path.name == PROFILE:
        return "profile"
    return "timings" if path.name.endswith(TIMINGS) else None


def read_recorded(source: Path, warn: Callable[[str], None]) -> Recorded:
    """Read a profile's folder or one of its files; `DumpError` where it can't be true.

    What verdicts and times that lie together say of each other is told by ``warn``.
    """
    folder = source if source.is_dir() else source.parent
    kind = None if source.is_dir() else document(source)
    if kind == "report":
        report = _read(source, ProfileReport, _report_problems)
        if report.profile is not None:
            _tell(report.profile, report.timings, (f"{source}: profile", "timings"), warn)
        return Recorded(report.profile, report.timings, folder)
    if kind == "timings":
        return Recorded(None, read_measured(source), folder)
    verdicts = source if kind == "profile" else folder / PROFILE
    times = folder / TIMINGS
    if not verdicts.is_file():
        return Recorded(None, read_measured(times), folder)
    profile = _read(verdicts, Profile, profile_problems)
    if verdicts.name != PROFILE or not times.is_file():  # a copy, or it did not come to its end
        return Recorded(profile, _measured(profile, verdicts, warn), folder)
    measured = read_measured(times)
    _tell(profile, measured, (str(verdicts), str(times)), warn)
    return Recorded(profile, measured, folder)


def _measured(profile: Profile, path: Path, warn: Callable[[str], None]) -> Measured:
    """What verdicts and the buffers beside them say; that all of those are gone is said once."""
    buffers = [one.probe_file for one in profile.variants if one.probe_file is not None]
    if buffers and not any((path.parent / name).is_file() for name in buffers):
        warn(f"{path}: no probe buffer lies beside it: waits are not known")
        return measure(profile, path.parent, None)
    return measure(profile, path.parent, None, warn)


def read_measured(path: Path) -> Measured:
    """Read ``timings.json``, whatever it is called, or the one in a folder."""
    return _read(path / TIMINGS if path.is_dir() else path, Measured, _times_problems)


def _read(path: Path, kind: type[T], problems: Callable[[T], Iterable[str]]) -> T:
    try:
        data = path.read_bytes()
    except OSError as exc:
        raise DumpError(f"{path}: {exc.strerror}", hint=_MADE_AGAIN) from exc
    found = decode(data, kind, str(path))
    for problem in problems(found):
        raise DumpError(f"{path}: {problem}", hint=_MADE_AGAIN)
    return found


def _times_problems(found: Measured) -> Iterable[str]:
    yield from () if found.sweeps else ("sweeps is empty",)
    yield from measured_problems(found)


def _report_problems(found: ProfileReport) -> Iterable[str]:
    if found.profile is not None:
        yield from (f"profile.{problem}" for problem in profile_problems(found.profile))
    yield from (f"timings.{problem}" for problem in measured_problems(found.timings))


def _tell(
    profile: Profile, measured: Measured, names: tuple[str, str], warn: Callable[[str], None]
) -> None:
    found = disagreements(profile, measured, ("the first", "the second"))
    if found:
        more = len(found) - _SHOWN_DIFFERENCES
        told = "; ".join(found[:_SHOWN_DIFFERENCES]) + (f" … +{more} more" if more > 0 else "")
        warn(f"{names[0]} and {names[1]} are not of one run: {told}")
