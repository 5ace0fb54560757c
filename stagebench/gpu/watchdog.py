"""How does a fault or a hang cost one variant and no other?

Variants run in a child process.  A build that faults takes its context with it: the child says so
and ends; one that hangs or dies is ended from here.  What runs next gets a fresh child.  Only
launches that a child waits for are held to the user's limit.  Its other work, a float64 reference
on the host or a call of the driver (which, where that is stuck, never returns), has one of its own
that is far above what any of it takes.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from stagebench.errors import MachineError
from stagebench.gpu.records import HOST_TIMEOUT, TIMEOUT, Device, ProfiledVariant, RunError
from stagebench.gpu.run_request import (
    Answer,
    Back,
    Found,
    Launching,
    Lost,
    Ran,
    Ready,
    RunRequest,
    Unusable,
)

START_SECONDS = 120.0
"""For a child to open the device: the first context of a cold machine takes a while."""
HOST_SECONDS = 1800.0
"""For one step of a child's work that is no launch; a user's limit that is larger counts here too.
The longest that we know of, the float64 reference of a large kernel, takes some minutes.
"""
_END_SECONDS = 10.0
_LONGEST_WAIT_SECONDS = 3600.0
"""At a time: `select` takes no more than some weeks."""


class ChildError(Exception):
    """A child that did not answer (it hung or it died) or that lost its context.

    ``error`` names the build that ran; ``found`` is what was told of the variant before.
    """

    def __init__(self, error: RunError, found: ProfiledVariant | None = None) -> None:
        super().__init__(error.message)
        self.error = error
        self.found = found


class Watchdog:
    """Runs requests in a child, one at a time; each launch within ``timeout_seconds``.

    ``host_seconds`` is for each step that is no launch.
    """

    def __init__(
        self,
        command: Sequence[str],
        timeout_seconds: float,
        host_seconds: float = HOST_SECONDS,
    ) -> None:
        self._command = list(command)
        self._timeout = timeout_seconds
        self._host = max(host_seconds, timeout_seconds)
        self._child: subprocess.Popen[bytes] | None = None
        self._pending = b""
        self._log = b""
        self.device: Device | None = None
        self.notes: tuple[str, ...] = ()
        self.started = 0

    def run(self, request: RunRequest) -> ProfiledVariant:
        """One variant; `ChildError` where a build hung, faulted or killed its process.

        Raises `MachineError` where no child can open the device at all, or write what it found.
        """
        self.start()
        child = self._child
        if child is None or child.stdin is None:
            raise RuntimeError("no child")
        try:
            child.stdin.write(msgspec.json.encode(request) + b"\n")
            child.stdin.flush()
        except BrokenPipeError:
            raise self._died() from None
        return self._result()

    def _result(self) -> ProfiledVariant:
        """Listen until the variant has run."""
        found: ProfiledVariant | None = None
        running: Launching | None = None
        while True:
            try:
                if running is None:
                    late = "no launch was waited for, and its process was silent for"
                    answer = self._answer(self._host, late, HOST_TIMEOUT)
                else:
                    late = "a launch did not come back within"
                    answer = self._answer(self._timeout + running.seconds, late)
            except ChildError as exc:
                build = None if running is None else running.build
                error = msgspec.structs.replace(exc.error, build=build)
                raise ChildError(error, found) from exc
            if isinstance(answer, Launching):
                running = answer
            elif isinstance(answer, Back):
                running = None
            elif isinstance(answer, Found):
                found = answer.result
            elif isinstance(answer, Lost):
                self.stop()
                raise ChildError(answer.error, found)
            elif isinstance(answer, Ran):
                return answer.result
            elif isinstance(answer, Unusable):
                self.stop()
                raise MachineError(answer.message, hint=answer.hint)
            else:
                raise TypeError(f"{answer} is no answer to a request")

    def start(self) -> None:
        """Start a child if none runs, and wait until it has opened the device."""
        if self._child is not None:
            return
        self._pending = self._log = b""
        self._child = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.started += 1
        try:
            answer = self._answer(START_SECONDS, "it did not open within")
        except ChildError as exc:
            raise MachineError(f"the device can't be opened: {exc}", hint="nvidia-smi") from exc
        if isinstance(answer, Unusable):
            self.stop()
            raise MachineError(answer.message, hint=answer.hint)
        if isinstance(answer, Ready):
            self.device, self.notes = answer.device, answer.notes

    def stop(self, *, at_once: bool = False) -> None:
        """End the child: it is asked first, then killed; ``at_once``: not asked."""
        child, self._child = self._child, None
        if child is None:
            return
        if at_once:
            child.kill()
        with contextlib.suppress(OSError):
            if child.stdin is not None:
                child.stdin.close()
        try:
            child.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):  # inside of a stuck driver
                child.wait(_END_SECONDS)
        for stream in (child.stdout, child.stderr):
            if stream is not None:
                stream.close()

    def _answer(self, seconds: float, late: str, name: str = TIMEOUT) -> Answer:
        """The next answer; `ChildError` ``name`` where none is in time: ``late`` and the time."""
        child = self._child
        if child is None or child.stdout is None or child.stderr is None:
            raise RuntimeError("no child")
        deadline = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(child.stdout, selectors.EVENT_READ)
            selector.register(child.stderr, selectors.EVENT_READ)
            while b"\n" not in self._pending:
                left = deadline - time.monotonic()
                if left <= 0:
                    child.kill()
                    self.stop()
                    shown = f"{seconds:.3g}" if seconds < 1000 else f"{seconds:.0f}"
                    raise ChildError(RunError(name=name, message=f"{late} {shown} s"))
                for key, _ in selector.select(min(left, _LONGEST_WAIT_SECONDS)):
                    data = os.read(key.fd, 1 << 16)
                    if key.fileobj is child.stdout:
                        if not data:
                            raise self._died()
                        self._pending += data
                    elif data:
                        self._log = (self._log + data)[-(1 << 16) :]
                    else:
                        selector.unregister(key.fileobj)
        line, _, self._pending = self._pending.partition(b"\n")
        return msgspec.json.decode(line, type=Answer)

    def _died(self) -> ChildError:
        """What there is to say of a child that ended without an answer."""
        child = self._child
        if child is None:
            raise RuntimeError("no child")
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(_END_SECONDS)
        if child.stderr is not None:
            with contextlib.suppress(OSError, ValueError):
                self._log += child.stderr.read() if child.returncode is not None else b""
        code = child.returncode
        self.stop()
        how = f"by signal {-code}" if code is not None and code < 0 else f"with code {code}"
        said = self._log.decode(errors="replace").strip().splitlines()[-1:]
        message = f"its process ended {how}" + "".join(f": {line.strip()}" for line in said)
        return ChildError(RunError(name="process_died", message=message))


def child_command(bundle: Path, outputs: Path) -> list[str]:
    """The command of a child for a bundle."""
    return [sys.executable, "-m", "stagebench.gpu.run_variant", str(bundle), str(outputs)]
