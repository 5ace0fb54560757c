"""Where does a command's ``--json`` go?  To a file, whole or not at all, or to standard output."""

from __future__ import annotations

import sys
from pathlib import Path

from stagebench.errors import UsageError

STDOUT = "-"


def write_json(value: object, target: str) -> None:
    """Write a record to ``target``, or to standard output for ``-``.

    Raises `UsageError` where the file can't be written.
    """
    from stagebench.dump.atomic_file import write_file
    from stagebench.model.codec import encode_pretty

    data = encode_pretty(value)
    if target == STDOUT:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    try:
        write_file(Path(target), data)
    except OSError as exc:
        raise UsageError(f"can't write {target}: {exc.strerror or exc}") from exc
