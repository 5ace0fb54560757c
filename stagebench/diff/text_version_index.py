"""Do two lines differ in nothing but the version of a buffer that they index?

A version is chosen as ``(k % 3) * 4096`` or ``(k & 1) * 4096``; with another count the operator, the
count and the distance to the version that is written change together.  Such a line is *shown*: it
is a difference.  It is only marked, so that a reader can skip it.

A line is marked if every word that differs is inside a subscript and is part of a choice of version
(``% 3``, ``& 1``), the number added before it (``(k + 1) & 1``), or an offset that differs by whole
versions; and if the line itself has such a choice on one of its sides.
"""

from __future__ import annotations

from collections.abc import Iterable

from stagebench.diff.text_functions import Words

VERSION_INDEX = "version-index"


class VersionIndex:
    """Marks changed lines of one comparison."""

    def learn(self, changed: Iterable[tuple[Words, Words]]) -> None:
        """See all changed lines first."""

    def marks(self, left: Words, right: Words) -> tuple[str, ...]:
        """The marks of a changed line."""
        return ()
