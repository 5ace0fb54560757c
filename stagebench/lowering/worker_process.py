"""How is a worker started, talked to and ended?  The parent's side of `stagebench.worker`."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import msgspec

import stagebench.worker
from stagebench.closing import Closing
from stagebench.errors import MachineError
from stagebench.lowering.compiler_environment import CompilerEnvironment, worker_environ
from stagebench.lowering.failure import announced, signal_name, telling_line
from stagebench.lowering.import_mark import remember_import
from stagebench.lowering.overlay_folder import made_again, overlay_release
from stagebench.lowering.tested_releases import untested
from stagebench.worker import protocol
from stagebench.worker.protocol import Cancel, FromWorker, Hello, Lower, Refused

_ENTRY = Path(stagebench.worker.__file__).with_name("__main__.py")
_PATIENCE_SECONDS = 2.0


class WorkerProcess(Closing):
    """One running worker; a context manager that ends it and its children when it is left."""

    def __init__(self, environment: CompilerEnvironment, *, jobs: int) -> None:
        self.environment = environment
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the worker
        try:
            self._process = subprocess.Popen(
                [
                    environment.python,
                    "-I",
                    str(_ENTRY),
                    environment.compiler.name,
                    str(jobs),
                    *environment.front,
                    "--",
                    *environment.behind,
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                env=worker_environ(),
                start_new_session=True,  # Ctrl-C is ours to handle: it must not reach the worker
                bufsize=0,
            )
        except OSError as exc:
            self._log.close()
            raise self._refusal(f"it can't be started: {exc.strerror}") from exc

    def send(self, message: Lower | Cancel) -> None:
        """Send one message; a worker that has ended is noticed when reading."""
        stdin = self._process.stdin
        if stdin is None:
            return
        with contextlib.suppress(BrokenPipeError):
            stdin.write(protocol.encode_line(message))

    def messages(self) -> Iterator[FromWorker]:
        """What the worker says, until it ends.

        Raises `MachineError` if it can't start or says what is no message; a last line that is
        cut short (it was killed while it wrote) is no message and no error.
        """
        stdout = self._process.stdout
        if stdout is None:
            return
        with os.fdopen(os.dup(stdout.fileno()), "rb") as lines:
            for line in lines:
                try:
                    message = protocol.decode_from_worker(line)
                except msgspec.DecodeError as exc:
                    if not line.endswith(b"\n"):
                        return
                    raise MachineError(
                        f"the worker said something that is no message: {line[:80]!r}",
                        hint="stagebench doctor says whether it works at all",
                    ) from exc
                if isinstance(message, Refused):
                    raise self._refusal(message.message)
                yield message

    def hello(self, messages: Iterator[FromWorker]) -> Hello:
        """Wait for the worker's first message."""
        try:
            first = next(messages, None)
            if isinstance(first, Hello):
                remember_import(self.environment, works=True)
                return first
            how = self._ending() if first is None else "it did not say that it has started"
            said = telling_line(self.log_tail())
            raise self._refusal(f"{how}: {said}" if said else how)
        except MachineError:
            remember_import(self.environment, works=False)
            raise

    def _ending(self) -> str:
        """How the worker ended before it said anything."""
        try:
            code = self._process.wait(_PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            return "it closed its output while starting"
        how = f"exit code {code}" if code >= 0 else signal_name(-code)
        return f"it ended while starting ({how})"

    def _refusal(self, message: str) -> MachineError:
        """That the compiler can't be imported, in one line: the hint names what shows all of it."""
        compiler = self.environment.compiler
        front = "".join(f" with {folder} in front" for folder in self.environment.front)
        return MachineError(
            f"{compiler.name} {compiler.version} can't be imported by {self.environment.python}"
            f"{front}: {announced(message)}",
            hint="; ".join(_next_steps(self.environment)),
        )

    def log_tail(self, size: int = 4096) -> str:
        """The last of what the worker itself (not its jobs) printed."""
        self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, self._log.tell() - size))
        return self._log.read().decode(errors="replace")

    def close(self) -> None:
        """End the worker: closing its input makes it kill its jobs; then be sure."""
        process = self._process
        if process.stdin is not None:
            process.stdin.close()
        try:
            process.wait(_PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if process.stdout is not None:
            process.stdout.close()
        self._log.close()


def must_start(environment: CompilerEnvironment) -> None:
    """Start a worker and end it: `MachineError` where its compiler can't be imported."""
    with WorkerProcess(environment, jobs=1) as worker:
        worker.hello(worker.messages())


def _next_steps(environment: CompilerEnvironment) -> Iterator[str]:
    """What shows all of an import that fails, and whether there was any hope."""
    compiler = environment.compiler
    if environment.package is None:  # this environment's own
        yield "stagebench doctor says what is missing"
    else:
        front = f"PYTHONPATH={os.pathsep.join(environment.front)} " if environment.front else ""
        yield f"`{front}{environment.python} -c 'import {compiler.name}'` shows all of it"
    for folder in map(Path, environment.front):
        overlay = overlay_release(folder)
        if overlay is not None:
            yield made_again(overlay)
    unknown = untested(compiler.name, compiler.version)
    if unknown is not None:
        yield unknown
