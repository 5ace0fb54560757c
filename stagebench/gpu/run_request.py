"""What is a child process asked to run, and what does it answer?  One JSON document a line."""

from __future__ import annotations

from stagebench.gpu.records import Device, ProfiledVariant
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
    what is kept of the first run goes.
    """

    id: str
    references: tuple[str, ...]
    probe_file: str | None
    outputs_folder: str | None = None
    options: RunOptions


class Ready(Record, frozen=True, kw_only=True, tag="ready"):
    """The device is open."""

    device: Device
    notes: tuple[str, ...]


class Unusable(Record, frozen=True, kw_only=True, tag="unusable"):
    """The device, or the bundle, can't be opened at all."""

    message: str
    hint: str | None


class Ran(Record, frozen=True, kw_only=True, tag="ran"):
    """A variant has run, or was refused; ``lost``: this process can't run another one."""

    result: ProfiledVariant
    lost: bool


Answer = Ready | Unusable | Ran
