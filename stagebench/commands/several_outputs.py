"""Can all the files that a command is asked for be written?  Each to its place, none over an input.

Files that are the same by their names and links are one place; ``/dev/null`` takes any number.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from stagebench.commands.json_output import STDOUT, check_json
from stagebench.commands.output_place import check_file
from stagebench.errors import UsageError

_JSON = "--json"
_STDOUT = Path("/dev/stdout")


def check_outputs(
    json: str | None, others: Mapping[str, Path | None], inputs: Iterable[Path] = ()
) -> None:
    """Raise `UsageError`, before any work, where one can't be written or would be lost.

    ``-`` is standard output for ``--json`` alone; ``others`` are files by their options.
    """
    check_json(json)
    taken = {path.resolve(): f"{path} is read" for path in inputs}
    if json is not None:
        _take(taken, _JSON, _STDOUT if json == STDOUT else Path(json))
    for option, path in others.items():
        if path is None:
            continue
        if str(path) == STDOUT:
            raise UsageError(
                f"{option} -: only {_JSON} goes to standard output",
                hint=f"name a file; ./- for one of that name: {option} ./-",
            )
        check_file(path, option)
        _take(taken, option, path)


def _take(taken: dict[Path, str], option: str, path: Path) -> None:
    place = path.resolve()
    if place == Path(os.devnull):
        return
    if place in taken:
        raise UsageError(
            f"{option} {path}: {taken[place]}; one would be lost", hint=f"choose another {option}"
        )
    taken[place] = f"{option} is written there"
