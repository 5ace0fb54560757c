"""What do compared variants share, what tells each from the others, and how is a pass called?"""

from __future__ import annotations

from collections.abc import Sequence

from stagebench.diff.pass_compare import (
    MatrixRow,
    PassDifference,
    PassesDiff,
    PassMatrix,
    TimelineEntry,
)
from stagebench.model import ParamValue, Variant
from stagebench.report import identity


def titles(diff: PassesDiff) -> tuple[str, str, str]:
    """What is compared: what both variants share, then what tells each from the other."""
    both = (diff.left, diff.right)
    return shared_title(both), distinct(diff.left, both), distinct(diff.right, both)


def shared_title(variants: Sequence[Variant]) -> str:
    """What several variants have in common, in one line."""
    one = variants[0]
    parts = [
        text
        for read in (_kernel, _arch, _compiler)
        if len({read(variant) for variant in variants}) == 1
        for text in (read(one),)
    ]
    return " · ".join(parts)


def distinct(variant: Variant, variants: Sequence[Variant]) -> str:
    """What tells one variant from the others: its values that are not the same everywhere."""
    parts = [
        text(variant)
        for text in (_kernel, _arch, _compiler)
        if len({text(other) for other in variants}) > 1
    ]
    for name in dict.fromkeys(name for other in variants for name in _values(other)):
        said = _said(variant, name)
        if any(_said(other, name) != said for other in variants):
            parts.append(said)
    return ", ".join(parts) or "the same variant"


def _values(variant: Variant) -> dict[str, ParamValue]:
    return {**variant.params, **variant.pass_configs}


def _said(variant: Variant, name: str) -> str:
    values = _values(variant)
    return f"{name}={identity.value_text(values[name])}" if name in values else f"{name} not set"


def _kernel(variant: Variant) -> str:
    return variant.kernel


def _arch(variant: Variant) -> str:
    return variant.arch


def _compiler(variant: Variant) -> str:
    return identity.compiler(variant)


def pass_name(each: PassDifference | TimelineEntry | MatrixRow) -> str:
    """A pass by name, with its number where it is not the first run of that name."""
    return each.name if each.number == 1 else f"{each.name}#{each.number}"


def matrix_title(matrix: PassMatrix, among: Sequence[PassMatrix]) -> str:
    """What the variants of a matrix share, and what tells it from others of a run."""
    shown = [each for each in among if each.variants]
    one = matrix.variants[0]
    names = dict.fromkeys(name for each in shown for name in _values(each.variants[0]))
    parts = [
        _said(one, name)
        for name in names
        if len({_said(variant, name) for variant in matrix.variants}) == 1
        and any(_said(other, name) != _said(one, name) for m in shown for other in m.variants)
    ]
    return " · ".join((shared_title(matrix.variants), *([", ".join(parts)] if parts else [])))
