"""Which differences between two compilers say only how each of them spells the same thing?

The name of an intrinsic (what it does is the site's ``op``), the dialect that a pass is registered
under (``tir.`` became ``tirx.``), and words of a statement that an older release can't give.
Within one compiler version each of these is a fact like any other.
"""

from __future__ import annotations

import re

from stagebench.gate.allowance import Change
from stagebench.gate.fact_pattern import has_form
from stagebench.model import Compiler, ParamValue
from stagebench.model.verdict import Rule

SPELLED = Rule(pattern="spelled otherwise by another compiler", action="ignore", source="default")
"""The rule that lets these pass; reports list them in one line."""

_INTRINSIC = "sync_ops[*].intrinsic"
_SUMMARY = "pipeline_loops[*].statements.summary"
_CLAUSES = re.compile(r"[;:] ")
_DIALECT = re.compile(r"(?<![\w.])(?:tirx|tir|s_tir)\.(?=\w)")


def spelled_otherwise(change: Change, then: Compiler, now: Compiler) -> bool:
    """Whether the change is of no more than words, between two compilers or two releases of one."""
    if then == now or change.kind != "fact" or change.presence != "both":
        return False
    if has_form(change.path, _INTRINSIC):
        return True
    if has_form(change.path, _SUMMARY):
        return then.name != now.name or _same_statements(change.left, change.right)
    return same_but_for_dialect(change.left, change.right)


def same_but_for_dialect(left: ParamValue, right: ParamValue) -> bool:
    """Whether two texts, or two lists of them, differ in TVM's name of its dialect alone."""
    ones, twos = texts_of(left), texts_of(right)
    return bool(ones) and [_DIALECT.sub("", one) for one in ones] == [
        _DIALECT.sub("", two) for two in twos
    ]


def texts_of(value: ParamValue) -> list[str]:
    """The texts of a value; none where it is, or has in it, anything else."""
    several = value if isinstance(value, tuple) else (value,)
    texts = [each for each in several if isinstance(each, str)]
    return texts if len(texts) == len(several) else []


def _same_statements(left: ParamValue, right: ParamValue) -> bool:
    """Whether each pair of statements is the same, clause by clause."""
    ones, twos = (
        [_CLAUSES.split(_DIALECT.sub("", text)) for text in texts_of(value)]
        for value in (left, right)
    )
    return [len(one) for one in ones] == [len(two) for two in twos] and all(
        _same_clause(*pair)
        for one, two in zip(ones, twos, strict=True)
        for pair in zip(one, two, strict=True)
    )


def _same_clause(one: str, two: str) -> bool:
    """Whether one of them is the other, or its operator alone (``reduce`` of ``reduce a → b``)."""
    return one == two or one == two.partition(" ")[0] or two == one.partition(" ")[0]
