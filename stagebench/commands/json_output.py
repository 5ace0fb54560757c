"""Where does a command's ``--json`` go?  To a file, whole or not at all, or to standard output."""

from __future__ import annotations

import sys
from pathlib import Path

from stagebench.commands.output_place import check_file, write_output

STDOUT = "-"
_OPTION = "--json"


def check_json(target: str | None) -> None:
    """Raise `UsageError`, before any work, where ``--json target`` can't be written."""
    if target not in (None, STDOUT):
        check_file(Path(str(target)), _OPTION)


def write_json(value: object, target: str) -> None:
    """Write a record to ``target``, or to standard output for ``-``.

    Raises `UsageError` where the file can't be written.
    """
    from stagebench.model.codec import encode_pretty

    data = encode_pretty(value)
    if target == STDOUT:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    write_output(Path(target), data, _OPTION)
