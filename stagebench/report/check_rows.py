"""How is a verdict told: what changed and in which variants, what failed, what to type?

Text only: how it looks is `stagebench.report.check_view`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stagebench.model import Record
from stagebench.model.verdict import (
    ExpectationResult,
    JudgedChange,
    Status,
    VariantVerdict,
    Verdict,
)
from stagebench.report import quantities
from stagebench.report.check_blocks import (
    ChangeBlock,
    blocks,
    following,
    names_in_words,
    place_words,
)
from stagebench.report.check_one_sided import one_sided_words
from stagebench.report.check_spelling import spelled_words

_MOST_SEEN = 8

STATUS_WORDS: dict[Status, str] = {
    "clean": "clean",
    "drift": "drift",
    "failed_now": "fails now",
    "lowers_now": "lowers now",
    "not_comparable": "not comparable",
    "fails_on_both": "not comparable",
    "missing_baseline": "no baseline",
    "unused_baseline": "unused baseline",
    "expectation_failed": "expectation failed",
}


_HERE: dict[Status, str] = {"failed_now": "fails here", "lowers_now": "lowers here"}
"""Against what another compiler makes: which of two lowers is no matter of time."""
_COUNT_WORDS: dict[Status, str] = {
    **STATUS_WORDS,
    "drift": "with drift",
    "failed_now": "fail now",
    "lowers_now": "lower now",
    "fails_on_both": "not comparable (failing on both sides)",
    "missing_baseline": "without baseline",
    "unused_baseline": "unused baselines",
    "expectation_failed": "with a failed expectation",
}


class VariantRow(Record, frozen=True, kw_only=True):
    """A variant that is not clean (or any, where all are asked for) and what is said of it."""

    status: Status
    words: str
    name: str
    said: str


class AnswerRow(Record, frozen=True, kw_only=True):
    """An expectation with what it saw; ``held`` ones only where all are asked for."""

    held: bool
    words: str
    variants: str
    seen: tuple[str, ...]
    place: str | None


class CheckRows(Record, frozen=True, kw_only=True):
    """Everything that is shown of a verdict; ``following`` facts more change as a consequence."""

    drifts: tuple[ChangeBlock, ...]
    following: int
    allowed: tuple[ChangeBlock, ...]
    allowed_count: int
    cuda_text: str | None
    one_sided: str | None
    spelled: str | None
    not_asked: str | None
    variants: tuple[VariantRow, ...]
    answers: tuple[AnswerRow, ...]
    summary: str
    approve: str | None


def check_rows(verdict: Verdict, *, show_all: bool = False) -> CheckRows:
    """The rows of a verdict."""
    many = len(verdict.experiments) > 1
    noted = [
        group for group in verdict.allowed_groups
        if group.change.rule.action != "ignore" and group.change.group != "cuda_text"
    ]  # fmt: skip
    cuda = cuda_only(verdict)
    apart = not_comparable(verdict)
    shown = verdict.allowed_groups if show_all else ()
    return CheckRows(
        drifts=tuple(blocks(verdict.groups, apart, many=many, show_all=show_all)),
        following=0 if show_all else following(verdict.groups),
        allowed=tuple(blocks(shown, apart, many=many, show_all=True)),
        allowed_count=len(noted),
        cuda_text=f"{cuda_words(cuda)}: {names_in_words(cuda, many=many)}" if cuda else None,
        one_sided=one_sided_words(verdict),
        spelled=spelled_words(verdict),
        not_asked=not_asked_words(verdict),
        variants=tuple(_variants(verdict, many=many, show_all=show_all)),
        answers=tuple(_answers(verdict, many=many, show_all=show_all)),
        summary=summary(verdict),
        approve=verdict.accept.shell if verdict.accept else None,
    )


def not_asked_words(verdict: Verdict) -> str | None:
    """``not asked: 7 cases name tvm``; ``None``: every case was."""
    if not verdict.not_asked:
        return None
    return f"not asked: {', '.join(verdict.not_asked)}"


def cuda_change(variant: VariantVerdict) -> JudgedChange | None:
    """The change of a variant's CUDA text where nothing else of it is told."""
    if variant.drifts:
        return None
    return next(
        (c for c in variant.allowed if c.group == "cuda_text" and c.rule.action != "ignore"), None
    )


def cuda_only(verdict: Verdict) -> tuple[str, ...]:
    """The variants without drift whose CUDA text is another one."""
    return tuple(
        f"{experiment.name}:{variant.name}"
        for experiment in verdict.experiments
        for case in experiment.cases
        for variant in case.variants
        if cuda_change(variant) is not None
    )


def not_comparable(verdict: Verdict) -> frozenset[str]:
    """The variants whose changes are shown and not judged."""
    return frozenset(
        f"{experiment.name}:{variant.name}"
        for experiment in verdict.experiments
        for case in experiment.cases
        for variant in case.variants
        if variant.status == "not_comparable"
    )


