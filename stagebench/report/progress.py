"""What is happening while variants are lowered?  A bar on standard error, nothing where none fits.

Never writes to standard output.  Not a terminal: silent, or one line per finished variant.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

from stagebench.report import identity, quantities
from stagebench.visible_text import visible

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID
    from typing_extensions import Self

    from stagebench.lowering.lower import Lowering
    from stagebench.worker.protocol import LowerRequest


class SweepProgress:
    """Watches a sweep; a context manager, so that the bar is gone before anything is printed."""

    def __init__(self, file: TextIO | None = None, *, verbose: bool = False) -> None:
        self._file = sys.stderr if file is None else file
        self._verbose = verbose
        self._labels: tuple[str, ...] = ()
        self._running: dict[int, None] = {}
        self._finished: set[int] = set()
        self._assembled: set[int] = set()
        self._started_at = time.monotonic()
        self._ended_at: float | None = None
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    @property
    def elapsed_seconds(self) -> float:
        """Since the sweep began, until it ended."""
        return (self._ended_at or time.monotonic()) - self._started_at

    def __enter__(self) -> Self:
        self._started_at = time.monotonic()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._ended_at = time.monotonic()
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def planned(self, requests: Sequence[LowerRequest]) -> None:
        """Learn what will be lowered; a second plan replaces the first."""
        self._labels = request_labels(requests)
        self._running.clear()
        self._finished.clear()
        self._assembled.clear()
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, total=len(requests), completed=0)

    def importing(self) -> None:
        """Say that a worker imports the compiler, which takes seconds."""
        self._show("importing the compiler")

    def started(self, index: int) -> None:
        """Show the variant beside the bar."""
        self._running[index] = None
        self._show(self._now())

    def finished(self, index: int, lowering: Lowering) -> None:
        """Move the bar; say so in a line of its own where the caller asked for it."""
        self._running.pop(index, None)
        self._finished.add(index)
        if self._bar is not None:
            self._show(self._now())
        if self._verbose:
            self._line(index, lowering)

    def assembled(self, index: int, lowering: Lowering) -> None:
        """Say what is left to assemble, once everything is lowered."""
        del lowering
        self._assembled.add(index)
        if self._bar is not None and len(self._finished) == len(self._labels):
            self._show(f"assembled {len(self._assembled)}")

    def _line(self, index: int, lowering: Lowering) -> None:
        how = _how(lowering)
        text = visible(f"{len(self._finished)}/{len(self._labels)}  {self._labels[index]}  {how}")
        if self._bar is not None:
            self._bar.console.print(text, markup=False, highlight=False, soft_wrap=True)
        else:
            self._file.write(text + "\n")
            self._file.flush()

    def _now(self) -> str:
        if not self._running:
            return ""
        shown = [self._labels[index] for index in self._running]
        return shown[0] if len(shown) == 1 else f"{shown[-1]} +{len(shown) - 1}"

    def _show(self, text: str) -> None:
        if self._bar is None:
            self._open()
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=len(self._finished), now=text)

    def _open(self) -> None:
        """Start the bar, at the first thing that takes time and on a terminal only."""
        if not self._file.isatty():
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
        from rich.progress import TimeElapsedColumn as Elapsed

        console = Console(file=self._file, stderr=True)
        if console.is_dumb_terminal:
            return
        self._bar = Progress(
            TextColumn("lowering"),
            MofNCompleteColumn(),
            BarColumn(bar_width=20),
            Elapsed(),
            TextColumn("{task.fields[now]}", markup=False),
            console=console,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._bar.add_task("lowering", total=len(self._labels), now="")
        self._bar.start()


def _how(lowering: Lowering) -> str:
    failure = lowering.result.failure
    if failure is not None:
        return f"failed: {failure.message.splitlines()[0]}"
    if lowering.cached:
        return "from cache"
    took = f" in {quantities.seconds(lowering.times.lower)}" if lowering.times else ""
    return f"lowered{took}"


def request_labels(requests: Sequence[LowerRequest]) -> tuple[str, ...]:
    """A name for each request: its arch, what distinguishes it from the others, its depth."""
    varying = [
        name
        for name in dict.fromkeys(name for request in requests for name in request.params)
        if len({repr(request.params.get(name)) for request in requests}) > 1
    ]
    labels = []
    for request in requests:
        words = [request.arch]
        words += [
            f"{name}={identity.value_text(request.params[name])}"
            for name in varying
            if name in request.params
        ]
        if request.num_stages is not None:
            words.append(f"num_stages={request.num_stages}")
        labels.append(" ".join(words))
    return tuple(labels)
