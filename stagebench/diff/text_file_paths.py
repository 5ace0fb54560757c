"""Do two messages differ only in the folder of the Python file that they name?

An assertion's message carries the path of the kernel's file on the machine that lowered it.  Only
the folders of an absolute path before a ``.py`` name, inside a string, are put aside; the name and
everything else of the string must be equal.  Directives are left alone: there a path is a file.
"""

from __future__ import annotations

import re

from stagebench.diff.text_pair import Side, TextPair

FILE_PATHS = "file-paths"

_FOLDERS = re.compile(r"(?<![\w./+-])/(?:[\w.+-]+/)*(?=[\w.+-]+\.py\b)")


def drop_folders(pair: TextPair) -> None:
    """Leave out the folders on both sides."""
    for side in (pair.left, pair.right):
        _drop(side)


def _drop(side: Side) -> None:
    for number, line in enumerate(side.lines):
        if ".py" in line.text and not line.directive and number not in side.dropped:
            side.rewrite(
                FILE_PATHS,
                number,
                tuple(
                    [
                        _FOLDERS.sub("", word) if word[-1] in "\"'" else word
                        for word in side.words[number]
                    ]
                ),
            )
