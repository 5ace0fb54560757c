"""How does one NVRTC process serve many kernels and survive each of them?

The first kernel is compiled by the process itself, so that the headers that it precompiled stay in
its memory; each later one by a child forked from there.  A fork costs milliseconds, uses the
headers at the addresses they were made for (NVRTC demands that), and a crash or a hang in it loses
that kernel alone.  A crash in the first one ends the process: the assembler starts another.
"""

from __future__ import annotations

import array
import contextlib
import os
import resource
import selectors
import signal
import socket
import traceback
from typing import Protocol

from stagebench.assemble import nvrtc_protocol as protocol
from stagebench.assemble.nvrtc_protocol import Compile, Compiled, Ended, Rejected, Running
from stagebench.worker.parent_death import die_with_parent


class Compiler(Protocol):
    """What the server asks of NVRTC (or of a test's stand-in)."""

    warm: bool

    def compile_and_keep_header(self, request: Compile) -> Compiled | Rejected:
        """Compile in this process."""

    def compile(self, request: Compile) -> Compiled | Rejected:
        """Compile in a child."""


class Server:
    """Serves the jobs that come through the ``control`` socket."""

    def __init__(self, compiler: Compiler, control: socket.socket) -> None:
        self._compiler = compiler
        self._control = control
        self._children: dict[int, socket.socket] = {}

    def serve(self) -> None:
        """Serve until the control socket ends; kill what is still running then."""
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        ended, wakeup = os.pipe()
        os.set_blocking(wakeup, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
        with selectors.DefaultSelector() as selector:
            selector.register(self._control, selectors.EVENT_READ)
            selector.register(ended, selectors.EVENT_READ)
            open_ = True
            while open_:
                for key, _ in selector.select():
                    if key.fd == ended:
                        os.read(ended, 1 << 16)
                    else:
                        open_ = self._read_control()
                self._reap()
        for pid in self._children:
            os.kill(pid, signal.SIGKILL)

    def _read_control(self) -> bool:
        size = socket.CMSG_LEN(array.array("i").itemsize)
        message, extra, _, _ = self._control.recvmsg(protocol.KILL.size, size)
        if not message:
            return False
        if message != protocol.JOB:
            (pid,) = protocol.KILL.unpack(message)
            if pid in self._children:
                os.kill(pid, signal.SIGKILL)
            return True
        handles = array.array("i")
        for _level, _kind, data in extra:
            handles.frombytes(data[: len(data) - len(data) % handles.itemsize])
        self._start(socket.socket(fileno=handles[0]))
        return True

    def _start(self, job: socket.socket) -> None:
        if not self._compiler.warm:
            with job, contextlib.suppress(OSError):
                self._run(job, keep_header=True)
                protocol.send(job, Ended(code=0))
            return
        pid = os.fork()
        if pid == 0:
            self._run_child(job)
        self._children[pid] = job

    def _run(self, job: socket.socket, *, keep_header: bool) -> None:
        with contextlib.suppress(OSError, EOFError):  # the assembler went away or gave it up
            protocol.send(job, Running(pid=os.getpid()))
            request = protocol.receive_request(job)
            if keep_header:
                answer = self._compiler.compile_and_keep_header(request)
            else:
                answer = self._compiler.compile(request)
            protocol.send(job, answer)

    def _run_child(self, job: socket.socket) -> None:
        """The child's whole life; never returns."""
        status = 1
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            die_with_parent()
            self._control.close()
            for other in self._children.values():
                other.close()
            self._run(job, keep_header=False)
            status = 0
        except BaseException:  # noqa: BLE001 - the assembler reads the log
            traceback.print_exc()
        finally:
            os._exit(status)

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            job = self._children.pop(pid, None)
            if job is None:
                continue
            with job, contextlib.suppress(OSError):
                protocol.send(job, Ended(code=os.waitstatus_to_exitcode(status)))
