"""Which pass run of one variant is which of the other?

By sequence, not by index: the number of passes depends on ``num_stages``, names repeat, some passes
are anonymous.  Outermost runs are aligned by name; nested ones below aligned parents only.

TVM has renamed the namespace of its passes: ``tir.X`` of the TVM in TileLang 0.1.9 is ``tirx.X`` or
``s_tir.X`` in that of 0.1.10 (``Simplify``, ``HoistIfThenElse``), and Apache TVM 0.27 moved
``tirx.StmtSimplify`` to ``s_tir``.  A pass keeps its name in it: it is one pass in all three.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from stagebench.diff.pass_runs import PassStep

_TVM_NAMESPACES = ("tir", "tirx", "s_tir")


@dataclass(frozen=True)
class AlignedPass:
    """The same pass on both sides; ``None`` where it did not run."""

    left: PassStep | None
    right: PassStep | None

    @property
    def either(self) -> PassStep:
        """The left run, or the right one where there is no left one."""
        found = self.left or self.right
        if found is None:
            raise ValueError("a pass that ran on neither side")
        return found

    @property
    def renamed(self) -> bool:
        """Whether it has another name on the right."""
        return bool(self.left and self.right and self.left.run.name != self.right.run.name)

    @property
    def where(self) -> str:
        """Where a change first seen after this pass was made: in it, or since another pass."""
        since = next((s.since for s in (self.left, self.right) if s and s.since), None)
        name = self.either.run.name
        if self.right is not None and self.renamed:
            name += f" ({self.right.run.name} on the right)"
        return name if since is None else f"between {since} and {name}"


def one_name(name: str) -> str:
    """A pass's name, the same whichever of TVM's namespaces it is in."""
    namespace, dot, own = name.rpartition(".")
    return f"{_TVM_NAMESPACES[0]}.{own}" if dot and namespace in _TVM_NAMESPACES else name


def align_passes(left: Sequence[PassStep], right: Sequence[PassStep]) -> tuple[AlignedPass, ...]:
    """Every run of both sides, once, in an order that keeps both sequences."""
    return tuple(_align(left, right, None, None))


def _align(
    left: Sequence[PassStep],
    right: Sequence[PassStep],
    left_parent: int | None,
    right_parent: int | None,
) -> Iterator[AlignedPass]:
    mine = [step for step in left if step.parent == left_parent]
    theirs = [step for step in right if step.parent == right_parent]
    names = [[one_name(step.run.name) for step in steps] for steps in (mine, theirs)]
    matcher = SequenceMatcher(None, names[0], names[1], autojunk=False)
    for tag, start, end, first, last in matcher.get_opcodes():
        if tag == "equal":
            for one, two in zip(mine[start:end], theirs[first:last], strict=True):
                yield AlignedPass(one, two)
                yield from _align(left, right, one.run.sequence, two.run.sequence)
            continue
        for step in mine[start:end]:
            yield from _alone(left, step, on_left=True)
        for step in theirs[first:last]:
            yield from _alone(right, step, on_left=False)


def _alone(steps: Sequence[PassStep], step: PassStep, *, on_left: bool) -> Iterator[AlignedPass]:
    yield AlignedPass(step, None) if on_left else AlignedPass(None, step)
    for child in steps:
        if child.parent == step.run.sequence:
            yield from _alone(steps, child, on_left=on_left)
