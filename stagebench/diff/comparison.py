"""What did a comparison of two inputs find, and are they equal?"""

from __future__ import annotations

from dataclasses import dataclass

from stagebench.diff.fact_change import FactChange
from stagebench.diff.fact_changes import code_differs
from stagebench.diff.failures import fail_alike
from stagebench.diff.text_input import Input
from stagebench.diff.text_records import TextDiff
from stagebench.model import Failure


@dataclass(frozen=True)
class Comparison:
    """Both sides and what differs.

    ``facts`` is ``None`` where a side is no dump or both failed, ``text`` where a side has no CUDA
    (it failed).  ``no_since`` says why no fact has a ``since``, if so.
    """

    left: Input
    right: Input
    facts: tuple[FactChange, ...] | None
    no_since: str | None
    text: TextDiff | None

    @property
    def equal(self) -> bool | None:
        """Whether no fact and no text differs; ``None``: nothing was compared, both failed."""
        if self.facts is None and self.text is None:
            return None
        return (self.text is None or self.text.equal) and not code_differs(self.facts or ())

    @property
    def fails_alike(self) -> bool | None:
        """Whether the two fail with the same message; ``None``: they do not both fail."""
        left, right = failure_of(self.left), failure_of(self.right)
        return None if left is None or right is None else fail_alike(left, right)


def failure_of(side: Input) -> Failure | None:
    """Why a side was not lowered; ``None``: it was, or it is no dump."""
    return None if side.dump is None else side.dump.result.failure
