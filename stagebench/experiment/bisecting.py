"""Which release, depth or switch first changed a fact?  Found by halving, not by trying all.

Points stand in a row (releases by age, depths by size, pass configs switched on one after the
other); the first and the last must differ in what is watched, and of two neighbours the halving
ends at, the right one is the first that does.  Where the watched thing changes more than once it
finds one of the changes: what it names is always a pair of neighbours that do differ.

A point whose compiler can't be had, or for which ``until`` has no answer, is left out.  A variant
that fails to lower has a value as well (``failed: …``): that may be the thing sought.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from stagebench.dump.directory import read_run
from stagebench.dump.files import Dump
from stagebench.errors import MachineError, UsageError
from stagebench.experiment.bisecting_axes import Axis
from stagebench.experiment.sweep import SweepOptions, run_sweep
from stagebench.experiment.sweep_plan import SweepPlan
from stagebench.gate.expectation import Member, answer
from stagebench.gate.fact_pattern import matches
from stagebench.gate.fact_values import fact_values
from stagebench.gate.policy import check_pattern
from stagebench.model import ParamValue, Scalar
from stagebench.model.bisection import Bisection, Point

_FAILED = "failed: "
_NOWHERE = "–"


@dataclass(frozen=True)
class Watched:
    """What is looked at: the facts that a pattern names, or the answer to an expression."""

    fact: str | None = None
    until: str | None = None

    def __post_init__(self) -> None:
        if (self.fact is None) == (self.until is None):
            raise UsageError("bisect watches one thing", hint="--fact PATH, or --until EXPRESSION")
        if self.fact is not None:
            check_pattern(self.fact, "--fact")

    @property
    def words(self) -> str:
        """What is watched, in words."""
        return f"fact {self.fact}" if self.fact is not None else f"until {self.until}"


@dataclass(frozen=True)
class Bisected:
    """A bisection with the dumps of the two sides that part (``None`` where they do not)."""

    found: Bisection
    sides: tuple[Dump, Dump] | None


@dataclass(frozen=True)
class Candidate:
    """One point of the axis: its name and the variant's plan."""

    name: str
    plan: SweepPlan


def candidates(axis: Axis, values: Sequence[str], plan: SweepPlan) -> tuple[Candidate, ...]:
    """The points of an axis in order.

    ``values`` are compilers, depths, or ``KEY=VALUE`` pass configs of which each point has one
    more than the point before it (the first has none).
    """
    if axis == "compiler":
        return tuple(Candidate(text, replace(plan, compilers=(text,))) for text in values)
    if axis == "num_stages":
        return tuple(Candidate(text, replace(plan, num_stages=(int(text),))) for text in values)
    from stagebench.experiment.parameter_values import parse_assignments

    steps: list[Candidate] = [Candidate("none of them", plan)]
    configs: dict[str, Scalar] = dict(plan.pass_configs)
    for text in values:
        for key, several in parse_assignments([text], "--pass-config").items():
            value = several[0]
            if len(several) != 1 or isinstance(value, tuple):
                raise UsageError(f"--pass-config {key}: one value, not several")
            configs[key] = value
        steps.append(Candidate(f"+ {text}", replace(plan, pass_configs=dict(configs))))
    return tuple(steps)


def bisect(
    axis: Axis,
    points: Sequence[Candidate],
    watched: Watched,
    options: SweepOptions,
    folder: Path,
    tell: Callable[[str], None],
) -> Bisected:
    """Halve the way from the first point to the last until two neighbours are left.

    Every point that is looked at is dumped below ``folder``.  Raises `UsageError` where an end has
    no answer.
    """
    if len(points) < 2:
        raise UsageError(
            f"bisect needs two points of {axis} at least", hint="--good and --bad name the ends"
        )
    look = _Looking(points, watched, options, folder, tell)
    first, last = look.at(0), look.at(len(points) - 1)
    for end, point in ((first, points[0]), (last, points[-1])):
        if end.value is None:
            raise UsageError(f"{point.name} has no answer: {end.note}", hint="name another end")
    if first.value == last.value:
        return Bisected(look.bisection(axis, None, None), None)
    left, right = 0, len(points) - 1
    while True:
        middle = look.middle(left, right)
        if middle is None:
            break
        if look.at(middle).value == first.value:
            left = middle
        else:
            right = middle
    return Bisected(look.bisection(axis, left, right), (look.dump(left), look.dump(right)))


