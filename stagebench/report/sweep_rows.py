"""What did each depth do?  A run as tables: one for each kernel, arch and set of other parameters.

Records in, rows out.  A cell is a text and what is special about it; colours and widths are
`stagebench.report.sweep_view`'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from stagebench.model import Compiler, ParamValue, Record, Run, VariantResult
from stagebench.model.codec import encode_pretty
from stagebench.report import identity, quantities
from stagebench.report.fact_row import FactRow, Group
from stagebench.report.fact_rows import fact_rows
from stagebench.report.failure_words import FAILURES
from stagebench.report.quantities import UNKNOWN
from stagebench.report.sweep_notes import (
    Column,
    Note,
    fingerprint,
    identical_notes,
    notes,
    texts_note,
)

COMPILER = "compiler"
"""The axis of a run with several compilers."""

AS_WRITTEN = "as written"
"""The head of a column whose kernel has no parameter for the depth."""


class Cell(Record, frozen=True, kw_only=True):
    """One fact of one variant.

    ``unknown`` is a fact that was not looked at (``–``), ``failed`` one of a variant that has no
    facts (``✗``).  ``changed``: it differs from the nearest known cell to its left.
    """

    text: str
    state: Literal["value", "unknown", "failed"] = "value"
    changed: bool = False
    over_limit: bool = False


class SweepRow(Record, frozen=True, kw_only=True):
    """One fact over all columns.

    ``differs``: two known cells differ.  ``implied``: they do, but only as who scheduled the loop.
    """

    label: str
    group: Group
    cells: tuple[Cell, ...]
    differs: bool
    implied: bool = False


class SweepTable(Record, frozen=True, kw_only=True):
    """All variants that differ in nothing but the depth; in a run of several compilers, but these.

    ``columns`` are the depths in the order of the run; where every depth gave the same facts there
    is one column for all of them.  ``headline`` lines come before the rows, ``notes`` after them.
    """

    kernel: str
    arch: str
    parameters: tuple[str, ...]
    compiler: str
    axis: str
    columns: tuple[str, ...]
    rows: tuple[SweepRow, ...]
    headline: tuple[Note, ...]
    notes: tuple[Note, ...]

    def folded(
        self, *, show_all: bool = False
    ) -> tuple[tuple[SweepRow, ...], tuple[SweepRow, ...]]:
        """The rows to print in full and those to fold into one line.

        Where there is nothing to compare (one column) every row is printed, but for compilers:
        that they agree is all that was asked.
        """
        compared = sum(cell.state != "failed" for cell in self.rows[0].cells) if self.rows else 0
        if show_all or (compared < 2 and self.axis != COMPILER):
            return self.rows, ()
        shown = tuple(row for row in self.rows if row.differs and not row.implied)
        return shown, tuple(row for row in self.rows if row not in shown)


def sweep_tables(
    run: Run, kernel_cus: Sequence[str | None] | None = None
) -> tuple[SweepTable, ...]:
    """One table per kernel, compiler, arch and combination of everything but the depth.

    A run of several compilers has one per depth, and their columns are the compilers.

    ``kernel_cus`` are the CUDA texts along ``run.variants``; with them "identical code" is a
    statement about the code, without them about the facts.
    """
    texts = kernel_cus if kernel_cus is not None else [None] * len(run.variants)
    names = identity.compiler_names([result.variant for result in run.variants])
    several = len(names) > 1
    axes = _swept(run) if several else frozenset()
    groups: dict[bytes, list[Column]] = {}
    for result, text in zip(run.variants, texts, strict=True):
        head = names[result.variant.compiler] if several else None
        depth = head or identity.depth(result.variant) or AS_WRITTEN
        column = Column(depth=depth, result=result, kernel_cu=text)
        key = _by_depth(result, axes) if several else _key(result, run)
        groups.setdefault(key, []).append(column)
    return tuple(_table(columns, by_compiler=several) for columns in groups.values())


def _swept(run: Run) -> frozenset[str]:
    """The parameters that one compiler's variants have several values of: axes of the run.

    Two compilers' kernels of one name may have other parameters and defaults.
    """
    values: dict[tuple[Compiler, str], set[ParamValue]] = {}
    for result in run.variants:
        for name, value in result.variant.params.items():
            values.setdefault((result.variant.compiler, name), set()).add(value)
    return frozenset(name for (_, name), found in values.items() if len(found) > 1)


def _by_depth(result: VariantResult, axes: frozenset[str]) -> bytes:
    """What the variants of one table of several compilers share."""
    variant = result.variant
    params = {name: variant.params.get(name) for name in sorted(axes | {"num_stages"})}
    return encode_pretty((variant.kernel, variant.arch, params))


def _key(result: VariantResult, run: Run) -> bytes:
    """What the variants of one table share.

    A variant that died before it told its defaults has the given parameters only; it belongs to
    the first lowered variant that agrees with it.
    """
    if result.failure is not None:
        for other in run.variants:
            if other.outcome == "lowered" and _agrees(result, other):
                return _identity(other)
    return _identity(result)


def _agrees(partial: VariantResult, whole: VariantResult) -> bool:
    a, b = partial.variant, whole.variant
    same = (a.kernel, a.compiler, a.arch, a.pass_configs) == (
        b.kernel, b.compiler, b.arch, b.pass_configs,
    )  # fmt: skip
    given = {name: value for name, value in a.params.items() if name != "num_stages"}
    return same and given.items() <= b.params.items()


def _identity(result: VariantResult) -> bytes:
    variant = result.variant
    params = {name: value for name, value in variant.params.items() if name != "num_stages"}
    return encode_pretty(
        (variant.kernel, variant.compiler, variant.arch, params, variant.pass_configs)
    )


def _table(columns: Sequence[Column], *, by_compiler: bool) -> SweepTable:
    variant = next((c for c in columns if c.result.outcome == "lowered"), columns[0]).result.variant
    headline = identical_notes(
        columns, meaning="no difference" if by_compiler else "num_stages changes nothing"
    )
    merged = _merge_identical(columns)
    facts = [column.result.facts for column in merged]
    rows = [_row(row, merged) for row in fact_rows(facts)]
    if any(column.result.failure is not None for column in merged):
        rows.insert(0, _outcomes(merged))
    axis = variant.stage_param or "num_stages"
    depth = identity.depth(variant)
    variants = [column.result.variant for column in columns if column.result.failure is None]
    differing = identity.differing(variants) if by_compiler else {}
    rows = [*(_parameter(name, merged) for name in differing), *rows]
    texts = None if any(row.differs and not row.implied for row in rows) else texts_note(columns)
    headline = headline if texts is None else (*headline, texts)
    parameters = identity.parameters(variant, without=differing)
    if by_compiler and depth is not None:
        parameters = (f"{axis}={depth}", *parameters)
    axis = axis if axis == "num_stages" else f"{axis} (num_stages)"
    compilers = dict.fromkeys(column.result.variant.compiler.name for column in columns)
    return SweepTable(
        kernel=variant.kernel,
        arch=variant.arch,
        parameters=parameters,
        compiler=", ".join(compilers) if by_compiler else identity.compiler(variant),
        axis=COMPILER if by_compiler else axis,
        columns=tuple(column.depth for column in merged),
        rows=tuple(rows),
        headline=headline,
        notes=notes(columns),
    )


def _parameter(name: str, columns: Sequence[Column]) -> SweepRow:
    """A parameter or pass config that the columns have other values of, or not all have."""
    cells: list[Cell] = []
    for column in columns:
        variant = column.result.variant
        value = {**variant.pass_configs, **variant.params}.get(name)
        text = UNKNOWN if value is None else identity.value_text(value)
        changed = bool(cells) and text != cells[-1].text
        cells.append(
            Cell(text=text, state="unknown" if value is None else "value", changed=changed)
        )
    return SweepRow(label=f"{name}=", group="schedule", cells=tuple(cells), differs=True)


def _merge_identical(columns: Sequence[Column]) -> list[Column]:
    """One column in place of several lowered ones that all have the same facts."""
    lowered = [column for column in columns if column.result.facts is not None]
    prints = {fingerprint(column.result.facts) for column in lowered if column.result.facts}
    texts = {column.kernel_cu for column in lowered}
    if len(lowered) < 2 or len(prints) > 1 or len(texts) > 1:
        return list(columns)
    depths = quantities.depth_range([column.depth for column in lowered])
    first = Column(depth=depths, result=lowered[0].result, kernel_cu=lowered[0].kernel_cu)
    return [
        first if column is lowered[0] else column
        for column in columns
        if column is lowered[0] or column.result.facts is None
    ]


def _outcomes(columns: Sequence[Column]) -> SweepRow:
    cells = []
    for column in columns:
        failure = column.result.failure
        if failure is None:
            cells.append(Cell(text="lowered"))
        else:
            cells.append(Cell(text=f"✗ {FAILURES[failure.kind]}", state="failed"))
    return SweepRow(label="outcome", group="schedule", cells=tuple(cells), differs=True)


def _row(row: FactRow, columns: Sequence[Column]) -> SweepRow:
    cells: list[Cell] = []
    left: str | None = None
    known: set[str] = set()
    for index, (value, column) in enumerate(zip(row.values, columns, strict=True)):
        if column.result.failure is not None:
            cells.append(Cell(text="✗", state="failed"))
        elif value is None:
            cells.append(Cell(text=UNKNOWN, state="unknown"))
        else:
            over = bool(row.over_limit) and row.over_limit[index]
            changed = left is not None and value != left
            cells.append(Cell(text=value, changed=changed, over_limit=over))
            left = value
            known.add(value)
    return SweepRow(
        label=row.label,
        group=row.group,
        cells=tuple(cells),
        differs=len(known) > 1 or (any(row.over_limit) and len(row.values) > 1),
        implied=row.implied,
    )
