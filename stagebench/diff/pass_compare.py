"""What did each pass do to two variants, or to one?  The records behind ``stagebench passes``.

`compare_passes` is about two variants, `pass_timeline` about one, `pass_matrices` about a whole
run, each variant against its left neighbour.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from stagebench.diff.fact_change import FactChange
from stagebench.diff.fact_changes import fact_changes
from stagebench.diff.pass_alignment import align_passes
from stagebench.diff.pass_divergence import (
    PassComparison,
    State,
    TwoLowerings,
    first_divergence,
)
from stagebench.diff.pass_readings import ReadingChange, reading_changes
from stagebench.diff.pass_runs import Lowering, PassStep
from stagebench.diff.pass_selection import select_passes
from stagebench.diff.pass_since import with_since
from stagebench.diff.text_records import Hunk
from stagebench.dump.files import Dump
from stagebench.errors import DumpError
from stagebench.model import Record, Variant


class PassEdit(Record, frozen=True, kw_only=True):
    """What a pass did to one side: the text before it (left of the rows) and after it (right)."""

    side: Literal["left", "right"]
    hunks: tuple[Hunk, ...]


class PassDifference(Record, frozen=True, kw_only=True):
    """One aligned pass.  ``left_sequence`` is ``None`` where it did not run on the left.

    ``name`` is the left one's where it ran there; ``right_name`` the right one's where it is
    another (TVM has renamed the namespace of its passes), else ``None``.

    ``number`` counts runs of that name (of the left variant where it ran there) from 1.  ``facts``
    are the changed facts that differ since this pass; ``hunks`` its differences, as lines of the
    two texts after it.  ``edits`` are what it did to each side, where ``hunks`` can't show that (it
    ran on one side only, dropped a line, made two alike) or where they were asked for.  ``since``
    names an earlier pass where the module was rewritten between that one and this one.  The other
    fields are those of `PassComparison`.
    """

    name: str
    right_name: str | None
    number: int
    depth: int
    left_sequence: int | None
    right_sequence: int | None
    state: State
    new_left: int
    new_right: int
    inherited: int
    requested: tuple[tuple[str, str], ...]
    since: str | None
    facts: tuple[FactChange, ...]
    hunks: tuple[Hunk, ...]
    edits: tuple[PassEdit, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """What it is called on either side."""
        return (self.name,) if self.right_name is None else (self.name, self.right_name)


class PassesDiff(Record, frozen=True, kw_only=True):
    """Two variants, pass by pass.

    ``first`` is the index in ``passes`` of the first pass that diverges.  ``given_left`` and
    ``given_right`` count lines in which the two already differ before the first pass, other than
    by what was asked for; ``renamed`` maps right names to left ones.
    """

    schema_version: Literal[1] = 1
    left: Variant
    right: Variant
    left_passes: int
    right_passes: int
    given_left: int
    given_right: int
    renamed: dict[str, str]
    first: int | None
    passes: tuple[PassDifference, ...]


class TimelineEntry(Record, frozen=True, kw_only=True):
    """One pass run of one variant.

    ``seconds`` is ``None`` where no times were kept with the dump.  ``before`` and ``after`` are
    digests of its texts, ``None`` where not known.  ``facts`` are what can be read off the text
    after it and could not be, or otherwise, before it.
    """

    sequence: int
    name: str
    number: int
    depth: int
    changed: bool
    seconds: float | None
    ir_bytes: int | None
    before: str | None
    after: str | None
    facts: tuple[ReadingChange, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """What it is called."""
        return (self.name,)


class PassTimeline(Record, frozen=True, kw_only=True):
    """The passes of one variant, in the order in which they started."""

    schema_version: Literal[1] = 1
    variant: Variant
    passes: tuple[TimelineEntry, ...]


Cell = Literal["absent", "no_op", "changed", "follows", "diverges"]


class MatrixRow(Record, frozen=True, kw_only=True):
    """One pass over all variants: what it did to each, beside what it did to its left neighbour."""

    name: str
    number: int
    depth: int
    cells: tuple[Cell, ...]


class PassMatrix(Record, frozen=True, kw_only=True):
    """Variants of one kernel and target, in the order of the run's axes.

    ``first`` names, for each variant but the first, the first pass that diverges from its left
    neighbour.  Variants that failed are left out and counted.
    """

    schema_version: Literal[1] = 1
    variants: tuple[Variant, ...]
    failed: int
    first: tuple[str | None, ...]
    rows: tuple[MatrixRow, ...]


def compare_passes(
    left: Dump, right: Dump, *, context: int = 1, edits_of: str | None = None
) -> PassesDiff:
    """Compare what each pass did to two variants, with ``context`` lines around what is new.

    The passes that ``edits_of`` names come with their edits of both sides.  `DumpError` where one
    of the variants failed.
    """
    two = TwoLowerings(Lowering(left), Lowering(right))
    compared = two.compare()
    changes = with_since(fact_changes(left, right), two)
    first = first_divergence(compared)
    given = two.given()
    passes = [_difference(each, two, changes, context) for each in compared]
    chosen = () if edits_of is None else select_passes(passes, edits_of)
    for index, each in enumerate(compared):
        if index in chosen or (each.state == "diverges" and each.unseen):
            edits = _edits(each, two, context)
            passes[index] = msgspec.structs.replace(passes[index], edits=edits)
    return PassesDiff(
        left=left.result.variant,
        right=right.result.variant,
        left_passes=len(two.left.runs),
        right_passes=len(two.right.runs),
        given_left=given[0],
        given_right=given[1],
        renamed=dict(two.allowed.names),
        first=None if first is None else compared.index(first),
        passes=tuple(passes),
    )


def changes_with_since(left: Dump, right: Dump) -> tuple[FactChange, ...]:
    """The changed facts of two dumps, each with the pass since which the two differ in it.

    Variants that failed have no passes to look at: their changes are returned as they are.
    """
    changes = fact_changes(left, right)
    if left.result.facts is None or right.result.facts is None or not changes:
        return changes
    return with_since(changes, TwoLowerings(Lowering(left), Lowering(right)))


def _difference(
    compared: PassComparison, two: TwoLowerings, changes: Sequence[FactChange], context: int
) -> PassDifference:
    left, right = compared.aligned.left, compared.aligned.right
    either = compared.aligned.either
    sequences = left.run.sequence if left else None, right.run.sequence if right else None
    return PassDifference(
        name=either.run.name,
        right_name=right.run.name if right and compared.aligned.renamed else None,
        number=either.number,
        depth=either.run.depth,
        left_sequence=sequences[0],
        right_sequence=sequences[1],
        state=compared.state,
        new_left=compared.new_left,
        new_right=compared.new_right,
        inherited=compared.inherited,
        requested=compared.requested,
        facts=tuple(
            change
            for change in changes
            if change.since is not None
            and change.since.pass_name is not None
            and (change.since.left_sequence, change.since.right_sequence) == sequences
        ),
        since=next((step.since for step in (left, right) if step and step.since), None),
        hunks=two.hunks(compared, context) if compared.state == "diverges" else (),
        edits=(),
    )


def _edits(compared: PassComparison, two: TwoLowerings, context: int) -> tuple[PassEdit, ...]:
    left, right = compared.aligned.left, compared.aligned.right
    found: list[PassEdit] = []
    if left is not None and left.before is not None:
        found.append(PassEdit(side="left", hunks=two.edits(left, context, on_left=True)))
    if right is not None and right.before is not None:
        found.append(PassEdit(side="right", hunks=two.edits(right, context, on_left=False)))
    return tuple(found)


def pass_timeline(dump: Dump, seconds: Sequence[float | None] | None = None) -> PassTimeline:
    """The passes of one dump; ``seconds`` run along them where times are known."""
    lowering = Lowering(dump)
    took = seconds if seconds is not None and len(seconds) == len(lowering.runs) else None
    return PassTimeline(
        variant=dump.result.variant,
        passes=tuple(
            _entry(lowering, step, took[index] if took else None)
            for index, step in enumerate(lowering.steps)
        ),
    )


def _entry(lowering: Lowering, step: PassStep, seconds: float | None) -> TimelineEntry:
    found: tuple[ReadingChange, ...] = ()
    if step.run.changed and step.parent is None and step.before and step.after:
        found = reading_changes(lowering.facts_of(step.before), lowering.facts_of(step.after))
    return TimelineEntry(
        sequence=step.run.sequence,
        name=step.run.name,
        number=step.number,
        depth=step.run.depth,
        changed=step.run.changed,
        seconds=seconds,
        ir_bytes=step.run.ir_bytes,
        before=step.before,
        after=step.after,
        facts=found,
    )


def pass_matrices(dumps: Sequence[Dump]) -> tuple[PassMatrix, ...]:
    """One matrix for each set of variants of a run that differ in their depth alone.

    Where there are none (a run over another axis), one for each kernel and target.
    """
    groups: dict[str, list[Dump]] = {}
    for dump in dumps:
        groups.setdefault(_but_for_depth(dump.result.variant), []).append(dump)
    if all(len(group) == 1 for group in groups.values()):
        groups = {}
        for dump in dumps:
            variant = dump.result.variant
            groups.setdefault(f"{variant.kernel} {variant.arch}", []).append(dump)
    found = tuple(_matrix(group) for group in groups.values())
    if all(not matrix.variants for matrix in found):
        raise DumpError("every variant of this run failed: there are no passes to compare")
    return found


def _but_for_depth(variant: Variant) -> str:
    """All that a variant is but its depth."""
    depth = ("num_stages", variant.stage_param)
    params = sorted((name, value) for name, value in variant.params.items() if name not in depth)
    configs = sorted(variant.pass_configs.items())
    return repr((variant.kernel, variant.arch, variant.compiler, params, configs))


def _matrix(dumps: Sequence[Dump]) -> PassMatrix:
    lowered = [Lowering(dump) for dump in dumps if dump.result.facts is not None]
    rows: list[list[PassStep | None]] = [[step] for step in lowered[0].steps] if lowered else []
    states: dict[tuple[int, int], State] = {}
    first: list[str | None] = []
    for index in range(1, len(lowered)):
        two = TwoLowerings(lowered[index - 1], lowered[index])
        compared = two.compare()
        diverging = first_divergence(compared)
        first.append(None if diverging is None else diverging.aligned.where)
        rows = _extend(rows, lowered[index - 1].steps, lowered[index].steps)
        for each in compared:
            if each.aligned.right is not None:
                states[index, each.aligned.right.run.sequence] = each.state
    return PassMatrix(
        variants=tuple(lowering.dump.result.variant for lowering in lowered),
        failed=len(dumps) - len(lowered),
        first=tuple(first),
        rows=tuple(_matrix_row(row, states) for row in rows),
    )


def _extend(
    rows: Sequence[list[PassStep | None]], left: Sequence[PassStep], right: Sequence[PassStep]
) -> list[list[PassStep | None]]:
    """Add a column: its passes beside those of the column before it, new ones where they ran."""
    place = {row[-1].run.sequence: at for at, row in enumerate(rows) if row[-1] is not None}
    beside: dict[int, PassStep] = {}
    after: dict[int, list[PassStep]] = {}
    last = -1
    for aligned in align_passes(left, right):
        if aligned.left is not None:
            last = place[aligned.left.run.sequence]
            if aligned.right is not None:
                beside[last] = aligned.right
        elif aligned.right is not None:
            after.setdefault(last, []).append(aligned.right)
    width = len(rows[0]) if rows else 1
    found: list[list[PassStep | None]] = []
    for at in range(-1, len(rows)):
        if at >= 0:
            found.append([*rows[at], beside.get(at)])
        found += [[*([None] * width), step] for step in after.get(at, ())]
    return found


def _matrix_row(row: Sequence[PassStep | None], states: dict[tuple[int, int], State]) -> MatrixRow:
    one = next(step for step in row if step is not None)
    return MatrixRow(
        name=one.run.name,
        number=one.number,
        depth=one.run.depth,
        cells=tuple(_cell(step, states, index) for index, step in enumerate(row)),
    )


def _cell(step: PassStep | None, states: dict[tuple[int, int], State], index: int) -> Cell:
    if step is None:
        return "absent"
    state = states.get((index, step.run.sequence))
    if state == "diverges":
        return "diverges"
    if not step.run.changed:
        return "no_op"
    return "follows" if state == "follows" else "changed"
