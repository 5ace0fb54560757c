"""Why did pip not install these?  From what it printed: no index, no such version, no space, else.

pip ends all of them with the same exit code, and a version that does not exist and an index that
does not answer with the same last line; the lines before it tell them apart (pip 21 to 26).
"""

from __future__ import annotations

import platform
import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Kind = Literal["no_pip", "no_space", "no_index", "no_version", "else"]

_ERROR = "ERROR: "
_NO_SPACE = ("No space left on device", "[Errno 28]", "Disk quota exceeded", "[Errno 122]")
_NO_ANSWER = ("connection broken by '", "Could not fetch URL ", "HTTP error ")
_CAUSE = re.compile(
    r"Temporary failure in name resolution|Name or service not known|nodename nor servname|"
    r"Connection refused|Connection reset|Network is unreachable|No route to host|"
    r"timed out|CERTIFICATE_VERIFY_FAILED|Tunnel connection failed: [^'\")]*|"
    r"\d{3} (?:Client|Server) Error"
)
_NOT_FOUND = "Could not find a version that satisfies the requirement "
_VERSIONS = re.compile(r"\(from versions: (?P<versions>[^)]*)\)")
_SHOWN = 6


@dataclass(frozen=True)
class PipFailure:
    """What went wrong, in a line, with what may help (``None``: nothing in particular)."""

    kind: Kind
    message: str
    hint: str | None = None


def pip_failure(stderr: str, demands: Sequence[str], folder: Path) -> PipFailure:
    """Read what pip said while it installed ``demands`` into ``folder``."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    if any("No module named pip" in line for line in lines):
        return PipFailure("no_pip", "this environment has no pip", "python -m ensurepip")
    if any(word in line for word in _NO_SPACE for line in lines):
        return _no_space(folder)
    missing = next((line for line in lines if _NOT_FOUND in line), None)
    silent = [line for line in lines if any(word in line for word in _NO_ANSWER)]
    asked = f"pip install {' '.join(demands)}"
    if silent and (missing is not None or not any(line.startswith(_ERROR) for line in lines)):
        cause = next((match[0] for match in map(_CAUSE.search, silent) if match), None)
        said = "the package index does not answer" + (f" ({cause})" if cause else "")
        return PipFailure(
            "no_index", said, "connect, or name an index that answers (PIP_INDEX_URL, "
            "PIP_FIND_LINKS=FOLDER of wheels)",
        )  # fmt: skip
    if missing is not None:
        return _no_version(missing)
    errors = [line.removeprefix(_ERROR) for line in lines if line.startswith(_ERROR)]
    said = (errors or lines or ["pip failed without a word"])[-1]
    if said == "Exception:":  # a traceback follows: its last line says what it is
        said = lines[-1]
    return PipFailure("else", f"{said} ({asked})")


def _no_space(folder: Path) -> PipFailure:
    places = {"the cache": folder, "where pip unpacks, TMPDIR": Path(tempfile.gettempdir())}
    free = (
        f"{shutil.disk_usage(place).free >> 20} MiB free in {place} ({what})"
        for what, place in places.items()
    )
    return PipFailure(
        "no_space",
        f"no space left on the device: {', '.join(free)}",
        "STAGEBENCH_CACHE_DIR or XDG_CACHE_HOME names another cache, TMPDIR another place to "
        "unpack; `stagebench compilers` says what each takes, `stagebench compilers remove` makes "
        "room",
    )


def _no_version(line: str) -> PipFailure:
    wanted = line.partition(_NOT_FOUND)[2].partition(" (from")[0]
    match = _VERSIONS.search(line)
    versions = [] if match is None else match["versions"].split(", ")
    here = f"Python {platform.python_version()} on {platform.machine()}"
    if versions in ([], ["none"]):
        return PipFailure("no_version", f"no index that answers has a wheel of {wanted} for {here}")
    shown = [*(["…"] if len(versions) > _SHOWN else []), *versions[-_SHOWN:]]
    return PipFailure(
        "no_version", f"there is no wheel of {wanted} for {here} (there are: {', '.join(shown)})"
    )
