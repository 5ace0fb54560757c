"""What are the rules called, and what does each put aside?  Words only: ``--help`` reads this."""

from __future__ import annotations

SUMMARIES = {
    "line-directives": "#line directives are left out",
    "comments": "comments are left out (a number's decimal spelling, for one)",
    "whitespace": "blanks, blank lines and line ends; in TVMScript only where nesting stays equal",
    "file-paths": "folders of a .py file named in a message's string",
    "kernel-name": "the name of a __global__ function",
    "renames": "names of parameters and locals, one to one over the whole function",
    "parameter-order": "a kernel's parameters in another order, bound by name",
}
"""Rule → what it puts aside.  All are on but for ``--raw``."""

MARKS = {
    "version-index": "an index that differs by the count of versions alone: & 1 → % 3",
    "other-name": "same text, but a name in it is another variable",
    "directive": "same text, but part of a preprocessor directive on one side only",
    "nesting": "same text, but in another block",
    "line-feed": "same text, but a line feed ends it on one side only",
}
"""Mark → what it says of a changed line; a marked line is always shown."""

MIN_MOVED_LINES = 3
"""A block of fewer lines that say something is not called moved: they occur by chance."""

MIN_UNBALANCED_LINES = 8
"""Of lines that open a block and don't close it, fewer than so many are not called moved."""

MOVED = (
    f"moved: at least {MIN_MOVED_LINES} equal lines that are more than brackets, with the end of "
    "every block\nthat they open "
    f"({MIN_UNBALANCED_LINES} lines without it); fewer are removed and added"
)
"""What ``--help`` says of moved blocks."""
