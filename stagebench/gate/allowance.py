"""What may happen to a fact?  The words of a rule, and whether they allow a change.

``exact`` · ``ignore`` · ``may change`` · ``may shrink`` · ``may grow`` · ``may grow up to X %`` ·
``may appear`` · ``may vanish`` · ``notes may appear`` · ``must appear`` · ``must not vanish``;
several are joined by commas.  Every ``must`` has to hold; of the ``may`` one has to, and where
there is none, what the ``must`` do not forbid is allowed.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import Literal

from stagebench.errors import UsageError
from stagebench.model import ParamValue
from stagebench.model.verdict import ChangeKind, FactGroup, Presence

ACTIONS = (
    "exact", "ignore", "may change", "may shrink", "may grow", "may grow up to X %",
    "may appear", "may vanish", "notes may appear", "must appear", "must not vanish",
)  # fmt: skip
_UP_TO = re.compile(r"may grow up to (\d+(?:\.\d+)?) ?%")
_ALONE = ("exact", "ignore")


@dataclass(frozen=True)
class Change:
    """One difference as a rule sees it; the fields are those of `FactChange`.

    ``note``: it is about a diagnostic that is only a note.  ``line`` is where in the baseline's
    file it is, where that is known already.
    """

    path: str
    group: FactGroup
    kind: ChangeKind
    presence: Presence
    follows: bool
    text: str
    left: ParamValue
    right: ParamValue
    note: bool = False
    line: int | None = None

    @property
    def vanished(self) -> bool:
        """Whether something became nothing: gone, zero, none or not known."""
        return self.presence == "left" or (_is(self.left) and not _is(self.right))

    @property
    def appeared(self) -> bool:
        """Whether nothing became something."""
        return self.presence == "right" or (_is(self.right) and not _is(self.left))


@dataclass(frozen=True)
class Allowance:
    """The clauses of one rule; ``percent`` is the limit of ``may grow`` (``None``: no limit)."""

    clauses: tuple[str, ...]
    percent: float | None

    def judge(self, change: Change) -> tuple[bool, str]:
        """Whether the change is allowed, and why in words."""
        if self.clauses == ("exact",):
            return False, "must be exactly as in the baseline"
        if "ignore" in self.clauses:
            return True, "ignored"
        if change.vanished and self.asks("must"):
            return False, "must not vanish"
        may = [clause for clause in self.clauses if not clause.startswith("must")]
        if not may:
            return True, "may change, and did not vanish"
        reasons = [self._may(clause, change) for clause in may]
        allowed = [why for yes, why in reasons if yes]
        return (True, allowed[0]) if allowed else (False, "; ".join(why for _, why in reasons))

    def asks(self, word: Literal["must", "must appear"]) -> bool:
        """Whether a clause starts with this."""
        return any(clause.startswith(word) for clause in self.clauses)

    def _may(self, clause: str, change: Change) -> tuple[bool, str]:
        if clause == "may change":
            return True, "may change"
        if clause == "may appear":
            return change.appeared, "may appear" if change.appeared else "may only appear"
        if clause == "may vanish":
            return change.vanished, "may vanish" if change.vanished else "may only vanish"
        if clause == "notes may appear":
            new_note = change.note and change.presence == "right"
            return new_note, "a new note" if new_note else "only notes may be new"
        return self._size(clause, change)

    def _size(self, clause: str, change: Change) -> tuple[bool, str]:
        pairs = _numbers(change.left, change.right)
        if pairs is None:
            return False, f"{clause}: not numbers on both sides"
        if clause == "may shrink":
            grew = any(right > left for left, right in pairs)
            return not grew, "may only shrink, and grew" if grew else "may shrink"
        if any(right < left for left, right in pairs):
            return False, "may only grow, and shrank"
        if self.percent is None:
            return True, "may grow"
        most = max(_growth(left, right) for left, right in pairs)
        said = "from zero" if most == float("inf") else f"by {most:.4g} %"
        return most <= self.percent, f"grew {said}, allowed: {self.percent:g} %"


def parse_action(text: str, where: str) -> Allowance:
    """Read a rule's words; `UsageError` names ``where`` they stand and the nearest words."""
    clauses: list[str] = []
    percent: float | None = None
    for part in text.split(","):
        clause = " ".join(part.lower().split())
        limit = _UP_TO.fullmatch(clause)
        if limit:
            clause, percent = "may grow", float(limit[1])
        elif clause not in ACTIONS or clause.endswith("X %"):
            near = difflib.get_close_matches(clause, ACTIONS, n=1, cutoff=0.4)
            raise UsageError(
                f"{where}: {text!r} is no rule",
                hint=(f"did you mean {near[0]!r}? " if near else "")
                + "there are: " + ", ".join(ACTIONS),
            )  # fmt: skip
        if clause in clauses:
            raise UsageError(f"{where}: {text!r} says {clause!r} twice")
        clauses.append(clause)
    alone = next((clause for clause in clauses if clause in _ALONE), None)
    if alone and len(clauses) > 1:
        raise UsageError(f"{where}: {alone!r} stands alone, not with other rules ({text!r})")
    return Allowance(tuple(clauses), percent)


def _is(value: ParamValue) -> bool:
    """Whether a value is something: not zero, none, empty or unknown."""
    return bool(value)


def _numbers(left: ParamValue, right: ParamValue) -> list[tuple[float, float]] | None:
    """The pairs of numbers that two values are made of; ``None`` where they are not."""
    ones = left if isinstance(left, tuple) else (left,)
    twos = right if isinstance(right, tuple) else (right,)
    numbers = [_number(value) for value in ones], [_number(value) for value in twos]
    pairs = [
        (one, two)
        for one, two in zip(*numbers, strict=False)
        if one is not None and two is not None
    ]
    return pairs if pairs and len(ones) == len(twos) == len(pairs) else None


def _number(value: object) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _growth(left: float, right: float) -> float:
    if left == right:
        return 0.0
    return float("inf") if left <= 0 else 100.0 * (right - left) / left
