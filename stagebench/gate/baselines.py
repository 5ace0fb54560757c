"""Which dumps have been accepted for an experiment, and can each be trusted to be whole?

``dumps/<experiment>/`` is a dump directory (`stagebench.dump.files`) with a ``baseline.json``.
Files are refused, never repaired: links, files of absurd size, conflict markers, text that is not
UTF-8, JSON that is not ours; the message names the file and what to do.  Writes nothing.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from stagebench.dump.atomic_file import UNFINISHED
from stagebench.dump.files import (
    CUDA,
    FACTS,
    LAUNCH,
    MACHINE,
    PASSES,
    SNAPSHOTS,
    Dump,
    read_dump,
)
from stagebench.dump.place import VARIANT
from stagebench.errors import DumpError
from stagebench.gate.kernel_text import defines
from stagebench.model import Compiler, Record
from stagebench.model.codec import decode

BASELINE = "baseline.json"
ASIDE = f"{UNFINISHED}old-"
"""How the folder is called in which `accept` keeps the old baselines while it swaps them."""
_MAX_BYTES = 64 << 20
_MARKERS = (b"<<<<<<< ", b"=======\n", b">>>>>>> ", b"||||||| ")


class Accepted(Record, frozen=True, kw_only=True):
    """One run of ``accept``: why, with what, and how many variants it wrote."""

    reason: str
    stagebench: str
    compiler: Compiler
    created: int
    fixed: int
    trimmed: int


class BaselineFile(Record, frozen=True, kw_only=True):
    """``baseline.json``: who accepted these dumps and why, the newest first."""

    schema_version: Literal[1]
    accepted: tuple[Accepted, ...]


@dataclass(frozen=True)
class Baseline:
    """One accepted dump; ``name`` is its folder below the experiment's."""

    name: str
    dump: Dump

    @property
    def folder(self) -> Path:
        """Where its files are."""
        return Path(self.dump.folder)


@dataclass(frozen=True)
class BaselineSet:
    """What a check compares with.

    ``root`` is the folder that was read; ``shown`` how its place is told to people, relative to
    the project.  ``said`` says in words what it is.
    """

    root: Path
    shown: str
    said: str
    baselines: tuple[Baseline, ...]


def read_baselines(root: Path, *, shown: str, said: str, accepted: bool = True) -> BaselineSet:
    """Everything accepted below ``root``; no baselines where the folder is not there.

    ``accepted``: they are `accept`'s, so that its history has to be there too; the dumps of a run
    have none.  Raises `DumpError` where one of them can't be trusted.
    """
    left_aside = root.parent / f"{ASIDE}{root.name}"
    if not root.exists() and left_aside.is_dir():
        raise DumpError(
            f"an `accept` was killed while it put the new baselines in place of {root}",
            hint=f"the old ones are whole: mv {left_aside / root.name} {root}",
        )
    if root.is_symlink():
        raise _link(root)
    if not root.exists():
        return BaselineSet(root, shown, said, ())
    if not root.is_dir():
        raise DumpError(f"{root} is a file, where a folder of baselines should be")
    read_history(root)
    found = [
        Baseline(name=folder.relative_to(root).as_posix(), dump=_read(folder))
        for folder in _folders(root)
    ]
    if accepted and found and not (root / BASELINE).is_file():
        raise DumpError(
            f"{root / BASELINE} is not there: nothing says who accepted the "
            f"{len(found)} baselines beside it, and why",
            hint=f"restore it (`git checkout -- {root / BASELINE}`), or delete {root} and "
            "`stagebench accept`",
        )
    return BaselineSet(root, shown, said, tuple(found))


def baseline_folders(dumps: Path) -> list[Path]:
    """The folders below ``dumps`` that `accept` has written: they have a ``baseline.json``."""
    if not dumps.is_dir():
        return []
    return [
        folder
        for folder in sorted(dumps.iterdir())
        if not folder.name.startswith(UNFINISHED)
        and not folder.is_symlink()
        and (folder / BASELINE).is_file()
    ]


def read_history(root: Path) -> BaselineFile:
    """``baseline.json`` of the folder; an empty history where there is none."""
    path = root / BASELINE
    if not path.exists() and not path.is_symlink():
        return BaselineFile(schema_version=1, accepted=())
    data = _guarded(path)
    try:
        return decode(data, BaselineFile, str(path))
    except (DumpError, UnicodeDecodeError) as exc:
        raise _unreadable(path, data, exc) from exc


