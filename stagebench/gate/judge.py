"""How does one variant stand against its baseline?

Every difference is judged by the policy's one rule for it; nothing is left out.  Does not handle:
which baseline belongs to which variant (`stagebench.gate.matching`), or expectations.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import msgspec

from stagebench.diff.fact_changes import result_changes
from stagebench.diff.fact_words import from_to
from stagebench.diff.failures import fail_alike
from stagebench.dump.place import VARIANT
from stagebench.gate.allowance import Change
from stagebench.gate.baseline_line import find_line
from stagebench.gate.baselines import Baseline
from stagebench.gate.fact_pattern import matches
from stagebench.gate.fact_schema import CUDA_TEXT
from stagebench.gate.fact_values import fact_values
from stagebench.gate.one_sided import ONE_SIDED, one_sided, other_parameters
from stagebench.gate.policy import Policy
from stagebench.gate.spelling import SPELLED, spelled_otherwise
from stagebench.gate.statement_renames import only_renamed
from stagebench.model import Compiler, Facts, Failure, ParamValue, VariantResult
from stagebench.model.verdict import FactGroup, JudgedChange, Place, Rule, Status

_SUMMARIES = ".statements.summary"


@dataclass(frozen=True)
class Judged:
    """What a comparison found; ``status`` without regard to expectations."""

    status: Status
    note: str | None
    drifts: tuple[JudgedChange, ...]
    allowed: tuple[JudgedChange, ...]


def judge(
    now: VariantResult,
    kernel_cu: str | None,
    baseline: Baseline,
    policy: Policy,
    *,
    shown: str,
    any_compiler: bool = False,
    asked: frozenset[str] = frozenset(),
    elsewhere: Place | None = None,
) -> Judged:
    """Compare and judge.

    ``shown`` is the baseline's folder as people are told it.  ``asked`` are the pass configs that
    the caller set for this check alone: that they differ is no finding.  ``elsewhere`` is given
    where the other side is what another compiler makes of the variant, in a folder that nobody
    will see: the place to point at instead.  Then what one side can't say is no finding either,
    and two that fail alike were not compared.
    Between two compilers, or two releases of one, what is only spelled otherwise never is.
    """
    then = baseline.dump.result
    if elsewhere is not None:
        another = other_parameters(then, now)
        if another is not None:
            return Judged("not_comparable", another, (), ())
        if then.failure and now.failure and fail_alike(then.failure, now.failure):
            return Judged("fails_on_both", _on_both_sides(now.failure), (), ())
    notes: list[str] = []
    drifts: list[JudgedChange] = []
    allowed: list[JudgedChange] = []
    changes = [
        *_identity(then, now, asked),
        *_differences(then, now),
        *_cuda(baseline.dump.kernel_cu, kernel_cu),
    ]
    for change in changes:
        yes, rule, why = policy.judge(change)
        if not yes and rule.source == "default":
            other = _of_the_compilers(change, then, now, one_sided_too=elsewhere is not None)
            yes, rule, why = (True, *other) if other else (yes, rule, why)
        judged = _judged(change, rule, why, yes, baseline, shown)
        if elsewhere is not None and judged.place is not None:
            judged = msgspec.structs.replace(judged, place=elsewhere)
        (allowed if yes else drifts).append(judged)
    drifts += _required(now.facts, policy, drifts)
    status: Status = "drift" if drifts else "clean"
    if then.variant.kernel != now.variant.kernel:
        notes.append(f"its baseline is recorded under the name {then.variant.kernel}")
    if then.outcome != now.outcome:
        status = "failed_now" if now.outcome == "failed" else "lowers_now"
        by = None if elsewhere is None else then.variant.compiler
        notes.append(_ending(now.failure or then.failure, by, now=now.outcome == "failed"))
    elif then.variant.compiler != now.variant.compiler and not any_compiler:
        status = "not_comparable"
        notes.append(
            f"baseline by {then.variant.compiler.name} {then.variant.compiler.version}, "
            f"now {now.variant.compiler.name} {now.variant.compiler.version}"
        )
    return Judged(status, "; ".join(notes) or None, tuple(drifts), tuple(allowed))


def _of_the_compilers(
    change: Change, then: VariantResult, now: VariantResult, *, one_sided_too: bool
) -> tuple[Rule, str] | None:
    """The rule for a difference of the two compilers that is none of the code, and why."""
    only_one = one_sided(change, then, now) if one_sided_too else None
    if only_one is not None:
        return ONE_SIDED, only_one
    if spelled_otherwise(change, then.variant.compiler, now.variant.compiler):
        return SPELLED, "the same thing in another compiler's words"
    return None


def _judged(
    change: Change, rule: Rule, why: str, yes: bool, baseline: Baseline, shown: str
) -> JudgedChange:
    name, line = (VARIANT, None)
    if rule.action != "ignore":
        name, line = find_line(baseline.folder, change.path)
        line = line or change.line
    return JudgedChange(
        path=change.path,
        group=change.group,
        kind="spelling" if rule == SPELLED else change.kind,
        presence=change.presence,
        follows=change.follows,
        text=change.text,
        left=change.left,
        right=change.right,
        rule=rule,
        why=why,
        severity="note" if yes else "error",
        place=None if rule.action == "ignore" else Place(file=f"{shown}/{name}", line=line),
    )


def _on_both_sides(failure: Failure) -> str:
    where = f" in {failure.pass_name}" if failure.pass_name else ""
    said = failure.message.splitlines()[0]
    return f"fails on both sides{where}, with the same message: {said}; nothing was compared"


def _ending(failure: Failure | None, other: Compiler | None, *, now: bool) -> str:
    """What one of the two sides lowers; ``other``: the compiler that is no earlier time's."""
    said = "" if failure is None else f": {failure.message.splitlines()[0]}"
    where = f" in {failure.pass_name}" if failure and failure.pass_name else ""
    if other is not None:
        by = f"{other.name} {other.version}"
        return f"{by} lowers it; it fails here{where}{said}" if now else f"{by} fails{where}{said}"
    return f"lowered before and fails now{where}{said}" if now else f"failed before{where}{said}"


