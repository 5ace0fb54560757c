"""What did the assembler do to the PTX's synchronisation?  Name each difference in the counts.

Compares, op by op, the sites of the PTX with those of the SASS of the same PTX line.  What no
rule names is left over and makes the op disagree.  The rules are what ptxas 13.0 was seen to do to
382 kernels (TileLang 0.1.15, sm_80, sm_89, sm_90a, sm_100a) and to single PTX instructions.
Instructions of wgmma have no exact PTX line: those are compared by their number alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stagebench.sass.sites import POLL, SassSite

_NO_SASS = {
    "fence_barrier_init": "fence.mbarrier_init has no SASS",
    "tcgen05_fence": "tcgen05.fence has no SASS",
    "tcgen05_wait": "tcgen05.wait::ld has no SASS",
    "wgmma_commit": "commit has no SASS",
    "warp_sync": "bar.warp.sync of a converged warp has no SASS",
}
_MERGED = "expect_tx merged into arrive"
_BROUGHT: Mapping[tuple[str, str], str] = {
    ("cp_async_commit", "cp_async_wait"): "wait_all is a commit and a wait",
    ("fence_proxy_async", "mbarrier_init"): "mbarrier.init brings a proxy fence",
    ("syncthreads", "cluster_wait"): "barrier.cluster.wait brings a CTA barrier",
    ("syncthreads", "cluster_sync"): "barrier.cluster.wait brings a CTA barrier",
    **{
        ("threadfence", op): f"{op} brings a memory barrier"
        for op in ("cluster_arrive", "cluster_sync", "fence_proxy_async", "mbarrier_arrive")
    },
}
"""An op of the SASS at a line whose PTX is another op."""
_INEXACT = ("wgmma",)


@dataclass(frozen=True)
class Rewrite:
    """One named difference of one op: the SASS has ``sass`` sites for the PTX's ``ptx``.

    ``difference`` is how many sites more (or fewer, below 0) this rewrite makes.
    """

    op: str
    name: str
    difference: int


@dataclass(frozen=True)
class OpComparison:
    """Static sites of one op at both levels, the rewrites between, and what they leave over."""

    op: str
    ptx: int
    sass: int
    rewrites: tuple[Rewrite, ...]
    unexplained: int


def compare(ptx: Sequence[tuple[str, int]], sass: Sequence[SassSite]) -> tuple[OpComparison, ...]:
    """Compare PTX sites (op and 1-based PTX line) with SASS sites; sorted by op."""
    ops_at: dict[int, list[str]] = {}
    for op, line in ptx:
        ops_at.setdefault(line, []).append(op)
    ops = {op for op, _ in ptx} | {site.op for site in sass}
    return tuple(_compare(op, ptx, sass, ops_at) for op in sorted(ops))


def _compare(
    op: str,
    ptx: Sequence[tuple[str, int]],
    sass: Sequence[SassSite],
    ops_at: Mapping[int, list[str]],
) -> OpComparison:
    expected = Counter(line for other, line in ptx if other == op)
    found = Counter(site.ptx_line for site in sass if site.op == op)
    total, seen = sum(expected.values()), sum(found.values())
    names: Counter[str] = Counter()
    lost = 0
    if op in _INEXACT:
        times = seen / total if total else 0
        if times > 1 and times == int(times):
            names[f"copied ×{int(times)} by ptxas"] = seen - total
        elif times > 1 and _is_copied("wgmma_fence", ptx, sass):
            names["copied in part by ptxas, with their fences"] = seen - total
    else:
        for line, count in expected.items():
            bare = "mbarrier_arrive" not in ops_at[line]
            named = _at_line(op, count, found[line], sass, bare=bare)
            names.update(named)
            lost += max(0, count - found[line] + sum(named.values()))
        for place, count in found.items():
            if place not in expected:
                names.update(_elsewhere(op, count, ops_at.get(place or 0, [])))
    rewrites = tuple(
        Rewrite(op, name, difference) for name, difference in sorted(names.items()) if difference
    )
    left = seen - total - sum(rewrite.difference for rewrite in rewrites)
    if not left:
        left = -lost  # what one line lost is not made up for by another line's surplus
    return OpComparison(op, total, seen, rewrites, left)


def _is_copied(op: str, ptx: Sequence[tuple[str, int]], sass: Sequence[SassSite]) -> bool:
    """Whether some PTX line of an op has more sites than it has statements."""
    expected = Counter(line for other, line in ptx if other == op)
    found = Counter(site.ptx_line for site in sass if site.op == op)
    return any(found[line] > count for line, count in expected.items())


def _at_line(
    op: str, expected: int, found: int, sass: Sequence[SassSite], *, bare: bool
) -> dict[str, int]:
    """What happened to the sites of one PTX line; ``bare``: it expects bytes and doesn't arrive."""
    if found == 0 and op in _NO_SASS:
        return {_NO_SASS[op]: -expected}
    if found == 0 and op == "mbarrier_expect_tx" and bare and any(s.op == op for s in sass):
        return {_MERGED: -expected}
    if found > expected:
        if op == "tcgen05_alloc":
            return {"tcgen05.alloc tries again in a loop": found - expected}
        return {f"copied ×{found // expected} by ptxas": found - expected}
    return {}


def _elsewhere(op: str, count: int, ptx_ops: Sequence[str]) -> dict[str, int]:
    """What brought sites to a line where the PTX has no such op."""
    if op == POLL:
        return {"polls of an mbarrier wait": count}
    if op == "warp_sync":
        return {"an aligned instruction brings a warp sync": count}
    if op in ("tcgen05_ld", "tcgen05_st"):
        return {"loads and stores of tensor memory are no sync op of the PTX": count}
    for other in ptx_ops:
        if (op, other) in _BROUGHT:
            return {_BROUGHT[op, other]: count}
    return {}
