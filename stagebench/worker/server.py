"""How does one compiler process serve many variants and survive each of them?

The server imports the compiler once and then only waits.  Each job runs in a child that is forked
from it: a fork costs milliseconds, starts from the same state whatever ran before (so results
don't depend on order), and an abort, a hang or a memory kill in it loses that job alone.

The server never runs the compiler itself, so it can always answer, time out and clean up.  Does
not handle: which compiler it is (see `stagebench.worker.__main__`), nor what a job means.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import os
import resource
import selectors
import signal
import tempfile
import time
import traceback
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import msgspec

from stagebench.worker import protocol
from stagebench.worker.parent_death import adopt_orphans, die_with_parent
from stagebench.worker.protocol import Cancel, Died, Done, Lower, LowerRequest, Reply, Started

LowerFunction = Callable[[LowerRequest, Callable[[str], None]], Reply]
"""Lowers a request in the calling process, reporting each pass's name as it starts."""

_COLLECT_EVERY = 50_000
"""Objects between two collections in a job: lowering makes many that live until its end."""
_STDERR_TAIL_BYTES = 64 * 1024
_PASS_NAME_BYTES = 128


def count_oom_kills() -> int | None:
    """How many processes the kernel has killed for memory so far; ``None`` where it won't say.

    Source: ``memory.events`` of the process's control group (cgroup v2), else ``oom_kill`` of
    ``/proc/vmstat`` for the whole machine.
    """
    with contextlib.suppress(OSError, ValueError, IndexError):
        group = Path("/proc/self/cgroup").read_text().strip().rpartition(":")[2]
        events = Path("/sys/fs/cgroup" + group) / "memory.events"
        return _counter(events.read_text(), "oom_kill")
    with contextlib.suppress(OSError, ValueError):
        return _counter(Path("/proc/vmstat").read_text(), "oom_kill")
    return None


def _counter(text: str, name: str) -> int:
    for line in text.splitlines():
        key, _, value = line.partition(" ")
        if key == name:
            return int(value)
    raise ValueError(name)


