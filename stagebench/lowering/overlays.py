"""How does another release of a compiler come to be on this machine?  As a folder in the cache.

An overlay holds one wheel of TileLang or Apache TVM with what goes with it of `BESIDE` (TileLang's
libraries find those beside them), and is put in front of this environment's packages, whose torch
it shares.  pip fetches and unpacks, first the wheel, then what its metadata demands: what is
finished stays when the making is interrupted, and only an overlay that a worker could import gets
its name.  One that has broken since is made again by `Overlays.add`.  One process makes it, the
others wait.  Overlays are for one Python version and machine.

Does not handle: dependencies of a release that this environment lacks; its import says so.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import stagebench.lowering
from stagebench.errors import MachineError
from stagebench.lowering.compiler_choice import COMPILERS, Release, distribution_of
from stagebench.lowering.compiler_environment import (
    CompilerEnvironment,
    environment_in_front,
    worker_environ,
)
from stagebench.lowering.import_mark import import_ended
from stagebench.lowering.installed_packages import BESIDE, find_distribution, requirement
from stagebench.lowering.overlay_folder import (
    UNFINISHED,
    damage,
    folder_name,
    made_again,
    release_of,
    size_of,
    write_packages,
)
from stagebench.lowering.tested_releases import beside

if TYPE_CHECKING:
    from stagebench.lowering.pip_failure import PipFailure

FOLDER = "compilers"
_REMOVED = ".removed-"
_LOCK = ".lock-"
_PART = ".part-"
_PIP = Path(stagebench.lowering.__file__).with_name("pip_main.py")


class Overlays:
    """The overlays of one cache folder.  ``tell`` is told what takes long."""

    def __init__(self, cache_folder: Path, tell: Callable[[str], None]) -> None:
        python = f"{sys.implementation.cache_tag}-{platform.machine()}"
        self.folder = cache_folder / FOLDER / python
        self._tell = tell

    def find(self, release: Release) -> Path | None:
        """The overlay of a release, if it has been made; `MachineError` where it is damaged."""
        folder = self.folder / folder_name(release)
        if not folder.is_dir():
            return None
        broken = damage(folder)
        if broken is not None:
            raise MachineError(
                f"{release} is damaged in the cache: {broken}",
                hint=made_again(release),
            )
        return folder

    def all(self) -> tuple[Path, ...]:
        """Every folder that has the name of a finished overlay or a stray one, oldest first."""
        if not self.folder.is_dir():
            return ()
        found = [path for path in self.folder.iterdir() if path.is_dir()]
        names = [path.name for path in found if not path.name.startswith(".")]
        return tuple(self.folder / name for name in sorted(names, key=_age))

    def unfinished(self) -> tuple[Path, ...]:
        """The folders of overlays whose making was interrupted, or that can't be imported."""
        found = self.folder.glob(f"{UNFINISHED}*") if self.folder.is_dir() else ()
        return tuple(sorted(found, key=lambda path: _age(path.name.removeprefix(UNFINISHED))))

    def make(self, release: Release) -> Path:
        """The overlay of a release, made now where it is missing; `MachineError` if it can't be."""
        found = self.find(release)
        if found is not None:
            return found
        with self._writing(release):
            return self.find(release) or self._make(release)

    def add(self, release: Release) -> Path:
        """The overlay of a release that a worker can import: made, and made again where not.

        What was imported once is not imported again while its files are the same.
        """
        with self._writing(release):
            folder = self.folder / folder_name(release)
            if folder.is_dir():
                wrong = damage(folder) or _import_failure(folder, release)
                if wrong is None:
                    return folder
                self._tell(f"{release} is broken in the cache: {wrong}")
            return self._make(release)

    @contextlib.contextmanager
    def _writing(self, release: Release) -> Iterator[None]:
        """Hold the lock of one overlay, in a folder that is there; `MachineError` if it can't."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with self._alone(release):
                yield
        except OSError as exc:
            raise MachineError(
                f"{release} can't be put into {self.folder}: {exc.strerror or exc}",
                hint="STAGEBENCH_CACHE_DIR or XDG_CACHE_HOME names another cache folder",
            ) from exc

    def remove(self, release: Release) -> bool:
        """Delete an overlay and what is left of an interrupted making; whether there was any."""
        if not self.folder.is_dir():
            return False
        with self._alone(release):
            places = self._places(release)
            for place in places:
                self._discard(place, release)
        return bool(places)

    def _discard(self, place: Path, release: Release) -> None:
        place.rename(self._removed(release))
        self._clear(release)

    def _places(self, release: Release) -> list[Path]:
        """Where something of a release lies, under whatever spelling of its version."""
        named = ((path, path.name.removeprefix(UNFINISHED)) for path in self.folder.iterdir())
        return [path for path, name in named if path.is_dir() and release_of(name) == release]

    def _clear(self, release: Release) -> None:
        """Delete what is being removed, also by a removal that was killed."""
        shutil.rmtree(self._removed(release), ignore_errors=True)

    def _removed(self, release: Release) -> Path:
        return self.folder / f"{_REMOVED}{folder_name(release)}"

    def _make(self, release: Release) -> Path:
        self._tell(f"making {release} in {self.folder} (once)")
        name = folder_name(release)
        unfinished = self.folder / f"{UNFINISHED}{name}"
        unfinished.mkdir(exist_ok=True)
        own = distribution_of(release.name)
        self._part(unfinished, release.name, [f"{own}=={release.version}"], release)
        made = find_distribution(own, [str(unfinished)])
        if made is None:
            raise MachineError(f"the wheel of {release} does not hold {release.name}")
        tested = beside(release.name, str(release.version))
        demanded = {other: requirement(made, other) for other in BESIDE}
        demands = [
            f"{other}=={tested[other]}" if other in tested else demand
            for other, demand in demanded.items()
            if demand is not None
        ]
        if demands:
            self._part(unfinished, "beside", demands, release)
        names = [own, *(other for other, demand in demanded.items() if demand is not None)]
        found = {other: find_distribution(other, [str(unfinished)]) for other in names}
        write_packages(unfinished, {other: one.version for other, one in found.items() if one})
        if (self.folder / name).is_dir():  # a broken one, which can be replaced from here on
            self._discard(self.folder / name, release)
        check_import(environment_in_front(unfinished, release.name))
        for mark in unfinished.glob(f"{_PART}*"):
            mark.unlink()
        size_of(unfinished)
        unfinished.rename(self.folder / name)
        return self.folder / name

    def _part(self, folder: Path, name: str, demands: list[str], release: Release) -> None:
        """Install some distributions, unless an earlier try has."""
        mark = folder / f"{_PART}{name}"
        if mark.exists():
            return
        command = [
            sys.executable, "-I", str(_PIP), str(os.getpid()), "install", "--quiet", "--no-input",
            "--disable-pip-version-check", "--no-deps", "--no-compile", "--only-binary", ":all:",
            "--upgrade", "--target", str(folder), *demands,
        ]  # fmt: skip
        # exact versions are asked for: a project's constraints can only forbid them
        environ = {**worker_environ(), "PIP_CONSTRAINT": os.devnull, "PIP_USER": "0"}
        if environ.get("PIP_RETRIES") == "0":  # pip says that an index is silent when it retries
            environ["PIP_RETRIES"] = "1"
        done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
        if done.returncode:
            from stagebench.lowering.pip_failure import pip_failure

            failure = pip_failure(done.stderr, demands, self.folder)
            if not any(folder.glob(f"{_PART}*")):  # nothing of it that a next try could go on with
                shutil.rmtree(folder, ignore_errors=True)
            raise MachineError(
                f"{release} is not here and can't be fetched: {failure.message}",
                hint=self._hint(failure, release),
            )
        mark.touch()

    def _hint(self, failure: PipFailure, wanted: Release) -> str:
        whole = (release_of(path.name) for path in self.all() if damage(path) is None)
        there = ", ".join(str(release) for release in whole if release not in (None, wanted))
        work = f"made already, and at hand as ever: {there or 'none'}"
        return work if failure.hint is None else f"{failure.hint}; {work}"

    @contextlib.contextmanager
    def _alone(self, release: Release) -> Iterator[None]:
        """Hold the lock of one overlay; it falls when this process ends, however it does.

        Whoever finds nothing of the release when it is done deletes the lock's file; who has waited
        for a file that is gone meanwhile takes the lock of the new one.
        """
        lock = self.folder / f"{_LOCK}{folder_name(release)}"
        while True:
            handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o644)
            try:
                self._take(handle, release)
                if not _is_file_of(handle, lock):
                    continue
                self._clear(release)
                try:
                    yield
                finally:
                    if not self._places(release):
                        lock.unlink(missing_ok=True)
                return
            finally:
                os.close(handle)

    def _take(self, handle: int, release: Release) -> None:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._tell(f"waiting for another process that makes {release}")
            fcntl.flock(handle, fcntl.LOCK_EX)


def check_import(environment: CompilerEnvironment) -> None:
    """Raise `MachineError` where a worker can't import the compiler."""
    from stagebench.lowering.worker_process import must_start  # a list of overlays needs no worker

    must_start(environment)


def _import_failure(folder: Path, release: Release) -> str | None:
    """Why a worker can't import an overlay; ``None``: it can, or could with the same files."""
    if import_ended(folder, release.name, works=True):
        return None
    try:
        check_import(environment_in_front(folder, release.name))
    except MachineError as exc:
        return exc.message
    return None


def _is_file_of(handle: int, path: Path) -> bool:
    """Whether an open file is the one that lies there now."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def _age(name: str) -> tuple[int, object]:
    """Sorts folders by compiler and version; strays come last."""
    from packaging.version import Version

    release = release_of(name)
    if release is None:
        return (len(COMPILERS), name)
    return (COMPILERS.index(release.name), Version(str(release.version)))
