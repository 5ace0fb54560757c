"""What explains the SASS of a PTX instruction?  Rewrites that ptxas makes, each by name.

The line table gives the PTX line of every SASS instruction, so that copies are counted for each
PTX instruction apart, and an instruction that ptxas added is known by what it was added to.
Every rule was seen in the corpus with ptxas 13.0 on sm_80, sm_90a and sm_100a.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stagebench.machine.cuda_to_ptx import Explanation
from stagebench.ptx.by_statement import Executed
from stagebench.sass.sites import SassSite

_NO_SASS = {
    "wgmma_commit": "commit has no SASS",
    "fence_barrier_init": "becomes the FENCE.VIEW.ASYNC behind mbarrier.init",
    "tcgen05_fence": "orders ptxas, has no SASS",
    "tcgen05_wait": "a scoreboard, has no SASS",
}
"""Ops whose instructions vanish."""

_ADDED = {
    ("cp_async_commit", "cp_async_wait"): "wait_all is a commit and a wait",
    ("fence_proxy_async", "mbarrier_init"): "fence.mbarrier_init becomes FENCE.VIEW.ASYNC",
    ("threadfence", "fence_proxy_async"): "fence.proxy.async is MEMBAR and FENCE",
}
"""An op that ptxas adds at the lines of another."""

_ADDED_ANYWHERE = {"warp_sync": "WARPSYNC added by ptxas where a warp must converge"}

_SEVERAL = {
    "tcgen05_alloc": "one alloc is a try and its check",
    "tcgen05_mma": "one mma is two: with and without what is accumulated",
}
"""Ops of which one PTX instruction is several, copies apart."""

_FREE_LINES = frozenset({"wgmma", "wgmma_fence", "wgmma_wait"})
"""Ops whose SASS carries the line of a neighbour: only their totals are compared."""

_MERGING = "mbarrier_expect_tx"


def explain_sass(
    op: str,
    ptx: Mapping[str, Sequence[Executed]],
    sass: Mapping[str, Sequence[SassSite]],
) -> Explanation:
    """Compare one op, PTX instruction by PTX instruction."""
    found = Explanation()
    wanted = [site.line for count in ptx.get(op, ()) for site in count.sites]
    made: dict[int | None, int] = {}
    for site in sass.get(op, ()):
        made[site.ptx_line] = made.get(site.ptx_line, 0) + 1
    if not made and op in _NO_SASS:
        if wanted:
            found.say(_NO_SASS[op])
        return found
    if op in _FREE_LINES:
        _compare_totals(len(wanted), sum(made.values()), found)
        return found
    _say_copies(op, [made.get(line, 0) for line in wanted], found)
    missing = [line for line in wanted if line not in made]
    if missing and op == _MERGING and all(_is_bare(line, ptx[op]) for line in missing):
        found.say("expect_tx merged into arrive.expect_tx")
        missing = []
    extra = {line: count for line, count in made.items() if line not in set(wanted)}
    left = _added(op, extra, ptx, found)
    if missing or left:
        found.fail(f"{len(missing)} PTX instructions without SASS, {left} SASS without PTX")
    return found


def _compare_totals(wanted: int, made: int, found: Explanation) -> None:
    if wanted == made:
        return
    if wanted and made and made % wanted == 0:
        found.say(f"unrolled ×{made // wanted} by ptxas")
    else:
        found.fail(f"{wanted} in PTX, {made} in SASS")


def _say_copies(op: str, copies: Sequence[int], found: Explanation) -> None:
    counts = sorted({count for count in copies if count > 1})
    if not counts:
        return
    if op in _SEVERAL:
        found.say(_SEVERAL[op])
    else:
        found.say("unrolled " + ", ".join(f"×{count}" for count in counts) + " by ptxas")


def _is_bare(line: int, counts: Sequence[Executed]) -> bool:
    """Whether the PTX instruction on that line expects bytes without arriving."""
    return any(
        site.line == line and not site.opcode.startswith("mbarrier.arrive")
        for count in counts
        for site in count.sites
    )


def _added(
    op: str,
    extra: Mapping[int | None, int],
    ptx: Mapping[str, Sequence[Executed]],
    found: Explanation,
) -> int:
    """How many SASS instructions no rule accounts for."""
    if extra and op in _ADDED_ANYWHERE:
        found.say(_ADDED_ANYWHERE[op])
        return 0
    left = dict(extra)
    for (added, to), reason in _ADDED.items():
        if added != op:
            continue
        lines = {site.line for count in ptx.get(to, ()) for site in count.sites}
        here = [line for line in left if line in lines]
        if here:
            found.say(reason)
        for line in here:
            del left[line]
    return sum(left.values())
