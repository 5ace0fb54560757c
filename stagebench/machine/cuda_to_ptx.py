"""What explains the PTX of a statement of the generated CUDA?

A statement may be copied (unrolling), may stand for several instructions (a template that loops
over a tile), or may be hidden in a template that the CUDA text does not show.  Each is recognised
from the executions: copies leave the sum over the copies as it was, an expansion multiplies it by
the same whole number wherever the template is called.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from stagebench.facts.cuda_records import CudaKernel, CudaSite
from stagebench.machine.block_extent import extent_in_block
from stagebench.machine.explanation import (
    EXPANDS,
    Explanation,
    guard_of_the_block,
    total,
    total_extent,
)
from stagebench.machine.mixed_lines import at_their_templates, compared_together
from stagebench.model import Facts
from stagebench.model.machine import NOT_WALKED
from stagebench.ptx.by_statement import Executed

_ON_MATRIX_UNITS = frozenset({"mma_sync", "wgmma"})


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
                walked = ", ".join(map(str, block))
                found.say(f"a trip count depends on the block: block {walked} is compared")
    if op in _ON_MATRIX_UNITS and written and not counts:
        found.say("not on the matrix units: the template computes on the ordinary cores")
        return found
    made: dict[int | None, list[Executed]] = {}
    for count in at_their_templates(op, written, counts, cuda, block):
        made.setdefault(count.cuda_line, []).append(count)
    by_line = Explanation()
    for line in sorted({*written, *made}, key=lambda line: (line is None, line or 0)):
        _compare_line(op, line, written.get(line, []), made.get(line, []), cuda, by_line)
    if not by_line.agreed and len(written) > 1:
        together = compared_together(op, written, counts)
        if together is not None:
            by_line = together
    found.agreed = found.agreed and by_line.agreed
    found.seen.update(by_line.seen)
    return found


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
    executed = total([count.executed for count in counts])
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
        if total_extent([site.dynamic for site in sites]) == 0:
            found.say("in a loop without trips: not compiled")
        else:
            found.fail(f"kernel.cu:{line} has no PTX")
        return
    asked = total_extent([site.dynamic for site in sites])
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
    if op in EXPANDS and asked and executed % asked == 0 and executed > asked:
        factor = executed // asked
        found.say(f"each call is {factor} {op} instructions")
        return factor
    if executed < asked and any(loop.exits_early for site in sites for loop in site.loops):
        found.say("a loop ends early: the CUDA's count is an upper bound")
    elif executed < asked and (guard := guard_of_the_block(sites)) is not None:
        found.say(f"behind `{guard}`: {executed} of {asked} in this block")
    else:
        found.fail(f"kernel.cu:{line}: {asked} executions in the CUDA, {executed} in PTX")
    return None


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
