"""What is a child process asked to run, and what does it answer?  One JSON document a line.

A request has one answer, `Ran` or `Lost`, and before it what is `Told` meanwhile.
"""

from __future__ import annotations

from stagebench.bundle.records import CubinKind
from stagebench.gpu.records import Device, ProfiledVariant, RunError
from stagebench.model import Record


class RunOptions(Record, frozen=True, kw_only=True):
    """How variants are run.

    ``repeats`` are the runs on the same inputs whose bits are compared, ``runs`` the timed ones
    (0: nothing is timed) after ``warmup``.  ``save_outputs``: all that the first run wrote is kept,
    not only the buffers of a kernel's own profiler.  Without ``probes`` only the kernel as compiled
    runs.
    """

    seed: int = 0
    repeats: int = 5
    warmup: int = 5
    runs: int = 50
    save_outputs: bool = False
    probes: bool = True


class RunRequest(Record, frozen=True, kw_only=True):
    """One variant; ``references`` are ids whose outputs may be compared with, the best first.

    ``probe_file`` is where the raw probe buffer of a probed build goes, ``outputs_folder`` where
    what is kept of the first run goes.  ``without`` are builds that took an earlier process with
    them.
    """

    id: str
    references: tuple[str, ...]
    probe_file: str | None
    outputs_folder: str | None = None
    without: tuple[CubinKind, ...] = ()
    options: RunOptions


class Ready(Record, frozen=True, kw_only=True, tag="ready"):
    """The device is open."""

    device: Device
    notes: tuple[str, ...]


class Unusable(Record, frozen=True, kw_only=True, tag="unusable"):
    """The device, or the bundle, can't be opened at all, or results can't be written."""

    message: str
    hint: str | None


class Launching(Record, frozen=True, kw_only=True, tag="launching"):
    """Launches of a build are now waited for; by earlier ones they take ``seconds`` (0: none was).

    Until `Back` nothing else is done; what a process does otherwise may take far longer.
    """

    build: CubinKind
    seconds: float


class Back(Record, frozen=True, kw_only=True, tag="back"):
    """The launches came back."""


class Found(Record, frozen=True, kw_only=True, tag="found"):
    """All that is known of the variant by now."""

    result: ProfiledVariant


class Lost(Record, frozen=True, kw_only=True, tag="lost"):
    """The context is lost with this error, and this process ends."""

    error: RunError


class Ran(Record, frozen=True, kw_only=True, tag="ran"):
    """A variant has run, or was refused."""

    result: ProfiledVariant


Told = Launching | Back | Found
"""What is said while a variant runs."""
Answer = Ready | Unusable | Told | Lost | Ran
