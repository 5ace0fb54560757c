"""What was each pass of a lowering given, and what did it leave?

A dump records the text after each pass, and whether the pass changed anything; the text before it
is that of the pass whose result it took.  That is its predecessor at the same nesting, unless the
two hold no function in common (host and device code are taken from one module by two filters).  A
nested pass may have been given a module of its own: where no sibling can have left it, the text
before it is not known, and nothing is claimed about what the pass did.

The module may also have been rewritten between two passes (host and device code are split by a
function whose result no pass reports): where functions appear that no pass left, what a pass did
can't be told from that, and its step says since which pass the text is not known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from stagebench.diff.pass_facts import PassFacts, read_pass_facts
from stagebench.dump.files import SNAPSHOTS, Dump
from stagebench.errors import DumpError
from stagebench.model import Facts, PassRun


@dataclass(frozen=True)
class PassStep:
    """One pass run with the digests of its texts.

    ``number`` counts runs of the same name in this lowering from 1; ``parent`` is the sequence of
    the run that it is nested in.  ``before`` is ``None`` where it is not known, ``after`` where the
    pass never ended.  ``since`` names the pass after which ``before`` was recorded, where the
    module was rewritten between that pass and this one.
    """

    run: PassRun
    number: int
    parent: int | None
    before: str | None
    after: str | None
    since: str | None = None


class Lowering:
    """The passes of one dump, with their texts and what can be read off them."""

    def __init__(self, dump: Dump) -> None:
        facts = dump.result.facts
        if facts is None:
            raise DumpError(
                f"{dump.folder}: this variant failed: it has no passes to compare",
                hint=f"`stagebench explain {dump.folder}` says why",
            )
        self.dump = dump
        self.facts: Facts = facts
        if not (Path(dump.folder) / SNAPSHOTS).is_file():
            raise DumpError(
                f"{dump.folder} holds no pass snapshots",
                hint="baselines keep none: `stagebench sweep … --dump-dir DIR` writes them",
            )
        self.texts: Mapping[str, str] = dump.snapshots()
        self._read: dict[str, PassFacts] = {}
        missing = [run for run in self.runs if run.snapshot not in (None, *self.texts)]
        if missing:
            raise DumpError(
                f"{dump.folder}: the IR after pass {missing[0].sequence} ({missing[0].name}) is "
                "not among the snapshots",
                hint="lower the variant again",
            )

    @property
    def runs(self) -> Sequence[PassRun]:
        """The passes as recorded."""
        return self.facts.lowering.passes

    @cached_property
    def initial(self) -> str | None:
        """The digest of the module before the first pass (the first text that was recorded)."""
        return next(iter(self.texts), None)

    @cached_property
    def steps(self) -> tuple[PassStep, ...]:
        """Every pass run, in the order in which they started."""
        return tuple(self._steps())

    def facts_of(self, digest: str) -> PassFacts:
        """What the text shows (read once)."""
        if digest not in self._read:
            unknown = [
                op.partition(":")[2] for op in self.facts.sync_totals if op.startswith("unknown:")
            ]
            self._read[digest] = read_pass_facts(
                self.texts[digest], kernel=self.facts.launch.function, unknown_ops=unknown
            )
        return self._read[digest]

    def _steps(self) -> Iterator[PassStep]:
        numbers: dict[str, int] = {}
        open_runs: list[PassRun] = []
        siblings: dict[int | None, list[PassRun]] = {}
        befores: dict[int | None, str | None] = {None: self.initial}
        for run in self.runs:
            while open_runs and open_runs[-1].depth >= run.depth:
                open_runs.pop()
            parent = open_runs[-1].sequence if open_runs else None
            open_runs.append(run)
            numbers[run.name] = numbers.get(run.name, 0) + 1
            earlier = siblings.setdefault(parent, [])
            before = run.snapshot if not run.changed and run.snapshot else None
            if before is None:
                before = self._before(run, earlier, befores.get(parent), nested=parent is not None)
            since = earlier[-1].name if earlier and self._appeared(before, run.snapshot) else None
            earlier.append(run)
            befores[run.sequence] = before
            yield PassStep(run, numbers[run.name], parent, before, run.snapshot, since)

    def _appeared(self, before: str | None, after: str | None) -> bool:
        """Whether a text has functions beside all of those that the one before it had."""
        mine, theirs = self._functions(before), self._functions(after)
        return bool(mine) and mine < theirs

    def _before(
        self, run: PassRun, earlier: Sequence[PassRun], given: str | None, *, nested: bool
    ) -> str | None:
        if nested and any(sibling.name == run.name for sibling in earlier):
            return None  # a new round, perhaps over another module
        here = self._functions(run.snapshot)
        candidates = [sibling.snapshot for sibling in reversed(earlier)]
        for digest in (*candidates, given):
            if digest is not None and (not here or here & self._functions(digest)):
                return digest
        return None if nested else next((d for d in (*candidates, given) if d), None)

    def _functions(self, digest: str | None) -> set[str]:
        """The names of the functions in a text: the module's lines at its first indentation."""
        if digest is None:
            return set()
        return {
            line[8:].partition("(")[0]
            for line in self.texts[digest].split("\n")
            if line.startswith("    def ")
        }
