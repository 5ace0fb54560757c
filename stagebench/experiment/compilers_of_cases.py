"""Which compiler lowers each case: one of ``--compiler``, the case's own, or this environment's?

A case that names a compiler keeps it, unless ``--compiler`` gives another release of the same one.
A release of TileLang is no other side of a case that is Apache TVM's, nor the other way round.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from stagebench.errors import UsageError
from stagebench.experiment.compared_with import Compared
from stagebench.experiment.definition import Case
from stagebench.experiment.planned_variants import is_meant
from stagebench.experiment.sweep import SweepOptions
from stagebench.lowering.cache_folder import default_cache_folder
from stagebench.lowering.choose_compilers import (
    Chosen,
    NoCompiler,
    choose_compilers,
    choose_or_not,
)
from stagebench.lowering.compiler_choice import parse_choice
from stagebench.lowering.compiler_environment import CompilerEnvironment, this_environment
from stagebench.lowering.overlays import Overlays

_DEFAULT = "tilelang"


@dataclass(frozen=True)
class Turn:
    """Who lowers a case in the turn of one compiler, and whether that is judged in this turn."""

    compiler: Chosen
    judged: bool


@dataclass(frozen=True)
class CompilersOfCases:
    """The compilers of a check.

    ``given`` are those of ``--compiler`` (``explicit``), or the one that lowers the cases which
    name none; ``own`` those that cases name, by the text that names them.  ``other`` is the one
    that is compared with.
    """

    given: tuple[CompilerEnvironment, ...]
    explicit: bool
    own: Mapping[str, Chosen]
    other: CompilerEnvironment | None = None

    def turn(self, case: Case, number: int) -> Turn:
        """Who lowers a case in the turn of ``given[number]``."""
        if case.compiler is None:
            return Turn(self.given[number], judged=True)
        own = self.own[case.compiler]
        instead = [one for one in self.given if self.explicit and _alike(one, own)]
        if not instead:
            return Turn(own, judged=number == 0)
        mine = self.given[number]
        return Turn(mine, judged=True) if mine in instead else Turn(instead[0], judged=False)

    def is_asked(self, case: Case) -> bool:
        """Whether the compiler that is compared with can have the case's kernel."""
        if self.other is None or (case.compiler is None and self.explicit):
            return True
        own = self.given[0] if case.compiler is None else self.own[case.compiler]
        return _alike(own, self.other)

    def check_used(self, cases: Sequence[Case], texts: Sequence[str]) -> None:
        """Raise `UsageError` where one of ``--compiler`` lowers no case."""
        for number, (text, given) in enumerate(zip(texts, self.given, strict=True)):
            turns = [self.turn(case, number) for case in cases]
            if any(turn.judged and turn.compiler is given for turn in turns):
                continue
            raise UsageError(
                f"--compiler {text} would lower nothing: {', '.join(_counted(cases))}",
                hint=f"a case that names a compiler is lowered by that one; leave out {text}",
            )

    def not_asked(self, cases: Iterable[Case]) -> tuple[str, ...]:
        """What is said of the cases that are not compared: ``7 cases name tvm``."""
        return _counted([case for case in cases if not self.is_asked(case)])


def compilers_of_cases(
    cases: Sequence[Case], compared: Compared, options: SweepOptions
) -> CompilersOfCases:
    """The compilers of a check; where every case names its own, there need be no TileLang here.

    Raises `UsageError` for one that is named wrongly or twice, or lowers nothing, and
    `MachineError` for one that can't be had, unless only cases name it and others have one.
    """
    folder = options.cache_dir or default_cache_folder()
    overlays = Overlays(folder, options.warn)
    own = {
        name: choose_or_not(parse_choice(name), overlays)
        for name in dict.fromkeys(case.compiler for case in cases)
        if name is not None
    }
    explicit = bool(compared.compilers)
    if explicit:
        given = _all_there(choose_compilers(compared.compilers, folder, options.warn))
    elif own and all(case.compiler is not None for case in cases):
        given = _first_there(list(own.values()))
    else:
        given = (this_environment(_DEFAULT),)
    found = CompilersOfCases(given, explicit, own)
    meant = [case for case in cases if is_meant(case, compared)]
    if explicit:
        found.check_used(meant, compared.compilers)
    if compared.against_compiler is None:
        return found
    beside = [one for one in given if explicit or any(case.compiler is None for case in meant)]
    (other,) = _all_there(
        choose_compilers(
            [compared.against_compiler], folder, options.warn,
            flag="--against-compiler", beside=beside,
        )
    )  # fmt: skip
    return CompilersOfCases(given, explicit, own, other)


def _alike(one: Chosen, two: Chosen) -> bool:
    """Whether they are releases of the same compiler."""
    return one.compiler.name == two.compiler.name


def _first_there(found: Sequence[Chosen]) -> tuple[CompilerEnvironment, ...]:
    """One that is there: what is lost for want of another one is lost by its own cases."""
    there = [one for one in found if isinstance(one, CompilerEnvironment)]
    return tuple(there[:1]) or _all_there(found)


def _all_there(found: Iterable[Chosen]) -> tuple[CompilerEnvironment, ...]:
    there = []
    for one in found:
        if isinstance(one, NoCompiler):
            raise one.error
        there.append(one)
    return tuple(there)


def _counted(cases: Sequence[Case]) -> tuple[str, ...]:
    """``7 cases name tvm``, and what is meant by the rest."""
    counts = Counter(case.compiler for case in cases)
    said = []
    for name, count in counts.items():
        one = count == 1
        if name is None:
            verb = "case names" if one else "cases name"
            said.append(f"{count} {verb} no compiler (--compiler {_DEFAULT} compares even so)")
        else:
            said.append(f"{count} {'case names' if one else 'cases name'} {name}")
    return tuple(said)
