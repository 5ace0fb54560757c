"""How does one worker serve several runs?  It stays until a run needs another compiler's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from stagebench.closing import Closing
from stagebench.lowering.compiler_environment import CompilerEnvironment
from stagebench.lowering.worker_process import WorkerProcess
from stagebench.worker.protocol import FromWorker


class KeptWorker(Closing):
    """A worker that is started when it is first needed and ended when this is left.

    Only that of the compiler last asked for is kept: each takes hundreds of megabytes.
    """

    def __init__(self) -> None:
        self._worker: WorkerProcess | None = None
        self._messages: Iterator[FromWorker] = iter(())
        self._ended = False

    @contextmanager
    def talk(
        self, environment: CompilerEnvironment, jobs: int, starting: Callable[[], None]
    ) -> Iterator[tuple[WorkerProcess, Iterator[FromWorker]]]:
        """The worker and what it says, for one run; ``starting`` is called where it is a new one.

        ``jobs`` is for a new one.  A worker that ended, or in whose run something was raised (it
        may still have jobs), is not kept.  Raises as `WorkerProcess` does.
        """
        try:
            yield self._of(environment, jobs, starting), self._listen()
        except BaseException:
            self.close()
            raise
        if self._ended:
            self.close()

    def close(self) -> None:
        """End the worker, where there is one."""
        worker, self._worker, self._ended = self._worker, None, False
        if worker is not None:
            worker.close()

    def _of(
        self, environment: CompilerEnvironment, jobs: int, starting: Callable[[], None]
    ) -> WorkerProcess:
        if self._worker is not None and self._worker.environment == environment:
            return self._worker
        self.close()
        starting()
        self._worker = WorkerProcess(environment, jobs=jobs)
        self._messages = self._worker.messages()
        self._worker.hello(self._messages)
        return self._worker

    def _listen(self) -> Iterator[FromWorker]:
        """What it says from now on; the next run listens on where this one stopped."""
        for message in self._messages:  # noqa: UP028 - yield from would close it with this one
            yield message
        self._ended = True
