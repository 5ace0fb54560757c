"""What did the compiler print while it lowered this variant?

The child's descriptors 1 and 2 are a file (see `stagebench.worker.server`), so that the C++ side's
lines are seen too.  Warnings are facts: time stamps and source paths in front are cut off, because
the same input must give the same text on any machine.
"""

from __future__ import annotations

import os
import re
import sys

_MAX_BYTES = 256 * 1024
_HEADER_BYTES = 128
_WARNING = re.compile(
    r"^(?:\[\d\d:\d\d:\d\d\] )?(?:\S+:\d+: )?(?:\d{4}-\d\d-\d\d \S+ )?"
    r"(?:\[?(?:TileLang\S*|W\w*)\]?[: ]+)*warning[: ]+(?P<text>.+)$",
    re.IGNORECASE,
)


def compiler_warnings() -> tuple[str, ...]:
    """The distinct warnings printed so far by this process, in order; empty where none is kept."""
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        printed = os.pread(2, _MAX_BYTES, _HEADER_BYTES).decode(errors="replace")
    except OSError:  # a terminal or a pipe: not run by the server
        return ()
    found = (_WARNING.match(line.strip()) for line in printed.splitlines())
    return tuple(dict.fromkeys(match["text"].strip() for match in found if match))
