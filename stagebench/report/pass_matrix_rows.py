"""What is said of the passes of a whole run: where does each diverge from its left neighbour?"""

from __future__ import annotations

from stagebench.diff.pass_compare import Cell, PassMatrix
from stagebench.report import quantities
from stagebench.report.pass_titles import distinct, pass_name
from stagebench.report.passes_rows import NO_DIVERGENCE

CELLS: dict[Cell, str] = {
    "absent": "",
    "no_op": "·",
    "changed": "changed",
    "follows": "follows",
    "diverges": "DIVERGES",
}
"""What a cell of the matrix says."""


def matrix_rows(matrix: PassMatrix, *, show_all: bool = False) -> tuple[tuple[str, ...], ...]:
    """The matrix, its head first: the passes that diverge somewhere, or all of them."""
    names = [distinct(variant, matrix.variants) for variant in matrix.variants]
    axes = {name.partition("=")[0] for name in names}
    one_axis = len(axes) == 1 and not any("," in name for name in names)
    corner = next(iter(axes)) if one_axis else "pass"
    columns = [name.partition("=")[2] if one_axis else name for name in names]
    return (
        (corner, *columns),
        *(
            ("  " * row.depth + pass_name(row), *(CELLS[cell] for cell in row.cells))
            for row in matrix.rows
            if show_all or "diverges" in row.cells
        ),
    )


def first_lines(matrix: PassMatrix) -> tuple[tuple[str, str], ...]:
    """Each variant but the first, and the first pass that diverges from its left neighbour."""
    names = [distinct(variant, matrix.variants) for variant in matrix.variants]
    return tuple(
        (f"{left} → {right}", first or NO_DIVERGENCE)
        for left, right, first in zip(names, names[1:], matrix.first, strict=False)
    )


def matrix_lines(matrix: PassMatrix, *, show_all: bool = False) -> tuple[str, ...]:
    """What the matrix leaves out."""
    lines: list[str] = []
    left_out = [row for row in matrix.rows if "diverges" not in row.cells]
    if left_out and not show_all:
        quiet = sum(set(row.cells) <= {"no_op", "absent"} for row in left_out)
        lines.append(
            f"{len(left_out)} more passes diverge nowhere, {quiet} of them changed nothing"
        )
    if matrix.failed:
        lines.append(f"{quantities.count(matrix.failed, 'variant')} failed and left out")
    return tuple(lines)
