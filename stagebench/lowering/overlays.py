"""How does another release of a compiler come to be on this machine?  As a folder in the cache.

An overlay holds one TileLang wheel with the ``apache-tvm-ffi`` and ``z3-solver`` that go with it
(its libraries find those beside them), and is put in front of this environment's packages, whose
torch it shares.  pip fetches and unpacks, first the wheel, then what its metadata demands: what is
finished stays when the making is interrupted, and only a whole overlay gets its name.  One process
makes it, the others wait.  Overlays are made for one Python version and machine.

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
from typing import TYPE_CHECKING, Literal

from stagebench.dump.atomic_file import write_file
from stagebench.errors import MachineError
from stagebench.lowering.compiler_choice import Release, distribution_of
from stagebench.lowering.compiler_environment import worker_environ
from stagebench.lowering.installed_packages import find_distribution, requirement
from stagebench.lowering.tested_releases import beside
from stagebench.model import Record
from stagebench.model.codec import encode_pretty

if TYPE_CHECKING:
    from stagebench.lowering.pip_failure import PipFailure

FOLDER = "compilers"
_BESIDE = ("apache-tvm-ffi", "z3-solver")
_UNFINISHED = ".unfinished-"
_PART = ".part-"
PACKAGES = "packages.json"
SIZE = "size.txt"


class Packages(Record, frozen=True, kw_only=True):
    """``packages.json``: what an overlay consists of, distribution by version."""

    schema_version: Literal[1]
    packages: dict[str, str]


class Overlays:
    """The overlays of one cache folder.  ``tell`` is told what takes long."""

    def __init__(self, cache_folder: Path, tell: Callable[[str], None]) -> None:
        python = f"{sys.implementation.cache_tag}-{platform.machine()}"
        self.folder = cache_folder / FOLDER / python
        self._tell = tell

    def find(self, release: Release) -> Path | None:
        """The overlay of a release, if it has been made."""
        folder = self.folder / _folder_name(release)
        return folder if folder.is_dir() else None

    def all(self) -> tuple[Path, ...]:
        """All finished overlays, by name."""
        if not self.folder.is_dir():
            return ()
        found = [path for path in self.folder.iterdir() if path.is_dir()]
        return tuple(sorted(path for path in found if not path.name.startswith(".")))

    def unfinished(self) -> tuple[str, ...]:
        """The names of overlays whose making was interrupted."""
        if not self.folder.is_dir():
            return ()
        names = (path.name for path in self.folder.iterdir())
        return tuple(sorted(n.removeprefix(_UNFINISHED) for n in names if _UNFINISHED in n))

    def make(self, release: Release) -> Path:
        """The overlay of a release, made now where it is missing; `MachineError` if it can't be."""
        found = self.find(release)
        if found is not None:
            return found
        name = _folder_name(release)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with self._alone(name):
                found = self.find(release)
                return found or self._make(release, name)
        except OSError as exc:
            raise MachineError(
                f"{release} can't be put into {self.folder}: {exc.strerror or exc}",
                hint="STAGEBENCH_CACHE_DIR or XDG_CACHE_HOME names another cache folder",
            ) from exc

    def remove(self, release: Release) -> bool:
        """Delete an overlay and what is left of an interrupted making; whether there was any."""
        name = _folder_name(release)
        there = False
        if not self.folder.is_dir():
            return False
        with self._alone(name):
            for place in (self.folder / name, self.folder / f"{_UNFINISHED}{name}"):
                if place.is_dir():
                    there = True
                    gone = self.folder / f".removed-{os.getpid()}-{name}"
                    place.rename(gone)
                    shutil.rmtree(gone, ignore_errors=True)
        (self.folder / f".lock-{name}").unlink(missing_ok=True)
        return there

    def _make(self, release: Release, name: str) -> Path:
        self._tell(f"making {release} in {self.folder} (once; about 80 MB to fetch)")
        unfinished = self.folder / f"{_UNFINISHED}{name}"
        unfinished.mkdir(exist_ok=True)
        version = str(release.version)
        self._part(
            unfinished, release.name, [f"{distribution_of(release.name)}=={version}"], release
        )
        made = find_distribution(distribution_of(release.name), [str(unfinished)])
        if made is None:
            raise MachineError(f"the wheel of {release} does not hold {release.name}")
        tested = beside(release.name, version)
        demanded = {other: requirement(made, other) for other in _BESIDE}
        demands = [
            f"{other}=={tested[other]}" if other in tested else demand
            for other, demand in demanded.items()
            if demand is not None
        ]
        if demands:
            self._part(unfinished, "beside", demands, release)
        own = distribution_of(release.name)
        names = [own, *(other for other, demand in demanded.items() if demand is not None)]
        found = {other: find_distribution(other, [str(unfinished)]) for other in names}
        packages = {other: one.version for other, one in found.items() if one is not None}
        for mark in unfinished.glob(f"{_PART}*"):
            mark.unlink()
        record = Packages(schema_version=1, packages=packages)
        write_file(unfinished / PACKAGES, encode_pretty(record))
        size_of(unfinished)
        unfinished.rename(self.folder / name)
        return self.folder / name

    def _part(self, folder: Path, name: str, demands: list[str], release: Release) -> None:
        """Install some distributions, unless an earlier try has."""
        mark = folder / f"{_PART}{name}"
        if mark.exists():
            return
        command = [
            sys.executable, "-I", "-m", "pip", "install", "--quiet", "--no-input",
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
                hint=self._hint(failure),
            )
        mark.touch()

    def _hint(self, failure: PipFailure) -> str:
        there = ", ".join(path.name.replace("-", "==", 1) for path in self.all())
        work = f"made already, and at hand as ever: {there or 'none'}"
        return work if failure.hint is None else f"{failure.hint}; {work}"

    @contextlib.contextmanager
    def _alone(self, name: str) -> Iterator[None]:
        """Hold the lock of one overlay; it falls when this process ends, however it does."""
        handle = os.open(self.folder / f".lock-{name}", os.O_RDWR | os.O_CREAT, 0o644)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self._tell(f"waiting for another process that makes {name}")
                fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)


def size_of(overlay: Path) -> int:
    """What an overlay takes, in bytes: measured once, and kept beside it where that is possible."""
    kept = overlay / SIZE
    with contextlib.suppress(OSError, ValueError):
        return int(kept.read_text())
    size = _measured(overlay)
    with contextlib.suppress(OSError):
        write_file(kept, f"{size}\n".encode())
    return size


def _measured(root: Path) -> int:
    total = 0
    for folder, _, files in os.walk(root):
        total += sum(os.lstat(os.path.join(folder, name)).st_size for name in files)  # noqa: PTH118 - thousands of files
    return total


def _folder_name(release: Release) -> str:
    return f"{release.name}-{release.version}"
