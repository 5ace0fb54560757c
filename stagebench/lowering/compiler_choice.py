"""What does ``--compiler`` mean?  A release, a place where one is installed, or just a name.

``tilelang`` and ``tvm`` are this environment's; ``tilelang==0.1.14`` is that release;
``/path/to/venv``, the path of an interpreter, and that of a folder with a built ``tilelang``
package in it are places.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from stagebench.errors import UsageError
from stagebench.lowering.tested_releases import tested_range, tested_releases

COMPILERS = ("tilelang", "tvm")
"""The packages that have an adapter (`stagebench.worker`), as they are imported."""

_DISTRIBUTIONS = {"tvm": "apache-tvm"}
_COMPILERS_OF = {distribution: name for name, distribution in _DISTRIBUTIONS.items()}

_RELEASE = re.compile(r"(?P<name>[A-Za-z][\w.-]*)(?:==(?P<version>[\w.+!-]+))?")


@dataclass(frozen=True)
class Release:
    """A release of a compiler; ``version`` is ``None`` for this environment's.

    `parse_release` spells equal versions (PEP 440) alike: one release, one overlay.
    """

    name: str
    version: str | None

    def __str__(self) -> str:
        return self.name if self.version is None else f"{self.name}=={self.version}"


@dataclass(frozen=True)
class Place:
    """A virtual environment, an interpreter, or a folder that holds the compiler's package."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)


Choice = Release | Place


def distribution_of(compiler: str) -> str:
    """The name under which a compiler is installed."""
    return _DISTRIBUTIONS.get(compiler, compiler)


def parse_choice(text: str, flag: str = "--compiler") -> Choice:
    """Read one value of ``flag``; `UsageError` where it is neither."""
    path = Path(text).expanduser()
    if "/" in text or text in (".", "..") or text.startswith("~"):
        if not path.exists():
            raise UsageError(
                f"{flag} {text}: there is no such place",
                hint="a virtual environment, a python, or a folder with a built "
                f"{' or '.join(COMPILERS)} in it",
            )
        return Place(Path.cwd() / path)
    return parse_release(text, flag)


def parse_release(text: str, flag: str = "--compiler") -> Release:
    """Read ``NAME`` or ``NAME==VERSION``; `UsageError` where it is neither."""
    match = _RELEASE.fullmatch(text)
    name = "" if match is None else match["name"].lower()
    name = _COMPILERS_OF.get(name, name)
    if match is None or name not in COMPILERS:
        meant = ""
        if text and Path(text).exists():
            meant = f"did you mean ./{text}? "
        elif text[:1].isdigit():
            meant = f"did you mean {' or '.join(_of_version(text))}? "
        raise UsageError(
            f"{flag} {text}: not a compiler that stagebench knows",
            hint=f"{meant}tilelang or tvm (Apache TVM), either with ==VERSION, "
            "or the path of an environment",
        )
    version = match["version"]
    return Release(name, None if version is None else _spelled(name, version, flag))


def _of_version(text: str) -> list[str]:
    """The releases of that version: of those that were tested, else of any compiler."""
    tested = [name for name in COMPILERS if text in tested_releases(name)]
    return [f"{name}=={text}" for name in tested or COMPILERS]


def _spelled(name: str, text: str, flag: str) -> str:
    """A version in PEP 440's normal form with three numbers, as both compilers spell theirs."""
    from packaging.version import InvalidVersion, Version

    try:
        version = Version(text)
    except InvalidVersion as exc:
        raise UsageError(
            f"{flag} {name}=={text}: {text} is not a version",
            hint=f"the tested ones are {tested_range(name)}",
        ) from exc
    numbers = [*version.release, 0, 0][: max(3, len(version.release))]
    while len(numbers) > 3 and not numbers[-1]:
        numbers.pop()
    epoch = f"{version.epoch}!" if version.epoch else ""
    rest = str(version).removeprefix(version.base_version)
    return f"{epoch}{'.'.join(map(str, numbers))}{rest}"
