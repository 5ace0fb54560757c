"""Which release, depth or switch first changed a fact?  Found by halving, not by trying all.

Points stand in a row (releases by age, depths by size, pass configs switched on one after the
other); the first and the last must differ in what is watched, and of two neighbours the halving
ends at, the right one is the first that does.  Where the watched thing changes more than once it
finds one of the changes: what it names is always a pair of neighbours that do differ.  Where the
ends are alike nothing is known of what lies between; ``every`` looks at all points instead.

A point whose compiler can't be had, or for which ``until`` has no answer, is left out.  A variant
that fails to lower has a value as well (``failed: …``): that may be the thing sought.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from stagebench.dump.directory import read_run
from stagebench.dump.files import Dump
from stagebench.errors import MachineError, UsageError
from stagebench.experiment.bisecting_axes import POINTS, Axis
from stagebench.experiment.bisecting_watched import (
    Watched,
    differing,
    is_absent,
    names_beside,
    seen,
)
from stagebench.experiment.default_axes import NUM_STAGES_OF_ONE
from stagebench.experiment.parameter_values import parse_pass_configs
from stagebench.experiment.sweep import SweepOptions, run_sweep
from stagebench.experiment.sweep_plan import SweepPlan
from stagebench.lowering.kept_worker import KeptWorker
from stagebench.model import Scalar
from stagebench.model.bisection import Bisection, Point


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
    """The points of an axis in order, each of one variant; `UsageError` where it is more.

    ``values`` are compilers, depths, or ``KEY=VALUE`` pass configs of which each point has one
    more than the point before it (the first has those of ``plan``).  A depth that nobody gave is
    `NUM_STAGES_OF_ONE`, or that of the kernel as written.
    """
    twice = next((text for at, text in enumerate(values) if text in values[:at]), None)
    if twice is not None:
        raise UsageError(f"--{axis.replace('_', '-')} has {twice} twice", hint=POINTS[axis])
    _check_one_variant(axis, plan)
    plan = replace(plan, default_num_stages=(NUM_STAGES_OF_ONE,))
    if axis == "compiler":
        return tuple(Candidate(text, replace(plan, compilers=(text,))) for text in values)
    if axis == "num_stages":
        return tuple(Candidate(text, replace(plan, num_stages=(int(text),))) for text in values)
    steps: list[Candidate] = [Candidate("none of them", plan)]
    configs: dict[str, Scalar] = dict(plan.pass_configs)
    for text in values:
        configs |= parse_pass_configs([text])
        steps.append(Candidate(f"+ {text}", replace(plan, pass_configs=dict(configs))))
    return tuple(steps)


def _check_one_variant(axis: Axis, plan: SweepPlan) -> None:
    """Raise `UsageError` where more than the axis varies."""
    several: dict[str, int] = {"--arch": len(plan.archs)}
    if axis != "compiler":
        several["--compiler"] = max(1, len(plan.compilers))
    if axis != "num_stages":
        several["--num-stages"] = 1 if plan.num_stages is None else len(plan.num_stages)
    several |= {f"--set {name}": len(values) for name, values in plan.params.items()}
    for flag, count in several.items():
        if count != 1:
            raise UsageError(f"bisect follows one variant: {flag} has {count} values")


def bisect(
    axis: Axis,
    points: Sequence[Candidate],
    watched: Watched,
    options: SweepOptions,
    folder: Path,
    tell: Callable[[str], None],
    *,
    every: bool = False,
) -> Bisected:
    """Halve the way from the first point to the last until two neighbours are left.

    With ``every`` all points are looked at, and all changes are found.  Every point that is looked
    at is dumped below ``folder``, and lowered by a worker that stays for the next one of the same
    compiler.  Raises `UsageError` where an end has no answer, or every point fails alike.
    """
    if len(points) < 2:
        raise UsageError(f"bisect needs two points of {axis} at least", hint=POINTS[axis])
    end = len(points) - 1
    with KeptWorker() as worker:
        options = replace(options, worker=worker)
        look = _Looking(axis, points, watched, options, folder, tell)
        for at in (0, end):
            if look.at(at).value is None:
                hint = "name another end"
                raise UsageError(
                    f"{points[at].name} has no answer: {look.at(at).note}",
                    hint=hint if watched.until is None else f"ask what is true or false, or {hint}",
                )
        look.check_names(0, end)
        pairs = look.pairs() if every else look.halved(0, end)
    if not pairs:
        look.check_lowered()
    sides = (look.dump(pairs[0][0]), look.dump(pairs[0][1])) if pairs else None
    return Bisected(look.bisection(pairs), sides)


class _Looking:
    """Lowers points when they are asked for, each once."""

    def __init__(
        self,
        axis: Axis,
        points: Sequence[Candidate],
        watched: Watched,
        options: SweepOptions,
        folder: Path,
        tell: Callable[[str], None],
    ) -> None:
        self._axis = axis
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

    def check_names(self, first: int, last: int) -> None:
        """Raise `UsageError` where neither end has the thing that is named: it may be misspelt."""
        both = [self._dumps[at] for at in (first, last)]
        if all(is_absent(dump, self._watched) for dump in both):
            there = dict.fromkeys(n for dump in both for n in names_beside(dump, self._watched))
            raise UsageError(
                f"--fact {self._watched.fact}: neither {self._points[first].name} nor "
                f"{self._points[last].name} has it: nothing was compared",
                hint=f"there are: {', '.join(there)}" if there else "there is nothing of the kind",
            )

    def check_lowered(self) -> None:
        """Raise `UsageError` where no point lowers and each fails alike: no fact was compared."""
        dumps = [self._dumps[at] for at in sorted(self._dumps)]
        if self._watched.may_fail or any(dump.result.facts is not None for dump in dumps):
            return
        first, last = (self._points[at].name for at in (min(self._dumps), max(self._dumps)))
        raise UsageError(
            f"neither {first} nor {last} lowers: {self._seen[0].value}",
            hint="--fact outcome, or --until, asks when it does",
        )

    def halved(self, left: int, right: int) -> tuple[tuple[int, int], ...]:
        """The neighbours where the halving ends; none where the two are alike."""
        first = left
        if not self._differing(left, right):
            return ()
        while (middle := self.middle(left, right)) is not None:
            if self._differing(first, middle):
                right = middle
            else:
                left = middle
        return ((left, right),)

    def pairs(self) -> tuple[tuple[int, int], ...]:
        """All neighbours that differ, points without an answer left out."""
        answered = [at for at in range(len(self._points)) if self.at(at).value is not None]
        return tuple(pair for pair in pairwise(answered) if self._differing(*pair))

    def _differing(self, one: int, two: int) -> tuple[str, ...]:
        return differing(self._dumps[one], self._dumps[two], self._watched)

    def middle(self, left: int, right: int) -> int | None:
        """The point nearest to the middle that has an answer; ``None`` where there is none left."""
        between = sorted(range(left + 1, right), key=lambda at: (abs(2 * at - left - right), at))
        return next((at for at in between if self.at(at).value is not None), None)

    def bisection(self, pairs: Sequence[tuple[int, int]]) -> Bisection:
        """The findings as they are told."""
        order = sorted(self._seen)
        left, right = pairs[0] if pairs else (None, None)
        between = () if left is None or right is None else range(left + 1, right)
        return Bisection(
            axis=self._axis,
            watched=self._watched.words,
            variant=self._dumps[min(self._dumps)].result.variant,
            points=tuple(self._seen[at] for at in order),
            left=None if left is None else order.index(left),
            right=None if right is None else order.index(right),
            between=tuple(self._points[at].name for at in between),
            changed=() if left is None or right is None else self._differing(left, right),
            again=tuple(order.index(at) for _, at in pairs[1:]),
            not_looked_at=tuple(
                point.name for at, point in enumerate(self._points) if at not in self._seen
            ),
            machine_code=not self._watched.may_be_machine_code
            or self._options.assembler is not None,
        )

    def _look(self, index: int) -> Point:
        point = self._points[index]
        root = self._folder / str(index)
        try:
            run_sweep(point.plan, replace(self._options, dump_dir=root))
        except MachineError as exc:
            if self._axis != "compiler":  # it is about all points
                raise
            # no such compiler here: the others may do
            return Point(name=point.name, value=None, note=exc.message)
        dumps = read_run(root)
        if len(dumps) != 1:
            raise ValueError(f"{point.name} is {len(dumps)} variants")
        dump = dumps[0]
        self._dumps[index] = dump
        value, note = seen(dump, self._watched)
        return Point(name=point.name, value=value, note=note)
