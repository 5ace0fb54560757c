"""How are ptxas, nvcc and nvdisasm run so that none outlives us and each can be stopped?

Each runs in a session of its own under a small Python that asks the kernel to kill it with its
parent (``prctl``, which ``exec`` keeps) and then becomes the program.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from stagebench.lowering.compiler_environment import worker_environ

_BECOME = (
    "import ctypes,os,sys\n"
    "ctypes.CDLL(None).prctl(1, 9, 0, 0, 0)\n"
    "if os.getppid() == int(sys.argv[1]): os.execv(sys.argv[2], sys.argv[2:])\n"
)


@dataclass(frozen=True)
class Ran:
    """How a program ended: ``code`` negative for a signal, what it printed, the seconds."""

    code: int
    output: str
    log: str
    timed_out: bool
    seconds: float


class Programs:
    """Runs programs; `kill` ends all that are running and lets no new one start."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._closed = False
        self.started = 0

    def run(self, command: Sequence[str | Path], folder: Path, timeout_seconds: float) -> Ran:
        """Run to the end, in ``folder``.  ``log`` is what it printed to standard error."""
        started = time.perf_counter()
        with self._lock:
            if self._closed:
                return Ran(-signal.SIGKILL, "", "", timed_out=False, seconds=0.0)
            try:
                process = self._start([str(part) for part in command], folder)
            except OSError as exc:
                return Ran(127, "", f"{command[0]}: {exc.strerror}", timed_out=False, seconds=0.0)
            self._running.add(process)
            self.started += 1
        timed_out = False
        try:
            try:
                output, log = process.communicate(timeout=timeout_seconds)
            except subprocess.TimeoutExpired:
                timed_out = True
                _kill(process)
                output, log = process.communicate()
        finally:
            with self._lock:
                self._running.discard(process)
        return Ran(
            process.returncode,
            output.decode(errors="replace"),
            log.decode(errors="replace"),
            timed_out,
            time.perf_counter() - started,
        )

    def _start(self, command: list[str], folder: Path) -> subprocess.Popen[bytes]:
        become = [sys.executable, "-I", "-S", "-c", _BECOME, str(os.getpid())]
        return subprocess.Popen(
            [*become, *command],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=worker_environ(),
            start_new_session=True,
        )

    def kill(self) -> None:
        """End what is running, now."""
        with self._lock:
            self._closed = True
            for process in self._running:
                _kill(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