def status_words(status: Status, verdict: Verdict) -> str:
    """How a variant ended, in words."""
    here = _HERE if verdict.against_compiler is not None else {}
    return here.get(status) or STATUS_WORDS[status]


def ending(verdict: Verdict) -> str:
    """What the exit code stands for in this verdict."""
    if verdict.exit_code != 1:
        lost = "a variant fails or lowers now"
        if verdict.against_compiler is not None:
            lost = "one of the two compilers fails to lower a variant"
        return {0: "clean", 3: lost, 4: "not comparable"}[verdict.exit_code]
    apart = not_comparable(verdict)
    drift = any(not apart.issuperset(group.variants) for group in verdict.groups)
    broken = any(
        answer.outcome != "held"
        for experiment in verdict.experiments
        for answers in (
            experiment.expectations,
            *(v.expectations for case in experiment.cases for v in case.variants),
        )
        for answer in answers
    )
    told = (("drift", drift), ("a failed expectation", broken))
    return " and ".join(words for words, there in told if there) or "drift"


def following_words(number: int) -> str:
    """``3 more facts change as a consequence``."""
    said = "fact changes" if number == 1 else "facts change"
    return f"{number} more {said} as a consequence"


def cuda_words(names: Sequence[str]) -> str:
    """What is said of them."""
    several = quantities.count(len(names), "variant")
    return f"the CUDA text of {several} changed (reported, not judged)"


def summary(verdict: Verdict) -> str:
    """``8 variants against the baselines in dumps/x: 4 drift, 4 clean``."""
    total = sum(verdict.counts.values())
    words = dict(_COUNT_WORDS)
    if verdict.against_compiler is not None:
        words |= {"failed_now": "fail here", "lowers_now": "lower here"}
    said = ", ".join(
        f"{number} {words[status]}" + (_failing(number, verdict) if status == "clean" else "")
        for status, number in verdict.counts.items()
    )
    if verdict.compared == 0:
        nothing = "nothing was judged" if verdict.groups else "nothing was compared"
        said = f"{said}; {nothing}" if said else nothing
    return f"{quantities.count(total, 'variant')} against {verdict.against}: {said}"


def _failing(clean: int, verdict: Verdict) -> str:
    """How many of the clean variants have no code, since they fail as they did."""
    failing = sum(
        variant.status == "clean" and variant.outcome == "failed"
        for experiment in verdict.experiments
        for case in experiment.cases
        for variant in case.variants
    )
    if failing == 0:
        return ""
    if failing == clean:
        return f" ({'it fails' if clean == 1 else 'they fail'}, as accepted)"
    return f" ({failing} of them {'fails' if failing == 1 else 'fail'}, as accepted)"


def _variants(verdict: Verdict, *, many: bool, show_all: bool) -> Iterable[VariantRow]:
    for experiment in verdict.experiments:
        for case in experiment.cases:
            for variant in case.variants:
                if variant.status == "clean" and variant.note is None and not show_all:
                    continue
                name = f"{experiment.name}:{variant.name}"
                yield VariantRow(
                    status=variant.status,
                    words=status_words(variant.status, verdict),
                    name=names_in_words((name,), many=many),
                    said=_said(variant),
                )


def _said(variant: VariantVerdict) -> str:
    parts = [variant.note] if variant.note else []
    if variant.drifts:
        parts.append(quantities.count(len(variant.drifts), "change"))
    broken = sum(answer.outcome != "held" for answer in variant.expectations)
    if broken:
        parts.append(
            f"{broken} of {quantities.count(len(variant.expectations), 'expectation')} failed"
        )
    return "; ".join(parts)


def _answers(verdict: Verdict, *, many: bool, show_all: bool) -> Iterable[AnswerRow]:
    together: dict[tuple[object, ...], tuple[ExpectationResult, list[str]]] = {}
    for experiment in verdict.experiments:
        for result in experiment.expectations:
            together[experiment.name, result] = (result, [])
        for case in experiment.cases:
            for variant in case.variants:
                for result in variant.expectations:
                    if result.outcome == "held" and not show_all:
                        continue
                    names = together.setdefault((experiment.name, result), (result, []))[1]
                    names.append(f"{experiment.name}:{variant.name}")
    for result, names in together.values():
        seen = [f"{value.expression} = {value.value}" for value in result.seen[:_MOST_SEEN]]
        if len(result.seen) > _MOST_SEEN:
            seen.append(f"… {quantities.count(len(result.seen) - _MOST_SEEN, 'more value')}")
        if result.error:
            seen.insert(0, result.error)
        yield AnswerRow(
            held=result.outcome == "held",
            words=result.words,
            variants=names_in_words(tuple(names), many=many),
            seen=tuple(seen),
            place=place_words(result.place),
        )
