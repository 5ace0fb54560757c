"""Does a variant keep what its author said in code?  ``expect("words", lambda v: …)``.

An expectation holds only where it returns ``True``: what raises, returns nothing, or returns
something else that happens to be true is a failure, and so is one that no variant could answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stagebench.errors import UsageError
from stagebench.gate.record_views import Notes
from stagebench.gate.variant_view import VariantView
from stagebench.model import ParamValue, VariantResult
from stagebench.model.verdict import ExpectationResult, Place, SeenValue

Axes = Mapping[str, ParamValue]


@dataclass(frozen=True)
class Expectation:
    """A statement about each variant that ``where`` selects; ``line`` is 1-based in its file."""

    words: str
    test: Callable[[Any], object]
    where: Mapping[str, tuple[ParamValue, ...]]
    line: int | None

    def applies(self, axes: Axes) -> bool:
        """Whether a variant with these axis values is meant."""
        return all(
            name in axes and any(_same(axes[name], value) for value in values)
            for name, values in self.where.items()
        )


def expect(
    words: str,
    test: Callable[[Any], object],
    *,
    where: Mapping[str, ParamValue | list[ParamValue]] | None = None,
) -> Expectation:
    """State what must be true of every variant, or of those that ``where`` selects.

    ``test`` gets a `stagebench.gate.variant_view.VariantView`.  ``where`` maps ``case``, ``arch``,
    ``num_stages`` or a parameter to a value, or to a list of them.
    """
    if not isinstance(words, str) or not words.strip() or not callable(test):
        raise UsageError(
            f"expect({words!r}, …): words, then a function of a variant",
            hint='expect("one version a stage", lambda v: …)',
        )
    code = getattr(test, "__code__", None)
    chosen = {
        name: tuple(value) if isinstance(value, list) else (value,)
        for name, value in (where or {}).items()
    }
    line = code.co_firstlineno if code is not None else None
    return Expectation(words=words, test=test, where=chosen, line=line)


@dataclass(frozen=True)
class Member:
    """A lowered variant of an experiment with its axis values (``case``, ``arch``, …)."""

    result: VariantResult
    kernel_cu: str | None
    axes: Axes


def evaluate(
    expectations: Sequence[Expectation], members: Sequence[Member], file: str
) -> tuple[list[tuple[ExpectationResult, ...]], tuple[ExpectationResult, ...]]:
    """Results for each member, and those of the expectations that no member could answer."""
    found: list[tuple[ExpectationResult, ...]] = []
    answered: set[int] = set()
    for member in members:
        results = []
        for number, expectation in enumerate(expectations):
            if expectation.applies(member.axes):
                answered.add(number)
                results.append(_evaluate(expectation, member, members, file))
        found.append(tuple(results))
    unanswered = tuple(
        ExpectationResult(
            words=expectation.words,
            outcome="failed",
            seen=(),
            error=_nobody(expectation.where, [member.axes for member in members]),
            place=Place(file=file, line=expectation.line),
        )
        for number, expectation in enumerate(expectations)
        if number not in answered
    )
    return found, unanswered


def _evaluate(
    expectation: Expectation, member: Member, members: Sequence[Member], file: str
) -> ExpectationResult:
    notes = Notes()
    error: str | None = None
    outcome: Any = "failed"
    try:
        answer = expectation.test(_view(member, members, notes, ""))
        if answer is True:
            outcome = "held"
        elif answer is not False:
            error = f"returned {answer!r}, not True or False"
    except KeyboardInterrupt:
        raise
    except BaseException as exc:  # noqa: BLE001 - the author's code: SystemExit is a failure too
        outcome = "raised"
        text = str(exc.args[0]) if isinstance(exc, LookupError) and exc.args else str(exc)
        error = f"{type(exc).__name__}: {text}" if text else type(exc).__name__
    return ExpectationResult(
        words=expectation.words,
        outcome=outcome,
        seen=tuple(SeenValue(expression=key, value=said) for key, said in notes.seen.items()),
        error=error,
        place=Place(file=file, line=expectation.line),
    )


def _view(member: Member, members: Sequence[Member], notes: Notes, prefix: str) -> VariantView:
    def beside(axes: Axes) -> VariantView:
        unknown = [name for name in axes if name not in member.axes]
        if unknown:
            raise LookupError(f"no axis {unknown[0]!r} (there are: {', '.join(member.axes)})")
        wanted = {**member.axes, **axes}
        said = ", ".join(f"{name}={value!r}" for name, value in axes.items())
        for other in members:
            if other.axes.keys() == wanted.keys() and all(
                _same(other.axes[name], value) for name, value in wanted.items()
            ):
                return _view(other, members, notes, f"at({said}).")
        raise LookupError(f"the experiment has no variant beside this one at {said}")

    case = str(member.axes["case"])
    return VariantView(member.result, member.kernel_cu, case, notes, beside, prefix)


def _same(one: ParamValue, two: ParamValue) -> bool:
    return one == two and type(one) is type(two)


def _nobody(where: Mapping[str, tuple[ParamValue, ...]], there: Sequence[Axes]) -> str:
    """That no variant is meant, and what could have been."""
    names = list(dict.fromkeys(name for axes in there for name in axes))
    parts = []
    for name, wanted in where.items():
        known = dict.fromkeys(repr(axes[name]) for axes in there if name in axes)
        if names and not known:
            parts.append(f"there is no {name}, but {', '.join(names)}")
        elif known and not any(repr(value) in known for value in wanted):
            parts.append(f"{name} is {' or '.join(known)}")
    if not parts and len(where) > 1 and there:
        parts.append("each is there, but not together")
    said = f"no variant has {_said(where)}"
    return f"{said}: {'; '.join(parts)}" if parts else said


def _said(where: Mapping[str, tuple[ParamValue, ...]]) -> str:
    parts = (f"{name}={' or '.join(map(repr, values))}" for name, values in where.items())
    return ", ".join(parts) or "been lowered"
