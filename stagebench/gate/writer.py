"""How do accepted dumps become baselines, so that nothing is lost whatever happens on the way?

The only code that writes below ``dumps/``.  One writer at a time (a lock on the folder); each
experiment's new baselines are made whole beside the old ones, and only when all of them are there
are they swapped in, one rename for each way.  A full disk or an interrupt before that leaves what
was there untouched.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from stagebench.dump.atomic_file import UNFINISHED
from stagebench.dump.files import PASSES, SNAPSHOTS, dump_files
from stagebench.errors import StagebenchError, UsageError
from stagebench.gate.baselines import ASIDE, BASELINE, Accepted, BaselineFile, read_history
from stagebench.model import SCHEMA_VERSION, VariantResult
from stagebench.model.codec import encode_pretty

_KEPT = 12
_HALF_MADE = re.compile(re.escape(UNFINISHED) + r"[a-z0-9_]{8}")
"""What `tempfile.mkdtemp` calls a folder of `_make`."""
_WAIT_SECONDS = 120.0
_LOOK_SECONDS = 0.1


@dataclass(frozen=True)
class Writing:
    """The new state of one experiment's baselines: files by folder, and folders that go."""

    root: Path
    write: Mapping[str, Mapping[str, bytes]]
    remove: tuple[str, ...]
    accepted: Accepted
    gone: bool = False
    """The experiment is not there any more: nothing of the folder stays."""


def baseline_files(
    result: VariantResult, kernel_cu: str | None, snapshots: bytes | None
) -> dict[str, bytes]:
    """The files of a baseline: those of a dump; without snapshots, no digests and sizes of them.

    Digests of the IR after each pass change with every release and say nothing to a reviewer.
    """
    if snapshots is None and result.facts is not None:
        passes = tuple(
            msgspec.structs.replace(run, snapshot=None, ir_bytes=None)
            for run in result.facts.lowering.passes
        )
        cost = msgspec.structs.replace(result.facts.lowering, passes=passes)
        facts = msgspec.structs.replace(result.facts, lowering=cost)
        result = msgspec.structs.replace(result, facts=facts)
    files = dump_files(result, kernel_cu, snapshots)
    if snapshots is None:
        files.pop(SNAPSHOTS, None)
    return files


def is_current(folder: Path, files: Mapping[str, bytes]) -> bool:
    """Whether a baseline's files are these; recorded snapshots and pass lists don't count."""
    left_out = (PASSES, SNAPSHOTS)
    try:
        names = sorted(entry.name for entry in folder.iterdir() if entry.name not in left_out)
        return names == sorted(name for name in files if name not in left_out) and all(
            (folder / name).read_bytes() == files[name] for name in names
        )
    except OSError:
        return False


@contextlib.contextmanager
def locked(root: Path, tell: Callable[[str], None]) -> Iterator[None]:
    """Be the only writer of this folder of baselines; says so where it has to wait.

    Raises `UsageError` where another one goes on for minutes.
    """
    try:
        root.mkdir(parents=True, exist_ok=True)
        handle = os.open(root, os.O_RDONLY)
    except OSError as exc:
        raise UsageError(f"can't write baselines to {root}: {exc.strerror}") from exc
    try:
        _take(handle, root, tell)
        _clear_abandoned(root)
        yield
    finally:
        os.close(handle)


def _take(handle: int, root: Path, tell: Callable[[str], None]) -> None:
    end = time.monotonic() + _WAIT_SECONDS
    told = False
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not told:
                tell(f"another `accept` is writing {root}: waiting for it")
                told = True
            if time.monotonic() > end:
                raise UsageError(
                    f"another `accept` has been writing {root} for minutes",
                    hint="find it (`fuser -v` on the folder), or wait and try again",
                ) from None
            time.sleep(_LOOK_SECONDS)
        else:
            return