def _folders(root: Path) -> Iterator[Path]:
    """Folders of dumps, sorted; a half-made one of a killed process is no baseline."""
    for entry in sorted(root.iterdir()):
        if entry.name.startswith(UNFINISHED):
            continue
        if entry.is_symlink():
            raise _link(entry)
        if entry.is_dir():
            names = {path.name for path in entry.iterdir()}
            if names & {VARIANT, FACTS, LAUNCH, CUDA}:
                yield entry
            else:
                yield from _folders(entry)


def _read(folder: Path) -> Dump:
    """A dump whose every file was looked at first."""
    contents: dict[str, bytes] = {}
    for name in (VARIANT, FACTS, LAUNCH, PASSES, MACHINE, CUDA):
        path = folder / name
        if path.exists() or path.is_symlink():
            contents[name] = _guarded(path)
    if (folder / SNAPSHOTS).is_symlink():
        raise _link(folder / SNAPSHOTS)
    if CUDA in contents and _marked(contents[CUDA]):
        raise _unreadable(folder / CUDA, contents[CUDA], None)
    try:
        return _whole(folder, read_dump(folder))
    except (DumpError, UnicodeDecodeError) as exc:
        said = str(exc)
        told = next((name for name in contents if str(folder / name) in said), None)
        if told is None:
            hint = _restore(folder)
            raise DumpError(f"{folder}: {said.removeprefix(f'{folder} ')}", hint=hint) from exc
        raise _unreadable(folder / told, contents[told], exc) from exc


def _whole(folder: Path, dump: Dump) -> Dump:
    """The dump, if the kernel that it launches is in its CUDA from head to end."""
    facts = dump.result.facts
    if facts is not None and not defines(dump.kernel_cu or "", facts.launch.function):
        raise DumpError(f"{folder / CUDA}: the kernel {facts.launch.function} is not whole in it")
    return dump


def _guarded(path: Path) -> bytes:
    """The bytes of a plain file of a sane size."""
    try:
        state = path.lstat()
        if stat.S_ISLNK(state.st_mode):
            raise _link(path)
        if not stat.S_ISREG(state.st_mode):
            raise DumpError(f"{path} is no file", hint=_restore(path))
        if state.st_size > _MAX_BYTES:
            raise DumpError(
                f"{path} has {state.st_size / (1 << 20):,.0f} MiB: no baseline is that large",
                hint=_restore(path),
            )
        return path.read_bytes()
    except OSError as exc:
        raise DumpError(f"{path}: {exc.strerror}") from exc


def _restore(path: Path) -> str:
    """What to do about a damaged file, or folder, of a baseline: `accept` reads it too."""
    gone = path if path.is_dir() or path.name == BASELINE else path.parent
    return f"restore it (`git checkout -- {path}`), or delete {gone} and `stagebench accept`"


def _link(path: Path) -> DumpError:
    return DumpError(
        f"{path} is a symbolic link: a baseline must be a plain file",
        hint="put the files themselves there; --dumps DIR names another folder of baselines",
    )


def _marked(data: bytes) -> int | None:
    """The 1-based line of the first conflict marker."""
    for number, line in enumerate(data.split(b"\n"), start=1):
        if line.startswith((_MARKERS[0], _MARKERS[2], _MARKERS[3])):
            return number
    return None


def _unreadable(path: Path, data: bytes, cause: Exception | None) -> DumpError:
    """What is wrong with a file, in the order in which a person would look."""
    line = _marked(data)
    if line is not None:
        return DumpError(
            f"{path}:{line}: merge conflict markers in a baseline",
            hint="take either side (`git checkout --ours/--theirs -- FILE`), then run "
            "`stagebench check`: it says what is left to accept",
        )
    hint = _restore(path)
    try:
        data.decode()
    except UnicodeDecodeError as exc:
        number = data[: exc.start].count(b"\n") + 1
        return DumpError(f"{path}:{number}: not UTF-8 (byte {exc.start})", hint=hint)
    if not data.strip():
        return DumpError(f"{path} is empty", hint=hint)
    said = str(cause) if cause else "damaged"
    return DumpError(said if str(path) in said else f"{path}: {said}", hint=hint)
