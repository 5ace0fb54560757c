"""Where is machine code read, so that a reader that dies costs its own variant alone?

A pool of our own processes.  They never run the caller's main module: a script that sweeps without
``if __name__ == "__main__"`` would otherwise sweep again in each of them (Python documentation,
"multiprocessing", "Safe importing of main module").
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from types import ModuleType
from typing import TypeVar

T = TypeVar("T")


class ReadingPool:
    """At most ``jobs`` processes, started as they are needed."""

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._pool: ProcessPoolExecutor | None = None

    def submit(self, work: Callable[..., T], *arguments: object) -> Future[T]:
        """Start, in a new pool where a process of the last one died."""
        for _ in range(2):
            if self._pool is None:
                self._pool = ProcessPoolExecutor(self._jobs, get_context("spawn"))
            with contextlib.suppress(BrokenProcessPool), _without_main():
                return self._pool.submit(work, *arguments)
            self.close(wait=False)
        raise BrokenProcessPool("processes die as soon as they are started")

    def close(self, *, wait: bool) -> None:
        """End the pool; what has not begun is not done."""
        if self._pool is not None:
            self._pool.shutdown(wait=wait, cancel_futures=True)
            self._pool = None


def read_alone(work: Callable[..., T], *arguments: object) -> T:
    """Do in one process what was lost with others.  Raises `BrokenProcessPool` if it dies too."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        with _without_main():
            future = pool.submit(work, *arguments)
        return future.result()


@contextlib.contextmanager
def _without_main() -> Iterator[None]:
    """Start processes with no main module to import."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
