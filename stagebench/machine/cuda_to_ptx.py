"""What explains the PTX of a statement of the generated CUDA?

A statement may be copied (unrolling), may stand for several instructions (a template that loops
over a tile), or may be hidden in a template that the CUDA text does not show.  Each is recognised
from the executions: copies leave the sum over the copies as it was, an expansion multiplies it by
the same whole number wherever the template is called.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from stagebench.facts.cuda_records import CudaKernel, CudaSite
from stagebench.machine.block_extent import extent_in_block
from stagebench.model import Extent, Facts
from stagebench.model.machine import NOT_WALKED
from stagebench.ptx.by_statement import Executed

_NEIGHBOURING_LINES = 3
"""How far apart statements are that the line table was seen to mix."""

_ON_MATRIX_UNITS = frozenset({"mma_sync", "wgmma"})
_NAME = re.compile(r"[A-Za-z_]\w*")
_EXPANDS = frozenset(
    {
        "cp_async_copy", "mma_sync", "st_async", "tcgen05_cp", "tcgen05_mma", "tma_load",
        "tma_prefetch", "tma_store", "wgmma",
    }
)  # fmt: skip
"""Ops of which one call may be several instructions: copies and products, never a wait."""
_OF_A_THREAD = frozenset({"threadIdx", "x", "y", "z", "tl", "tl_shuffle_elect", "int"})
"""Names in conditions on the thread alone: some thread of every block fulfils them."""


@dataclass
class Explanation:
    """Reasons in words, each once; ``agreed`` while nothing is left over."""

    agreed: bool = True
    seen: dict[str, None] = field(default_factory=dict)

    def say(self, reason: str) -> None:
        """Add a reason."""
        self.seen[reason] = None

    def fail(self, reason: str) -> None:
        """Add what is not explained."""
        self.agreed = False
        self.seen[reason] = None

    @property
    def reasons(self) -> tuple[str, ...]:
        """All reasons, in the order in which they came up."""
        return tuple(self.seen)


def explain_ptx(
    op: str,
    cuda: CudaKernel | None,
    counts: Sequence[Executed],
    facts: Facts,
    block: Sequence[int] = (0, 0, 0),
) -> Explanation:
    """Compare one op line by line; in all, where the line table mixes neighbouring statements.

    ``block`` is the one that was walked: extents that depend on it are computed for it.
    """
    found = Explanation()
    if cuda is None:
        found.fail("the generated CUDA was not read")
        return found
    _compare_ir(op, cuda, facts, found)
    written: dict[int | None, list[CudaSite]] = {}
    for site in cuda.sites:
        if site.op == op:
            here = replace(site, dynamic=extent_in_block(site.dynamic, block))
            written.setdefault(site.line, []).append(here)
            if here.dynamic != site.dynamic:
                found.say(f"a trip count depends on the block: block {_comma(block)} is compared")
    if op in _ON_MATRIX_UNITS and written and not counts:
        found.say("not on the matrix units: the template computes on the ordinary cores")
        return found
    made: dict[int | None, list[Executed]] = {}
    for count in _at_their_templates(op, written, counts, cuda, block):
        made.setdefault(count.cuda_line, []).append(count)
    by_line = Explanation()
    for line in sorted({*written, *made}, key=lambda line: (line is None, line or 0)):
        _compare_line(op, line, written.get(line, []), made.get(line, []), cuda, by_line)
    if not by_line.agreed and len(written) > 1:
        together = _together(op, written, counts)
        if together is not None:
            by_line = together
    found.agreed = found.agreed and by_line.agreed
    found.seen.update(by_line.seen)
    return found


def _at_their_templates(
    op: str,
    written: Mapping[int | None, object],
    counts: Sequence[Executed],
    cuda: CudaKernel,
    block: Sequence[int],
) -> list[Executed]:
    """Copies of a template's own synchronisation, at the line of its call.

    Where the same template is inlined from neighbouring lines the line table mixes them.  A copy
    on a line that calls nothing of the kind belongs to a call beside it with the same arguments,
    but only if that call then has exactly its executions.
    """
    hidden = [one for one in cuda.hidden_syncs if one.op == op]
    calls = {one.line for one in hidden}
    stray = [one for one in counts if one.cuda_line not in calls and one.cuda_line not in written]
    if not stray:
        return list(counts)
    moved: dict[int, Executed] = {}
    for call in hidden:
        same = [one for one in hidden if (one.line, one.args) == (call.line, call.args)]
        own = [one for one in counts if (one.cuda_line, one.args) == (call.line, call.args)]
        beside = [
            one
            for one in stray
            if one.args == call.args
            and one.cuda_line is not None
            and abs(one.cuda_line - call.line) <= _NEIGHBOURING_LINES
        ]
        executed = _total([one.executed for one in (*own, *beside)])
        if executed == _sum([extent_in_block(one.dynamic, block) for one in same]):
            moved |= {id(one): dataclasses.replace(one, cuda_line=call.line) for one in beside}
    return [moved.get(id(one), one) for one in counts]


def _together(
    op: str, written: Mapping[int | None, Sequence[CudaSite]], counts: Sequence[Executed]
) -> Explanation | None:
    """All statements of an op at once: ``None`` where their executions don't fit either."""
    sites = [site for several in written.values() for site in several]
    asked = _sum([site.dynamic for site in sites])
    executed = _total([count.executed for count in counts])
    found = Explanation()
    if not isinstance(asked, int) and _have_neighbours(written, counts):
        found.say("a trip count is symbolic above PTX")
        return found
    if not isinstance(asked, int) or not asked or executed is None:
        return None
    guarded = [site for site in sites if _guard_of_the_block([site]) is not None]
    least = _sum([site.dynamic for site in sites if site not in guarded])
    if op in _EXPANDS and executed > asked and executed % asked == 0:
        found.say(f"each call is {executed // asked} {op} instructions")
    elif (
        guarded
        and isinstance(least, int)
        and least <= executed < asked
        and _have_neighbours(written, counts)
    ):
        found.say(f"behind `{_guard_of_the_block(guarded)}`: {executed} of {asked} in this block")
    elif executed != asked:
        return None
    lines = sorted(line for line in written if line is not None)
    copies = sum(count.copies for count in counts)
    found.say(
        f"{len(sites)} call sites are {copies} copies, lines {lines[0]} to {lines[-1]} together"
    )
    return found