def _clear_abandoned(root: Path) -> None:
    """Remove what an `accept` that was killed left half made; no other one is at work now.

    Old baselines that were set aside stay: they may be the only ones there are (`read_baselines`).
    """
    with contextlib.suppress(OSError):
        for entry in sorted(root.iterdir()):
            made = _HALF_MADE.fullmatch(entry.name)
            if made and entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)


def write_baselines(writings: Sequence[Writing]) -> None:
    """Make every new state, then swap them all in; call it with the lock held.

    Raises `StagebenchError` where something could not be written; then no baseline has changed.
    """
    made: list[tuple[Path, Path, Path]] = []
    try:
        try:
            for writing in writings:
                made.append(_make(writing))
        except OSError as exc:
            raise _unwritten(writing.root, exc) from exc
        _swap(made)
        for writing in writings:
            if writing.gone:  # what was swapped in holds no baseline any more
                shutil.rmtree(writing.root, ignore_errors=True)
    finally:
        for holder, _, _ in made:
            shutil.rmtree(holder, ignore_errors=True)


def _make(writing: Writing) -> tuple[Path, Path, Path]:
    """The new folder, whole, in a folder of its own beside its place."""
    root = writing.root
    root.parent.mkdir(parents=True, exist_ok=True)
    holder = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=root.parent))
    try:
        fresh = holder / root.name
        if root.is_dir():
            gone = {root / name for name in (*writing.write, *writing.remove)}
            shutil.copytree(
                root, fresh, symlinks=True, ignore=lambda folder, names: [
                    name for name in names
                    if Path(folder) / name in gone or name.startswith(UNFINISHED)
                ],
            )  # fmt: skip
        else:
            fresh.mkdir()
        fresh.chmod(0o755)
        for name, files in writing.write.items():
            (fresh / name).mkdir(parents=True, exist_ok=True)
            for file, data in files.items():
                (fresh / name / file).write_bytes(data)
        for name in writing.remove:
            _drop_empty(fresh, (fresh / name).parent)
        (fresh / BASELINE).write_bytes(encode_pretty(_history(writing)))
    except BaseException:
        shutil.rmtree(holder, ignore_errors=True)
        raise
    return holder, fresh, root


def _history(writing: Writing) -> BaselineFile:
    earlier = read_history(writing.root).accepted
    return BaselineFile(
        schema_version=SCHEMA_VERSION, accepted=(writing.accepted, *earlier)[:_KEPT]
    )


def _swap(made: Sequence[tuple[Path, Path, Path]]) -> None:
    """Put each fresh folder in its place; if one fails, all are put back as they were."""
    begun: list[tuple[Path, Path]] = []
    try:
        for _, fresh, root in made:
            begun.append((fresh, root))
            _set_aside(root)
            fresh.replace(root)
    except BaseException as exc:
        for fresh, root in reversed(begun):
            _put_back(fresh, root)
        if isinstance(exc, OSError):
            raise _unwritten(begun[-1][1], exc) from exc
        raise
    finally:
        for _, root in begun:
            if root.exists() or not (_aside(root) / root.name).exists():
                shutil.rmtree(_aside(root), ignore_errors=True)


def _aside(root: Path) -> Path:
    """Where the old folder waits; `read_baselines` looks there after a kill."""
    return root.parent / f"{ASIDE}{root.name}"


def _set_aside(root: Path) -> None:
    if root.exists():
        shutil.rmtree(_aside(root), ignore_errors=True)  # of a run killed after its swap
        _aside(root).mkdir()
        root.replace(_aside(root) / root.name)


def _put_back(fresh: Path, root: Path) -> None:
    """Undo one swap, however far it went: the fresh folder is gone from where it was made."""
    old = _aside(root) / root.name
    if root.exists() and not fresh.exists():
        root.replace(fresh)
    if old.exists() and not root.exists():
        old.replace(root)


def _drop_empty(top: Path, folder: Path) -> None:
    while folder != top and folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


def _unwritten(root: Path, exc: OSError) -> StagebenchError:
    return StagebenchError(
        f"can't write the baselines of {root}: {exc.strerror}",
        hint="no baseline was changed; free some space or fix the permissions, then accept again",
    )
