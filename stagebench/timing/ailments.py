"""What is said of a depth, or of one of its builds, that has no time that counts?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stagebench.model.audit_finding import AuditFinding
from stagebench.model.timing import BuildProblem, RunVerdict, VariantTiming


@dataclass(frozen=True)
class Ailment:
    """``word`` fits into a cell, ``said`` behind a depth: "3 hangs"."""

    word: str
    said: str

    @property
    def why(self) -> str:
        """As a reason for leaving a depth out: ``output wrong``, ``hangs``."""
        return "output wrong" if self.word == "wrong" else self.word


_AILMENTS: Mapping[RunVerdict | None, Ailment] = {
    "wrong": Ailment("wrong", "is wrong"),
    "race": Ailment("race", "has a race"),
    "fails": Ailment("fails", "fails"),
    "hangs": Ailment("hangs", "hangs"),
    "not_run": Ailment("not run", "was not run"),
    None: Ailment("wrong", "is wrong or has a race"),
}
"""``None``: a record from before verdicts were kept."""

_PROBLEMS: Mapping[BuildProblem, str] = {
    "other_bits": "computes other bits",
    "fails": "fails",
    "hangs": "hangs",
    "not_run": "was not run",
}


def ailment(timing: VariantTiming) -> Ailment:
    """Of a depth that is ``bad``."""
    return _AILMENTS[timing.verdict]


def bad_depths(timings: Sequence[VariantTiming]) -> dict[str, tuple[int, ...]]:
    """The depths without a time that counts, ascending, by why."""
    found: dict[str, list[int]] = {}
    for each in timings:
        if each.bad and each.num_stages is not None:
            found.setdefault(ailment(each).why, []).append(each.num_stages)
    return {why: tuple(sorted(depths)) for why, depths in found.items()}


def refusals(timing: VariantTiming) -> tuple[tuple[str, str], ...]:
    """The builds of which nothing is used, and why: ``("probed", "hangs")``."""
    return tuple((build, _PROBLEMS[problem]) for build, problem in timing.refused.items())


def finding_told(found: AuditFinding) -> str:
    """What an audit found, with its build: ``probed: registers are spilled: 0 → 64 bytes``."""
    return f"{found.build}: {found.message}"
