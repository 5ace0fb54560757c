"""Which differences between two compilers say only how each of them spells the same thing?

The name of an intrinsic (what it does is the site's ``op``), the dialect that a pass is registered
under (``tir.`` became ``tirx.``), and words of a statement that an older release can't give.
Within one compiler version each of these is a fact like any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import msgspec

from stagebench.diff.fact_change import FactChange
from stagebench.model import Compiler, ParamValue

_INTRINSIC = re.compile(r"sync_ops\[.*\]\.intrinsic", re.DOTALL)
_SUMMARY = re.compile(r"pipeline_loops\[.*\]\.statements\.summary", re.DOTALL)
_CLAUSES = re.compile(r"[;:] ")
_DIALECT = re.compile(r"(?<![\w.])(?:tirx|tir|s_tir)\.(?=\w)")


def marked_spelling(
    changes: Iterable[FactChange], left: Compiler, right: Compiler
) -> Iterator[FactChange]:
    """The changes; those that are of no more than words have the kind ``spelling``."""
    for change in changes:
        spelled = (
            change.kind == "fact"
            and change.presence == "both"
            and only_spelled(change.path, (change.left, change.right), left, right)
        )
        yield msgspec.structs.replace(change, kind="spelling") if spelled else change


def only_spelled(
    path: str, values: tuple[ParamValue, ParamValue], left: Compiler, right: Compiler
) -> bool:
    """Whether the two values of a fact are one thing in the words of two compilers or releases."""
    if left == right:
        return False
    if _INTRINSIC.fullmatch(path):
        return True
    if is_summary(path):
        return left.name != right.name or _same_statements(*values)
    return same_but_for_dialect(*values)


def is_summary(path: str) -> bool:
    """Whether the fact is what the statements of a loop do, in words."""
    return _SUMMARY.fullmatch(path) is not None


def same_but_for_dialect(left: ParamValue, right: ParamValue) -> bool:
    """Whether two texts, or two lists of them, differ in TVM's name of its dialect alone."""
    ones, twos = texts_of(left), texts_of(right)
    return bool(ones) and [_DIALECT.sub("", one) for one in ones] == [
        _DIALECT.sub("", two) for two in twos
    ]


def dialects_of(text: str) -> list[str]:
    """Each name of a dialect in a text, in order: ``["tir."]`` of ``tir.Simplify``."""
    return _DIALECT.findall(text)


def clauses_of(text: str) -> list[str]:
    """The parts of a statement's words, each of one operator: ``copy A → s; reduce``."""
    return _CLAUSES.split(text)


def texts_of(value: ParamValue) -> list[str]:
    """The texts of a value; none where it is, or has in it, anything else."""
    several = value if isinstance(value, tuple) else (value,)
    texts = [each for each in several if isinstance(each, str)]
    return texts if len(texts) == len(several) else []


def _same_statements(left: ParamValue, right: ParamValue) -> bool:
    """Whether each pair of statements is the same, clause by clause."""
    ones, twos = (
        [clauses_of(_DIALECT.sub("", text)) for text in texts_of(value)] for value in (left, right)
    )
    return [len(one) for one in ones] == [len(two) for two in twos] and all(
        _same_clause(*pair)
        for one, two in zip(ones, twos, strict=True)
        for pair in zip(one, two, strict=True)
    )


def _same_clause(one: str, two: str) -> bool:
    """Whether one of them is the other, or its operator alone (``reduce`` of ``reduce a → b``)."""
    return one == two or one == two.partition(" ")[0] or two == one.partition(" ")[0]
