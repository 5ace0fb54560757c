"""Which statements of the CUDA does the line table mix?  Neighbours are compared together then."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from stagebench.facts.cuda_records import CudaKernel, CudaSite
from stagebench.machine.block_extent import extent_in_block
from stagebench.machine.explanation import (
    EXPANDS,
    Explanation,
    guard_of_the_block,
    total,
    total_extent,
)
from stagebench.ptx.by_statement import Executed

_NEIGHBOURING_LINES = 3
"""How far apart statements are that the line table was seen to mix."""


def at_their_templates(
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
        executed = total([one.executed for one in (*own, *beside)])
        if executed == total_extent([extent_in_block(one.dynamic, block) for one in same]):
            moved |= {id(one): dataclasses.replace(one, cuda_line=call.line) for one in beside}
    return [moved.get(id(one), one) for one in counts]


def compared_together(
    op: str, written: Mapping[int | None, Sequence[CudaSite]], counts: Sequence[Executed]
) -> Explanation | None:
    """All statements of an op at once: ``None`` where their executions don't fit either."""
    sites = [site for several in written.values() for site in several]
    asked = total_extent([site.dynamic for site in sites])
    executed = total([count.executed for count in counts])
    found = Explanation()
    if not isinstance(asked, int) and _have_neighbours(written, counts):
        found.say("a trip count is symbolic above PTX")
        return found
    if not isinstance(asked, int) or not asked or executed is None:
        return None
    guarded = [site for site in sites if guard_of_the_block([site]) is not None]
    least = total_extent([site.dynamic for site in sites if site not in guarded])
    if op in EXPANDS and executed > asked and executed % asked == 0:
        found.say(f"each call is {executed // asked} {op} instructions")
    elif (
        guarded
        and isinstance(least, int)
        and least <= executed < asked
        and _have_neighbours(written, counts)
    ):
        found.say(f"behind `{guard_of_the_block(guarded)}`: {executed} of {asked} in this block")
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
