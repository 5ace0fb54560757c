"""How does a sweep's result get onto disk?  Each variant as soon as it is there, the list last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from stagebench.dump.directory import DumpDirectory, Timing
from stagebench.errors import StagebenchError
from stagebench.experiment.sweep_watcher import SweepWatcher, Unwatched
from stagebench.lowering.lower import Lowering
from stagebench.worker.protocol import LowerRequest, Times


class Dumping:
    """Writes each variant's dump as soon as it is there, then tells the watcher."""

    def __init__(
        self,
        watcher: SweepWatcher | Unwatched,
        directory: DumpDirectory | None,
        chosen: tuple[str, ...],
        folders: dict[int, str],
    ) -> None:
        self._watcher = watcher
        self._directory = directory
        self._chosen = chosen
        self._folders = folders

    def planned(self, requests: Sequence[LowerRequest]) -> None:
        """Tell the watcher; what was written for an earlier plan of this run is not of it."""
        if self._directory is not None:
            for folder in self._folders.values():
                self._directory.discard(folder)
        self._folders.clear()
        self._watcher.planned(requests)

    def importing(self) -> None:
        """Tell the watcher."""
        self._watcher.importing()

    def started(self, index: int) -> None:
        """Tell the watcher."""
        self._watcher.started(index)

    def finished(self, index: int, lowering: Lowering) -> None:
        """Write the dump."""
        self._write(index, lowering)
        self._watcher.finished(index, lowering)

    def assembled(self, index: int, lowering: Lowering) -> None:
        """Write the dump again, with its machine code."""
        self._write(index, lowering)
        self._watcher.assembled(index, lowering)

    def _write(self, index: int, lowering: Lowering) -> None:
        if self._directory is None:
            return
        try:
            self._folders[index] = self._directory.write(
                lowering.result,
                self._chosen,
                lowering.kernel_cu,
                lowering.snapshots,
                lowering.assembly,
            )
        except OSError as exc:
            raise _unwritten(self._directory.root, exc) from exc


def finish_dumps(
    directory: DumpDirectory, lowerings: Sequence[Lowering], folders: Mapping[int, str]
) -> None:
    """Write the list of variants and their times."""
    timings = {
        folders[index]: _timing(lowering.times, len(lowering.result.facts.lowering.passes))
        for index, lowering in enumerate(lowerings)
        if lowering.times and lowering.result.facts and index in folders
    }
    try:
        directory.finish(tuple(folders[index] for index in sorted(folders)), timings)
    except OSError as exc:
        raise _unwritten(directory.root, exc) from exc


def _unwritten(root: Path, exc: OSError) -> StagebenchError:
    return StagebenchError(
        f"can't write to {root}: {exc.strerror}",
        hint="finished variants are in the cache: make room and run the same command again",
    )


def _timing(times: Times, passes: int) -> Timing:
    measured = {item.sequence: round(item.seconds, 6) for item in times.passes}
    return Timing(
        load=round(times.load, 6),
        lower=round(times.lower, 6),
        observe=round(times.observe, 6),
        facts=round(times.facts, 6),
        pass_seconds=tuple(measured.get(sequence) for sequence in range(passes)),
    )