class _Looking:
    """Lowers points when they are asked for, each once."""

    def __init__(
        self,
        points: Sequence[Candidate],
        watched: Watched,
        options: SweepOptions,
        folder: Path,
        tell: Callable[[str], None],
    ) -> None:
        self._points = points
        self._watched = watched
        self._options = options
        self._folder = folder
        self._tell = tell
        self._seen: dict[int, Point] = {}
        self._dumps: dict[int, Dump] = {}

    def at(self, index: int) -> Point:
        """What is seen at a point."""
        if index not in self._seen:
            self._seen[index] = self._look(index)
            point = self._seen[index]
            self._tell(f"{point.name}: {point.value if point.value is not None else point.note}")
        return self._seen[index]

    def dump(self, index: int) -> Dump:
        """The dump of a point that was looked at."""
        return self._dumps[index]

    def middle(self, left: int, right: int) -> int | None:
        """The point nearest to the middle that has an answer; ``None`` where there is none left."""
        between = sorted(range(left + 1, right), key=lambda at: (abs(2 * at - left - right), at))
        return next((at for at in between if self.at(at).value is not None), None)

    def bisection(self, axis: Axis, left: int | None, right: int | None) -> Bisection:
        """The findings as they are told."""
        order = sorted(self._seen)
        between = () if left is None or right is None else range(left + 1, right)
        return Bisection(
            axis=axis,
            watched=self._watched.words,
            variant=self._dumps[min(self._dumps)].result.variant,
            points=tuple(self._seen[at] for at in order),
            left=None if left is None else order.index(left),
            right=None if right is None else order.index(right),
            between=tuple(self._points[at].name for at in between),
        )

    def _look(self, index: int) -> Point:
        point = self._points[index]
        root = self._folder / str(index)
        try:
            run_sweep(point.plan, replace(self._options, dump_dir=root))
        except MachineError as exc:  # no such compiler here: the others may do
            return Point(name=point.name, value=None, note=exc.message)
        (dump,) = read_run(root)
        self._dumps[index] = dump
        value, note = seen(dump, self._watched)
        return Point(name=point.name, value=value, note=note)


def seen(dump: Dump, watched: Watched) -> tuple[str | None, str | None]:
    """What is watched, as a dump has it, and why it has no answer where it has none."""
    failure = dump.result.failure
    if watched.until is not None:
        outcome, error = answer(watched.until, Member(dump.result, dump.kernel_cu, _axes(dump)))
        if outcome is None:
            return None, f"{watched.until}: {error}"
        return ("yes" if outcome else "no"), None
    if failure is not None:
        where = f" in {failure.pass_name}" if failure.pass_name else ""
        return f"{_FAILED}{failure.kind}{where}: {failure.message.splitlines()[0]}", None
    return _values(dump, watched.fact or ""), None


def _values(dump: Dump, pattern: str) -> str:
    """Every fact that the pattern names with its value, in one line."""
    if matches(pattern, "outcome"):
        return dump.result.outcome
    if matches(pattern, "kernel_cu"):
        from hashlib import sha256

        return sha256((dump.kernel_cu or "").encode()).hexdigest()[:12]
    facts = dump.result.facts
    assert facts is not None  # noqa: S101 - a failed variant has no values
    found = {path: value for path, value in fact_values(facts) if matches(pattern, path)}
    if not found:  # an op that never occurs is absent: it was looked for
        return "0" if pattern.startswith("sync_totals[") and "*" not in pattern else _NOWHERE
    if list(found) == [pattern]:
        return _said(found[pattern])
    return ", ".join(f"{path} {_said(value)}" for path, value in found.items())


def _said(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if value is None:
        return _NOWHERE
    if isinstance(value, tuple):
        return " ".join(_said(item) for item in value) or "none"
    return str(value)


def _axes(dump: Dump) -> Mapping[str, ParamValue]:
    variant = dump.result.variant
    return {"case": variant.kernel, "arch": variant.arch, **variant.params}