@dataclass
class _Child:
    """A running job: its process, the file for its reply and the file that it prints to."""

    job: int
    pid: int
    reply: BinaryIO
    log: BinaryIO
    deadline: float
    oom_kills_before: int | None
    timed_out: bool = False

    def kill(self) -> None:
        """Kill the child and whatever it started (it leads a process group of its own)."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)


class Server:
    """Forks a child per job, at most ``jobs`` at a time, and forwards what comes of it."""

    def __init__(self, lower: LowerFunction, *, requests: int, replies: int, jobs: int) -> None:
        self._lower = lower
        self._requests = requests
        self._replies = replies
        self._jobs = jobs
        self._queue: deque[Lower] = deque()
        self._children: dict[int, _Child] = {}
        self._selector = selectors.DefaultSelector()
        self._pending = bytearray()
        self._open = True

    def serve(self) -> None:
        """Serve until standard input ends; kill what is still running then."""
        gc.collect()
        gc.freeze()  # what was imported is shared by all children: keep the collector off it
        gc.enable()
        gc.set_threshold(_COLLECT_EVERY)
        adopt_orphans()
        ended, wakeup = os.pipe()
        os.set_blocking(wakeup, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
        self._selector.register(self._requests, selectors.EVENT_READ)
        self._selector.register(ended, selectors.EVENT_READ)
        try:
            while self._open:
                self._start_waiting_jobs()
                for key, _ in self._selector.select(self._next_deadline()):
                    if key.fd == self._requests:
                        self._read_requests()
                    else:
                        os.read(ended, 1 << 16)
                self._reap()
                self._kill_overdue()
        finally:
            for child in self._children.values():
                child.kill()

    def _next_deadline(self) -> float | None:
        deadlines = [child.deadline for child in self._children.values() if not child.timed_out]
        return max(0.0, min(deadlines) - time.monotonic()) if deadlines else None

    def _read_requests(self) -> None:
        chunk = os.read(self._requests, 1 << 16)
        if not chunk:
            self._open = False
            return
        self._pending += chunk
        *lines, rest = self._pending.split(b"\n")
        self._pending = bytearray(rest)
        for line in lines:
            message = protocol.decode_to_worker(bytes(line))
            if isinstance(message, Cancel):
                self._cancel(message.job)
            else:
                self._queue.append(message)

    def _cancel(self, job: int) -> None:
        self._queue = deque(item for item in self._queue if item.job != job)
        for child in self._children.values():
            if child.job == job:
                child.kill()

    def _start_waiting_jobs(self) -> None:
        while self._queue and len(self._children) < self._jobs:
            self._start(self._queue.popleft())

    def _start(self, message: Lower) -> None:
        reply = tempfile.TemporaryFile()  # noqa: SIM115 - closed when the child is reaped
        log = tempfile.TemporaryFile()  # noqa: SIM115 - as above
        oom_kills = count_oom_kills()
        worker = os.getpid()
        pid = os.fork()
        if pid == 0:
            self._run_child(message, reply, log, worker)
        deadline = time.monotonic() + message.timeout_seconds
        self._children[pid] = _Child(message.job, pid, reply, log, deadline, oom_kills)
        self._send(Started(job=message.job))

    def _run_child(self, message: Lower, reply_file: BinaryIO, log: BinaryIO, worker: int) -> None:
        """The child's whole life; never returns."""
        status = 1
        own = os.getpid()
        try:
            os.setpgid(0, 0)
            signal.set_wakeup_fd(-1)
            die_with_parent()
            if os.getppid() != worker:  # it ended before we could ask
                os._exit(status)
            for stop in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
                signal.signal(stop, signal.SIG_DFL)
            with contextlib.suppress(OSError):  # be the first whom the kernel kills for memory
                Path("/proc/self/oom_score_adj").write_text("1000")
            if message.memory_limit_bytes is not None:
                limit = message.memory_limit_bytes
                resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
            os.close(self._requests)
            os.close(self._replies)

            def report_pass(name: str) -> None:
                os.pwrite(log.fileno(), name.encode()[:_PASS_NAME_BYTES].ljust(_PASS_NAME_BYTES), 0)

            faulthandler.enable(2, all_threads=False)  # a crash says which Python line it was in
            report_pass("")
            os.lseek(log.fileno(), _PASS_NAME_BYTES, os.SEEK_SET)
            reply = self._lower(message.request, report_pass)
            if os.getpid() == own:  # a kernel that forks goes on twice: one of them replies
                reply_file.write(msgspec.json.encode(reply))
                reply_file.flush()
            status = 0
        except BaseException:  # noqa: BLE001 - SystemExit too: the parent tells it from the log
            traceback.print_exc()
        finally:
            os._exit(status)

    def _reap(self) -> None:
        """Collect every process that has ended, and tell of those that were jobs."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            child = self._children.pop(pid, None)
            if child is not None:
                child.kill()  # whatever it left in its group
                self._kill_orphans()
                self._tell(child, os.waitstatus_to_exitcode(status))

    def _kill_orphans(self) -> None:
        """End what jobs started in other groups: it is ours since they ended (`adopt_orphans`)."""
        with contextlib.suppress(OSError):
            me = os.getpid()
            listed = Path(f"/proc/{me}/task/{me}/children").read_text().split()
            for pid in {int(pid) for pid in listed} - set(self._children):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)

    def _tell(self, child: _Child, code: int) -> None:
        with child.reply:
            child.reply.seek(0)
            data = child.reply.read()
        log = _read_log(child.log)
        if code == 0:
            with contextlib.suppress(msgspec.DecodeError):  # it ended itself: no reply, or half
                self._send(Done(job=child.job, reply=protocol.decode_reply(data)))
                return
        now = count_oom_kills()
        before = child.oom_kills_before
        self._send(
            Died(
                job=child.job,
                exit_code=max(code, 0),
                signal=max(-code, 0),
                timed_out=child.timed_out,
                oom_kills=None if now is None or before is None else now - before,
                pass_name=log[0] or None,
                stderr=log[1],
            )
        )

    def _kill_overdue(self) -> None:
        now = time.monotonic()
        for child in self._children.values():
            if child.deadline <= now and not child.timed_out:
                child.timed_out = True
                child.kill()

    def _send(self, message: Started | Done | Died) -> None:
        data = memoryview(protocol.encode_line(message))
        while data:
            data = data[os.write(self._replies, data) :]


def _read_log(log: BinaryIO) -> tuple[str, str]:
    """The name of the last pass that the child reported, and the tail of what it printed."""
    with log:
        log.seek(0)
        name = log.read(_PASS_NAME_BYTES).strip(b" \0").decode(errors="replace")
        end = log.seek(0, os.SEEK_END)
        log.seek(max(_PASS_NAME_BYTES, end - _STDERR_TAIL_BYTES))
        return name, log.read().decode(errors="replace")
