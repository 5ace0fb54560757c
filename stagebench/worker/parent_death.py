"""What becomes of a process whose parent ends?  Requests to the kernel (Linux ``prctl(2)``)."""

from __future__ import annotations

import contextlib
import ctypes
import signal

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def die_with_parent(enabled: bool = True) -> None:
    """Ask the kernel to kill this process when its parent ends."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL if enabled else 0, 0, 0, 0)


def adopt_orphans() -> None:
    """Become the parent of what jobs leave running, to be able to end it."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