def _identity(then: VariantResult, now: VariantResult, asked: frozenset[str]) -> Iterator[Change]:
    """Parameters and the like: a default that changed makes another kernel."""
    if then.outcome != now.outcome:  # a variant that died never told its defaults
        return
    left, right = then.variant, now.variant
    for name in ("kernel", "arch", "stage_param"):
        yield from _value(
            "identity", f"variant.{name}", name.replace("_", " "),
            getattr(left, name), getattr(right, name),
        )  # fmt: skip
    for name, word in (("params", "parameter"), ("pass_configs", "pass config")):
        ours, theirs = getattr(left, name), getattr(right, name)
        for key in dict.fromkeys((*ours, *theirs)):
            if name == "pass_configs" and key in asked:
                continue
            yield from _value(
                "identity", f"variant.{name}[{key}]", f"{word} {key}",
                ours.get(key), theirs.get(key),
                present=(key in ours, key in theirs),
            )  # fmt: skip


def _differences(then: VariantResult, now: VariantResult) -> Iterator[Change]:
    if then.facts is not None and now.facts is not None:
        yield from _fact_changes(then.facts, now.facts)
        return
    if then.outcome != now.outcome:
        yield Change(
            path="outcome", group="outcome", kind="fact", presence="both", follows=False,
            text=f"outcome {from_to(then.outcome, now.outcome)}",
            left=then.outcome, right=now.outcome,
        )  # fmt: skip
        return
    if then.failure is None or now.failure is None:
        return
    for info in msgspec.structs.fields(Failure):
        left, right = getattr(then.failure, info.name), getattr(now.failure, info.name)
        words = f"failure's {info.encode_name}"
        if info.name == "diagnostics":
            left, right = (tuple(f"{d.code}: {d.message}" for d in v) for v in (left, right))
        yield from _value("outcome", f"failure.{info.encode_name}", words, left, right)


def _fact_changes(left: Facts, right: Facts) -> Iterator[Change]:
    if msgspec.structs.replace(left, lowering=right.lowering) == right:
        return
    notes = {d.code for d in right.diagnostics if d.severity == "note"}
    others = {d.code for d in right.diagnostics if d.severity != "note"}
    renamed = only_renamed(left, right)
    for found in result_changes(left, right):
        code = found.path.partition("[")[2].partition("]")[0].partition("#")[0]
        yield Change(
            path=found.path.lstrip("."),
            group=found.group,
            kind="rename" if found.path.endswith(_SUMMARIES) and renamed else found.kind,
            presence=found.presence,
            follows=found.follows,
            text=found.text,
            left=found.left,
            right=found.right,
            note=found.group == "diagnostics" and code in notes and code not in others,
        )


def _cuda(left: str | None, right: str | None) -> Iterator[Change]:
    if left is None or right is None or left == right:
        return
    matcher = difflib.SequenceMatcher(None, left.split("\n"), right.split("\n"), autojunk=False)
    removed = added = 0
    at: int | None = None
    for tag, start, end, first, last in matcher.get_opcodes():
        if tag != "equal":
            at = start + 1 if at is None else at
            removed, added = removed + end - start, added + last - first
    yield Change(
        path=CUDA_TEXT, group="cuda_text", kind="fact", presence="both", follows=True,
        text=f"kernel.cu: {removed} lines became {added}", left=removed, right=added,
        line=at,
    )  # fmt: skip


def _value(
    group: FactGroup,
    path: str,
    words: str,
    left: ParamValue,
    right: ParamValue,
    *,
    present: tuple[bool, bool] = (True, True),
) -> Iterator[Change]:
    if left == right and type(left) is type(right) and present[0] == present[1]:
        return
    said = [
        str(value) if there else "absent"
        for value, there in zip((left, right), present, strict=True)
    ]
    yield Change(
        path=path,
        group=group,
        kind="fact",
        presence="both" if all(present) else "left" if present[0] else "right",
        follows=False,
        text=f"{words} {from_to(said[0], said[1])}",
        left=left,
        right=right,
    )


def _required(
    facts: Facts | None, policy: Policy, drifts: Iterable[JudgedChange]
) -> Iterator[JudgedChange]:
    """What must be there now and is not, whatever the baseline says."""
    if facts is None or not policy.required:
        return
    there = [path for path, value in fact_values(facts) if value]
    drifts = list(drifts)
    told = [drift.path for drift in drifts]
    for rule in policy.required:
        if any(drift.rule == rule for drift in drifts) or any(
            matches(rule.pattern, path) for path in (*there, *told)
        ):
            continue
        yield JudgedChange(
            path=rule.pattern,
            group=_group(rule.pattern),
            kind="fact",
            presence="left",
            follows=False,
            text=f"{rule.pattern} is not there",
            left=None,
            right=None,
            rule=rule,
            why="must appear",
            severity="error",
            place=None,
        )


_GROUPS: dict[str, FactGroup] = {
    "pipeline_loops": "schedule",
    "shared_buffers": "memory",
    "shared_memory": "memory",
    "barriers": "barriers",
    "sync_ops": "sync",
    "sync_totals": "sync",
    "launch": "launch",
    "machine": "machine",
    "diagnostics": "diagnostics",
}


def _group(pattern: str) -> FactGroup:
    return _GROUPS.get(pattern.partition("[")[0].partition(".")[0], "outcome")
