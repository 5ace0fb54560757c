"""Where do the probes of a kernel stand?  PTX in, PTX with probes out; no original line changes.

Each wait of `stagebench.probe.waits` is one site, in program order; its id is its index.  The entry
and every way out (``ret``, ``exit``, guarded ones too, the end of the body) write the lane's
header.  A warp that ends in a ``trap`` leaves what it had written; one whose leader leaves before
the others is timed until then.  Several entries: only the one that is asked for changes.
Not handled: ``exit`` in a function that is called (the lane is then without its exit).
"""

from __future__ import annotations

from dataclasses import dataclass

from stagebench.errors import UsageError
from stagebench.probe import snippets
from stagebench.probe.control import put_pragmas
from stagebench.probe.layout import SYMBOL, Layout, ordinal_bits
from stagebench.probe.line_insertion import Insertion, Lines, Rank
from stagebench.probe.waits import NotProbed, Unit, Waits, find_waits
from stagebench.ptx.read import read_module
from stagebench.ptx.records import Function, Guard, Module

_LEAVES = ("ret", "exit")


@dataclass(frozen=True)
class Placed:
    """A site in the text with probes: 1-based lines of the clock reads and of the wait itself."""

    id: int
    unit: Unit
    before_line: int
    after_line: int
    wait_line: int
    unit_lines: frozenset[int]


@dataclass(frozen=True)
class ProbedText:
    """A kernel with probes; ``calibration_site`` is the id of the record of two clock reads."""

    lines: Lines
    kernel: str
    sites: tuple[Placed, ...]
    left_out: tuple[NotProbed, ...]
    calibration_site: int
    exits: int

    @property
    def text(self) -> str:
        """The PTX with probes."""
        return self.lines.text


def entry_of(module: Module, kernel: str) -> Function:
    """The kernel of that name; `UsageError` names those that are there."""
    for function in module.entries:
        if function.name == kernel and function.body_line is not None:
            return function
    names = ", ".join(function.name for function in module.entries) or "none"
    raise UsageError(f"the PTX has no kernel {kernel} (kernels: {names})")


def insert_probes(
    ptx: str, kernel: str, layout: Layout, ops: frozenset[str] | None = None
) -> ProbedText:
    """Put probes into one kernel of a text, at waits of ``ops`` alone where they are given."""
    if SYMBOL in ptx:
        raise UsageError(f"the PTX of {kernel} has probes already", hint="start from the original")
    module = read_module(ptx)
    function = entry_of(module, kernel)
    waits = find_waits(module, function, ops)
    insertion = Insertion()
    _put_entry(insertion, function, layout, len(waits.units))
    put_pragmas(insertion, function, waits)
    _put_sites(insertion, waits, layout.cap)
    exits = _put_exits(insertion, function)
    lines = insertion.apply(module.lines)
    return ProbedText(
        lines=lines,
        kernel=kernel,
        sites=tuple(_placed(number, unit, lines) for number, unit in enumerate(waits.units)),
        left_out=waits.left_out,
        calibration_site=len(waits.units),
        exits=exits,
    )


def _put_entry(insertion: Insertion, function: Function, layout: Layout, sites: int) -> None:
    body = function.body_line or 0
    if not function.instructions:
        raise UsageError(f"kernel {function.name} has no instructions")
    first = function.instructions[0]
    line = first.span.line
    if first.asm is not None:
        line = function.asm_blocks[first.asm].line
    labels = [label.span.line for label in function.labels if label.index == 0]
    line = min([line, *labels])
    if line <= body:
        raise UsageError(
            f"kernel {function.name}: instructions stand on the line of its opening brace",
            hint="put one statement on a line",
        )
    insertion.before(function.line, Rank.DECLARATION, [snippets.MODULE])
    insertion.before(body + 1, Rank.DECLARATION, snippets.declarations())
    insertion.before(line, Rank.ENTRY, snippets.entry(layout, sites, ordinal_bits(sites)))


def pairs_of(waits: Waits) -> tuple[int, ...]:
    """The ids of the sites whose record holds the next site's wait too."""
    found: list[int] = []
    number = 0
    for run in waits.runs(snippets.LONGEST_RUN):
        found += range(number, number + len(run) - 1, snippets.WAITS_IN_RECORD)
        number += len(run)
    return tuple(found)


def _put_sites(insertion: Insertion, waits: Waits, cap: int) -> None:
    number = 0
    tag_bits = ordinal_bits(len(waits.units))
    for run in waits.runs(snippets.LONGEST_RUN):
        first = run[0]
        if first.guard is not None:
            insertion.before(first.before_line, Rank.BEFORE, snippets.keep_guard(first.guard))
        read = [snippets.read_clock(0)]
        insertion.before(first.before_line, Rank.BEFORE, read, f"read {number}")
        for place, unit in enumerate(run, start=1):
            line = unit.after_line if unit.after_precedes else unit.after_line + 1
            read = [snippets.read_clock(place)]
            insertion.before(line, Rank.BEHIND, read, f"end {number}")
            number += 1
        ids = [*range(number - len(run), number)]
        stores = snippets.store(ids, tag_bits, guarded=first.guard is not None, cap=cap)
        insertion.before(line, Rank.BEHIND, stores)


def _put_exits(insertion: Insertion, function: Function) -> int:
    count = 0
    seen: set[int] = set()
    for index, instruction in enumerate(function.instructions):
        if instruction.head not in _LEAVES:
            continue
        line = instruction.span.line
        guard: Guard | None = instruction.guard
        if instruction.asm is not None:  # its guard is not known there: a later exit writes again
            line, guard = function.asm_blocks[instruction.asm].line, None
        if line in seen:
            continue
        seen.add(line)
        insertion.before(line, Rank.EXIT, snippets.leave(guard))
        count += 1
        _check_alone(function, index, line)
    last = function.instructions[-1]
    ends = last.head in (*_LEAVES, "trap", "bra", "brx") and last.guard is None
    if not ends or any(label.index == len(function.instructions) for label in function.labels):
        insertion.before(function.body_last_line or 0, Rank.EXIT, snippets.leave(None))
        count += 1
    return count


def _check_alone(function: Function, index: int, line: int) -> None:
    """Refuse an exit behind something else on its line: the probe would stand before that."""
    others = [one for one in function.instructions[:index] if one.span.last_line == line]
    labels = [one for one in function.labels if one.span.line == line and one.index <= index]
    if others or labels:
        raise UsageError(
            f"PTX line {line}: something stands before {function.instructions[index].opcode}",
            hint="put one statement on a line",
        )


def _placed(number: int, unit: Unit, lines: Lines) -> Placed:
    marks = lines.marks
    before = marks.get(f"read {number}", marks.get(f"end {number - 1}", 0))
    own = range(unit.before_line, unit.after_line + (0 if unit.after_precedes else 1))
    return Placed(
        id=number,
        unit=unit,
        before_line=before,
        after_line=marks[f"end {number}"],
        wait_line=lines.moved[unit.site.line],
        unit_lines=frozenset(lines.moved[line] for line in own),
    )
