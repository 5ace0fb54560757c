"""What can go wrong because of the caller, and with which exit code does the command end?

Exit codes: 0 everything lowered (or equal), 1 a difference was found (diff, check), 2 wrong usage,
environment or input, 3 a variant failed, 130 interrupted, 128 + n ended by signal n (SIGTERM: 143,
SIGHUP: 129), 141 the reader of the output went away.
Only the CLI's ``main`` turns an error into an exit code.
"""

from __future__ import annotations

import errno

EXIT_OK = 0
EXIT_DIFFERENT = 1
EXIT_USAGE = 2
EXIT_VARIANT_FAILED = 3
EXIT_INTERRUPTED = 130
EXIT_PIPE = 141


class Terminated(KeyboardInterrupt):
    """Someone asked this process to end, by a signal: what it has started ends with it."""

    def __init__(self, signal: int) -> None:
        super().__init__(signal)
        self.exit_code = 128 + signal


class StagebenchError(Exception):
    """An error with a message that names the thing and a hint that names the next step."""

    exit_code = EXIT_USAGE

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(StagebenchError):
    """The request can't be carried out as it was written."""


class MachineError(StagebenchError):
    """Something that the request needs is missing or broken on this machine."""


def machine_error(exc: OSError) -> MachineError:
    """What to say of an `OSError` that nobody expected; a full disk has a next step.

    One that names no file is of standard output, or of temporary files that are not ours.
    """
    import tempfile

    why = exc.strerror or str(exc)
    if exc.errno not in (errno.ENOSPC, errno.EDQUOT):
        return MachineError(str(exc) if exc.filename is None else f"{exc.filename}: {why}")
    return MachineError(
        f"{exc.filename or f'standard output or {tempfile.gettempdir()}'}: {why}",
        hint="free some space there, or name another place: by its option, or TMPDIR",
    )


class DumpError(StagebenchError):
    """A dump or a result file is missing, damaged or of another schema."""
