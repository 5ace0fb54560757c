"""How does the assembler start NVRTC processes, give them kernels, and outlive them?

One process serves the kernels that can share a precompiled header.  A process that is lost takes
the kernel that it was compiling itself with it, and no other: those that waited go to the next.
"""

from __future__ import annotations

import array
import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import IO

import stagebench.assemble
from stagebench.assemble import nvrtc_protocol as protocol
from stagebench.assemble.nvrtc_protocol import Compile, Compiled, Ended, Rejected, Running
from stagebench.closing import Closing
from stagebench.lowering.compiler_environment import worker_environ
from stagebench.model import Record

_ENTRY = Path(stagebench.assemble.__file__).with_name("nvrtc_main.py")
_LOG_TAIL_BYTES = 8192
_STARTS = 3
_LOAD_SECONDS = 120.0
_KEPT_PROCESSES = 6
_CONTROL_PATIENCE_SECONDS = 5.0


class Lost(Record, frozen=True, kw_only=True, tag="lost"):
    """The process that compiled the kernel ended, or its time was up; ``log`` is what it printed.

    ``code`` is its exit code or signal (negative), ``None`` where it is not known.
    """

    timed_out: bool
    code: int | None
    log: str


class NvrtcProcess:
    """One running process; may be used from several threads."""

    def __init__(self, command: tuple[str, ...]) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        with theirs:
            try:
                self._process = subprocess.Popen(
                    [*command, str(theirs.fileno())],
                    stdin=subprocess.DEVNULL,
                    stdout=self._log,
                    stderr=self._log,
                    pass_fds=(theirs.fileno(),),
                    env=worker_environ(),
                    start_new_session=True,  # Ctrl-C is ours to handle: it must not get there
                )
            except OSError:
                ours.close()
                self._log.close()
                raise
        ours.settimeout(_CONTROL_PATIENCE_SECONDS)
        self._control = ours
        self._lost = False

    @property
    def running(self) -> bool:
        """Whether it has not ended, nor begun to."""
        return not self._lost and self._process.poll() is None

    def compile(
        self, request: Compile, timeout_seconds: float
    ) -> Compiled | Rejected | Lost | None:
        """Compile one kernel; ``None`` if the process ended before it began with it."""
        job, theirs = socket.socketpair()
        with job:
            with theirs:
                handles = array.array("i", [theirs.fileno()])
                control = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, handles)]
                try:
                    self._control.sendmsg([protocol.JOB], control)
                except OSError:
                    self._lost = True
                    return None
            return self._follow(job, request, timeout_seconds)

    def _follow(
        self, job: socket.socket, request: Compile, timeout_seconds: float
    ) -> Compiled | Rejected | Lost | None:
        pid: int | None = None
        answer: Compiled | Rejected | None = None
        deadline = time.monotonic() + timeout_seconds + _LOAD_SECONDS  # another may be before it
        try:
            while True:
                job.settimeout(max(deadline - time.monotonic(), 0.001))
                message = protocol.receive_answer(job)
                if isinstance(message, Running):
                    pid = message.pid
                    deadline = time.monotonic() + timeout_seconds
                    protocol.send(job, request)
                elif isinstance(message, Ended):
                    lost = Lost(timed_out=False, code=message.code, log=self.log_tail())
                    return answer or lost
                else:
                    answer = message
        except TimeoutError:
            self._kill(pid)
            return Lost(timed_out=True, code=None, log=self.log_tail())
        except (EOFError, OSError, ValueError):  # it died, or what it wrote is no message
            if answer is not None:
                return answer
            self._lost = True
            if pid is None:
                return None
            return Lost(timed_out=False, code=self._exit_code(), log=self.log_tail())

    def _kill(self, pid: int | None) -> None:
        if pid is None or pid == self._process.pid:
            self.kill()
            return
        with contextlib.suppress(OSError):
            self._control.send(protocol.KILL.pack(pid))

    def _exit_code(self) -> int | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._process.wait(_CONTROL_PATIENCE_SECONDS)
        return None

    def log_tail(self) -> str:
        """The last of what it and its children printed."""
        try:
            end = os.fstat(self._log.fileno()).st_size
            data = os.pread(self._log.fileno(), _LOG_TAIL_BYTES, max(0, end - _LOG_TAIL_BYTES))
        except (OSError, ValueError):  # closed
            return ""
        return data.decode(errors="replace")

    def kill(self) -> None:
        """End it and its children now."""
        self._lost = True
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def close(self) -> None:
        """End it and forget it."""
        self.kill()
        self._process.wait()
        self._control.close()
        self._log.close()


def nvrtc_command() -> tuple[str, ...]:
    """What starts the real process."""
    return (sys.executable, "-I", str(_ENTRY))


class NvrtcPool(Closing):
    """One process for each kind of header, started when the first kernel of the kind comes.

    Those used least recently are ended when there are more than a few: a header takes 260 MB.
    """

    def __init__(self, command: tuple[str, ...] | None = None) -> None:
        self._command = command or nvrtc_command()
        self._processes: dict[str, NvrtcProcess] = {}
        self._users: dict[NvrtcProcess, int] = {}
        self._lock = threading.Lock()
        self._closed = False
        self.started = 0

    def compile(
        self, header: str, request: Compile, timeout_seconds: float
    ) -> Compiled | Rejected | Lost:
        """Compile in the process for the header; blocks.  Any thread may call it."""
        log = ""
        for _ in range(_STARTS):
            process = self._take(header)
            if process is None:
                break
            try:
                result = process.compile(request, timeout_seconds)
                if result is not None:
                    return result
                log = process.log_tail() or log
            finally:
                self._give_back(process)
        return Lost(timed_out=False, code=None, log=log)

    def _take(self, header: str) -> NvrtcProcess | None:
        with self._lock:
            if self._closed:
                return None
            process = self._processes.pop(header, None)
            if process is not None and not process.running:
                self._retire(process)
                process = None
            if process is None:
                process = NvrtcProcess(self._command)
                self.started += 1
                self._users[process] = 0
            self._processes[header] = process  # last: used most recently
            self._users[process] += 1
            self._end_idle()
            return process

    def _give_back(self, process: NvrtcProcess) -> None:
        with self._lock:
            if process in self._users:
                self._users[process] -= 1
                if not self._users[process] and process not in self._processes.values():
                    self._retire(process)

    def _end_idle(self) -> None:
        for header, process in list(self._processes.items()):
            if len(self._processes) <= _KEPT_PROCESSES:
                return
            if not self._users[process]:
                del self._processes[header]
                self._retire(process)

    def _retire(self, process: NvrtcProcess) -> None:
        """Close a process that nobody uses; one in use is closed by its last user."""
        if not self._users.get(process):
            self._users.pop(process, None)
            process.close()

    def kill(self) -> None:
        """End all processes now: whoever waits for one gets `Lost`; no new ones are started."""
        with self._lock:
            self._closed = True
            for process in self._users:
                process.kill()

    def close(self) -> None:
        """End all processes and forget them; call it when no thread waits any more."""
        self.kill()
        with self._lock:
            for process in self._users:
                process.close()
            self._users.clear()
            self._processes.clear()
