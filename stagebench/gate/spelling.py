"""Which changes does a check let pass since two compilers only spell the same thing otherwise?

What that is, `stagebench.diff.spelling` says; here it is asked of every change that is judged,
also of those that are none of the facts (the pass in which both failed).
"""

from __future__ import annotations

from stagebench.diff.spelling import only_spelled
from stagebench.gate.allowance import Change
from stagebench.model import Compiler
from stagebench.model.verdict import Rule

SPELLED = Rule(pattern="spelled otherwise by another compiler", action="ignore", source="default")
"""The rule that lets these pass; reports list them in one line."""


def spelled_otherwise(change: Change, then: Compiler, now: Compiler) -> bool:
    """Whether the change is of no more than words, between two compilers or two releases of one."""
    if change.kind != "fact" or change.presence != "both":
        return False
    return only_spelled(change.path, (change.left, change.right), then, now)
