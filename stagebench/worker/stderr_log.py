"""What did the compiler print while it lowered this variant?

The child's descriptors 1 and 2 are a file (see `stagebench.worker.server`), so that the C++ side's
lines are seen too.  Warnings are facts: time stamps and source paths in front are cut off, because
the same input must give the same text on any machine.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys

_MAX_BYTES = 256 * 1024
_HEADER_BYTES = 128
_WARNINGS = (
    # C++: [12:34:56] /a/file.cc:12: Warning: text
    re.compile(r"(?:\[\d\d:\d\d:\d\d\] )?(?:\S+:\d+: )?warning: (?P<text>.+)", re.IGNORECASE),
    # TileLang's logger: 2026-01-02 12:34:56  [TileLang:tilelang.engine:WARNING] (lower.py:12): text
    re.compile(r"[-\d]+ [:,\d]+\s+\[TileLang:\S+:WARNING\](?: \(\S+:\d+\))?: (?P<text>.+)"),
)


def compiler_warnings() -> tuple[str, ...]:
    """The distinct warnings printed so far by this process, in order; empty where none is kept."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, OSError, ValueError):  # the kernel may close them
            stream.flush()
    try:
        printed = os.pread(2, _MAX_BYTES, _HEADER_BYTES).decode(errors="replace")
    except OSError:  # a terminal or a pipe: not run by the server
        return ()
    lines = [line.strip() for line in printed.splitlines()]
    found = (pattern.fullmatch(line) for line in lines for pattern in _WARNINGS)
    return tuple(dict.fromkeys(match["text"].strip() for match in found if match))