def _have_neighbours(written: Mapping[int | None, object], counts: Sequence[Executed]) -> bool:
    """Whether every line without PTX is next to one that has some, which then holds both's."""
    made = [count.cuda_line for count in counts if count.cuda_line is not None]
    missing = [line for line in written if line is not None and line not in made]
    return bool(made) and all(
        any(abs(line - other) <= _NEIGHBOURING_LINES for other in made) for line in missing
    )


def _compare_ir(op: str, cuda: CudaKernel, facts: Facts, found: Explanation) -> None:
    ir = facts.sync_totals.get(op)
    sites = sum(1 for site in cuda.sites if site.op == op)
    if (ir.static if ir else 0) != sites:
        found.fail(f"{ir.static if ir else 0} call sites in the IR, {sites} in the CUDA")


def _compare_line(
    op: str,
    line: int | None,
    sites: Sequence[CudaSite],
    counts: Sequence[Executed],
    cuda: CudaKernel,
    found: Explanation,
) -> None:
    copies = sum(count.copies for count in counts)
    executed = _total([count.executed for count in counts])
    if not sites:
        hidden = [h for h in cuda.hidden_syncs if h.op == op and h.line == line]
        if hidden:
            found.say(f"inside {hidden[0].callee}")
        elif line is None:
            found.fail(f"{copies} in PTX that come from no CUDA line")
        else:
            found.fail(f"{copies} in PTX where kernel.cu:{line} has none")
        return
    if not counts:
        if _sum([site.dynamic for site in sites]) == 0:
            found.say("in a loop without trips: not compiled")
        else:
            found.fail(f"kernel.cu:{line} has no PTX")
        return
    asked = _sum([site.dynamic for site in sites])
    if executed is None:
        found.say(NOT_WALKED)
        factor = None
    elif not isinstance(asked, int):
        found.say("a trip count is symbolic above PTX")
        factor = None
    else:
        factor = _factor(op, line, asked, executed, sites, found)
    _static(copies, len(sites), factor, found)


def _factor(
    op: str,
    line: int | None,
    asked: int,
    executed: int,
    sites: Sequence[CudaSite],
    found: Explanation,
) -> int | None:
    """How many instructions one execution of the call is."""
    if asked == executed:
        return 1
    if op in _EXPANDS and asked and executed % asked == 0 and executed > asked:
        factor = executed // asked
        found.say(f"each call is {factor} {op} instructions")
        return factor
    if executed < asked and any(loop.exits_early for site in sites for loop in site.loops):
        found.say("a loop ends early: the CUDA's count is an upper bound")
    elif executed < asked and (guard := _guard_of_the_block(sites)) is not None:
        found.say(f"behind `{guard}`: {executed} of {asked} in this block")
    else:
        found.fail(f"kernel.cu:{line}: {asked} executions in the CUDA, {executed} in PTX")
    return None


def _guard_of_the_block(sites: Sequence[CudaSite]) -> str | None:
    """A condition that may differ between blocks: the counts above PTX take every branch."""
    guards = [guard for site in sites for guard in site.guards]
    return next((guard for guard in guards if _names(guard) - _OF_A_THREAD), None)


def _comma(block: Sequence[int]) -> str:
    return ", ".join(map(str, block))


def _names(text: str) -> set[str]:
    return set(_NAME.findall(text))


def _static(copies: int, sites: int, factor: int | None, found: Explanation) -> None:
    """Copies beyond what the calls expand to are unrolling's."""
    calls = copies
    if factor is not None and factor > 1:
        if copies % factor == 0:
            calls = copies // factor
        elif copies < factor * sites:
            found.say("the template's own loop is not unrolled")
            return
    if calls > sites:
        if calls % sites == 0:
            found.say(f"unrolled ×{calls // sites}")
        else:
            found.say(f"unrolled: {sites} call sites are {calls} copies")
    elif calls < sites:
        found.say(f"{sites} call sites share {calls} copies")


def _total(values: Sequence[int | None]) -> int | None:
    return None if any(value is None for value in values) else sum(value or 0 for value in values)


def _sum(values: Sequence[Extent]) -> Extent:
    if all(isinstance(value, int) for value in values):
        return sum(value for value in values if isinstance(value, int))
    return "symbolic"
