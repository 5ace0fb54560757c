"""What did each step in depth change in the IR, and what did that cost or gain?

Times are compared by the confidence intervals of their medians: where two overlap, no difference
is claimed (which is stricter than a test at the same level).  Stall cycles have no interval: a
change of them is shown, and never makes a verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Literal

from stagebench.model.timing import (
    DepthFacts,
    DepthStep,
    FactStep,
    StallCause,
    Stalls,
    StallStep,
    VariantTiming,
)
from stagebench.timing.ailments import ailment, finding_told, refusals
from stagebench.timing.per_tile import damaged, stall_by_cause
from stagebench.timing.probe_cost import doubt, perturbed, probe_cost, why_cost_unknown

Outcome = Literal["faster", "slower", "within_noise", "unknown"]
_TOLD = 2
_LEAST_CYCLES = 1.0

_WAITS: dict[StallCause, str] = {
    "data": "wait",
    "slot": "wait for a free slot",
    "compute": "wait for the tensor core",
    "barrier": "wait at barriers",
    "other": "wait for something else",
}


def depth_steps(timings: Sequence[VariantTiming]) -> tuple[DepthStep, ...]:
    """Each depth against the next larger one that was measured."""
    known = [(timing.num_stages, timing) for timing in timings if timing.num_stages is not None]
    ordered = sorted(known, key=lambda pair: pair[0])
    return tuple(_step(*left, *right) for left, right in pairwise(ordered))


def _step(
    left_depth: int, left: VariantTiming, right_depth: int, right: VariantTiming
) -> DepthStep:
    facts = _fact_steps(left.facts, right.facts)
    stalls = _stall_steps(left.stalls, right.stalls)
    outcome = _outcome(left, right)
    return DepthStep(
        left=left_depth,
        right=right_depth,
        facts=facts,
        left_us=None if left.base is None else left.base.median_us,
        right_us=None if right.base is None else right.base.median_us,
        stalls=stalls,
        outcome=outcome,
        verdict=_verdict(left, right, stalls, outcome),
    )


# facts


def _fact_steps(left: DepthFacts | None, right: DepthFacts | None) -> tuple[FactStep, ...]:
    """The facts that differ, or that are known on one side alone."""
    names = list(dict.fromkeys([*fact_values(left), *fact_values(right)]))
    a, b = fact_values(left), fact_values(right)
    return tuple(
        FactStep(name=name, left=a.get(name), right=b.get(name))
        for name in names
        if a.get(name) != b.get(name)
    )


def fact_values(facts: DepthFacts | None) -> dict[str, str | None]:
    """Every fact by its name, as text; ``None`` is not known.  Empty without facts."""
    if facts is None:
        return {}
    waits = {
        f"{op} max_pending": " ".join(map(str, depths)) for op, depths in facts.wait_depths.items()
    }
    return {
        **{f"versions of {name}": str(count) for name, count in (facts.versions or {}).items()},
        **waits,
        "barriers": None if facts.barriers is None else str(facts.barriers),
        "shared memory, bytes": str(facts.smem_bytes),
        "registers": None if facts.registers is None else str(facts.registers),
        "CTAs per SM": None if facts.ctas_per_sm is None else str(facts.ctas_per_sm),
    }


# stalls


def _stall_steps(left: Stalls | None, right: Stalls | None) -> tuple[StallStep, ...]:
    """Every role and cause of either side, the largest change first.

    None if one was not probed, or its probes are damaged.
    """
    if left is None or right is None or damaged(left) or damaged(right):
        return ()
    a, b = stall_by_cause(left), stall_by_cause(right)
    steps = [
        StallStep(role=role, cause=cause, left_cycles=a.get((role, cause)),
                  right_cycles=b.get((role, cause)))
        for role, cause in dict.fromkeys([*a, *b])
    ]  # fmt: skip
    return tuple(sorted(steps, key=lambda step: -_change(step)))


def _change(step: StallStep) -> float:
    """How much more or less; a wait that one side does not have is none there."""
    return abs((step.right_cycles or 0.0) - (step.left_cycles or 0.0))


# the verdict


def _outcome(left: VariantTiming, right: VariantTiming) -> Outcome:
    a, b = left.base, right.base
    if a is None or b is None or left.bad or right.bad:
        return "unknown"
    if a.low_us <= b.high_us and b.low_us <= a.high_us:
        return "within_noise"
    return "faster" if b.median_us < a.median_us else "slower"


def _verdict(
    left: VariantTiming, right: VariantTiming, stalls: Sequence[StallStep], outcome: Outcome
) -> str:
    parts = [
        _slots(left.facts, right.facts),
        *(_stall(step) for step in stalls[:_TOLD] if _change(step) >= _LEAST_CYCLES),
        _time(left, right, outcome),
        *(_perturbed(each) for each in (left, right)),
        _known("registers", left.facts, right.facts, lambda facts: facts.registers, quiet=True),
        _known("occupancy", left.facts, right.facts, lambda facts: facts.ctas_per_sm),
    ]
    told = "; ".join(part for part in parts if part)
    return f"{left.num_stages} → {right.num_stages}: {told}"


def _slots(left: DepthFacts | None, right: DepthFacts | None) -> str:
    """What happened to the versions: one number where all that changed did alike."""
    if left is None or right is None:
        return "what changed in the IR is not known"
    if left.versions is None or right.versions is None:  # no IR: bytes are all that is known
        bytes_of = (left.smem_bytes, right.smem_bytes)
        words = f"{bytes_of[0]} → {bytes_of[1]} bytes" if len(set(bytes_of)) > 1 else "unchanged"
        return f"shared memory {words}"
    both = [name for name in left.versions if name in right.versions]
    changes = {name: right.versions[name] - left.versions[name] for name in both}
    changed = {name: change for name, change in changes.items() if change}
    if not changed:
        return "no slot more or fewer"
    if len(set(changed.values())) > 1:
        return ", ".join(
            f"{name} {left.versions[name]} → {right.versions[name]} versions" for name in changed
        )
    change = next(iter(changed.values()))
    number = "one" if abs(change) == 1 else str(abs(change))
    noun = "slot" if abs(change) == 1 else "slots"
    return f"{number} more {noun}" if change > 0 else f"{number} {noun} fewer"


def _stall(step: StallStep) -> str:
    who = "warps" if step.role == "all" else f"{step.role}s"
    if step.left_cycles is None:
        return f"{who} now {_WAITS[step.cause]}: {step.right_cycles:.0f} cycles per tile"
    if step.right_cycles is None:
        return (
            f"{who} no longer {_WAITS[step.cause]}: {step.left_cycles:.0f} cycles per tile before"
        )
    cycles = f"{step.left_cycles:.0f} → {step.right_cycles:.0f}"
    return f"{who} {_WAITS[step.cause]} {cycles} cycles per tile"


def _time(left: VariantTiming, right: VariantTiming, outcome: Outcome) -> str:
    bad = [f"{each.num_stages} {ailment(each).said}" for each in (left, right) if each.bad]
    if bad:
        return f"{' and '.join(bad)}: no verdict on time"
    if left.base is None or right.base is None:
        return "kernel time not measured"
    apart = outcome != "within_noise"
    times = f"kernel {_both(left.base.median_us, right.base.median_us, apart=apart)} µs"
    if outcome == "within_noise":
        return f"{times}, no difference beyond noise"
    return times


def _perturbed(timing: VariantTiming) -> str:
    if damaged(timing.stalls):
        return f"the probes of {timing.num_stages} are damaged, so that its waits are not known"
    depth = timing.num_stages
    if doubt(timing) == "cost_unknown" and not timing.bad:
        return f"waits of {depth} may be perturbed, for {why_cost_unknown(timing)}"
    if timing.refused and not timing.bad:
        return "; ".join(f"the {build} build of {depth} {why}" for build, why in refusals(timing))
    if timing.audit:
        more = f" … +{len(timing.audit) - 1} more" if len(timing.audit) > 1 else ""
        found = f"{finding_told(timing.audit[0])}{more}"
        return f"for probes, {timing.num_stages} is another kernel ({found}): waits are perturbed"
    cost = probe_cost(timing)
    if cost is None or not perturbed(timing):
        return ""
    if cost < 1:
        return f"probed, {timing.num_stages} is another schedule (×{cost:.2f}): waits are perturbed"
    return f"probes slow {timing.num_stages} down ×{cost:.2f}, so that its waits are perturbed"


def _both(a: float, b: float, *, apart: bool) -> str:
    """Three digits of the smaller; where a difference is claimed, as many as show it, at most 2."""
    for decimals in (0, 1):
        told = f"{a:.{decimals}f}", f"{b:.{decimals}f}"
        if min(a, b) >= 10 ** (2 - decimals) and (not apart or len(set(told)) > 1):
            return " → ".join(told)
    return f"{a:.2f} → {b:.2f}"


def _known(
    name: str,
    left: DepthFacts | None,
    right: DepthFacts | None,
    of: Callable[[DepthFacts], int | None],
    *,
    quiet: bool = False,
) -> str:
    """``name 2 → 1``; where it did not change, so in words, or with ``quiet`` nothing."""
    a = None if left is None else of(left)
    b = None if right is None else of(right)
    if a is None or b is None:
        return "" if quiet else f"{name} not known"
    if a == b:
        return "" if quiet else f"{name} unchanged"
    unit = " CTAs per SM" if name == "occupancy" else ""
    return f"{name} {a} → {b}{unit}"
