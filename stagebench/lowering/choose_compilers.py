"""Which environments do the values of ``--compiler`` stand for, and which can't be had?

One that can't be had loses its own variants, never the others: it is a record with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from stagebench.errors import MachineError, UsageError
from stagebench.lowering.compiler_choice import (
    Choice,
    Place,
    Release,
    parse_choice,
)
from stagebench.lowering.compiler_environment import (
    CompilerEnvironment,
    environment_at,
    environment_in_front,
    this_environment,
)
from stagebench.lowering.installed_packages import is_here
from stagebench.lowering.overlays import Overlays
from stagebench.lowering.tested_releases import untested
from stagebench.model import Compiler

_UNKNOWN = "unknown"
"""What the compiler of a place is called where none could be seen there."""
_NOT_LOCAL = re.compile(r"[^A-Za-z0-9.]+")


@dataclass(frozen=True)
class NoCompiler:
    """A compiler that was asked for and can't be had."""

    compiler: Compiler
    error: MachineError


Chosen = CompilerEnvironment | NoCompiler


def choose_compilers(
    texts: Sequence[str],
    cache_folder: Path,
    tell: Callable[[str], None],
    *,
    flag: str = "--compiler",
    beside: Sequence[Chosen] = (),
) -> tuple[Chosen, ...]:
    """The environment of each value, in order; of this environment's compiler where there is none.

    ``flag`` is what the values were given for.  ``beside`` are compilers that they must differ
    from: of one version they are told apart by the names of their places.

    Raises `UsageError` for a value that is none, or that names what another one does, and
    `MachineError` where not one of them can be had.
    """
    if not texts:
        return (this_environment(),)
    overlays = Overlays(cache_folder, tell)
    named: list[tuple[str, Choice, Chosen]] = []
    for text in texts:
        choice = parse_choice(text, flag)
        found = choose_or_not(choice, overlays)
        _check_other(f"{flag} {text}", found, beside, [(t, one) for t, _, one in named])
        named.append((text, choice, found))
    chosen = _told_apart([(choice, found) for _, choice, found in named], beside)
    missing = [one.error for one in chosen if isinstance(one, NoCompiler)]
    if len(missing) == len(chosen):
        raise missing[0]
    return chosen


def untested_notes(compilers: Iterable[Compiler]) -> tuple[str, ...]:
    """A sentence about each compiler that this stagebench was not tested with."""
    notes = (untested(compiler.name, compiler.version) for compiler in compilers)
    return tuple(dict.fromkeys(note for note in notes if note is not None))


def choose_or_not(choice: Choice, overlays: Overlays) -> Chosen:
    """The environment of one choice, or why there is none."""
    try:
        return choose(choice, overlays)
    except MachineError as exc:
        return NoCompiler(compiler=_named(choice), error=exc)


def choose(choice: Choice, overlays: Overlays) -> CompilerEnvironment:
    """The environment of one choice, made where it is missing."""
    if isinstance(choice, Place):
        return environment_at(choice.path)
    if choice.version is None or is_here(choice):
        return this_environment(choice.name)
    return environment_in_front(overlays.make(choice), choice.name)


def _named(choice: Choice) -> Compiler:
    if isinstance(choice, Release):
        return Compiler(name=choice.name, version=choice.version or "absent")
    return Compiler(name=_UNKNOWN, version=next(_labels(choice), "local"))


def _labels(place: Place) -> Iterator[str]:
    """Names for a place, the shortest first: ``venv``, ``new.venv``, ``work.new.venv`` …"""
    parts = [part for part in place.path.parts if part != place.path.anchor]
    for start in range(len(parts) - 1, -1, -1):
        yield _NOT_LOCAL.sub(".", ".".join(parts[start:])).strip(".") or "local"


def _check_other(
    said: str, found: Chosen, beside: Sequence[Chosen], before: Sequence[tuple[str, Chosen]]
) -> None:
    """Raise `UsageError` where the compiler is one of those that it is to differ from."""
    told = f"{said} is {found.compiler.name} {found.compiler.version}"
    again = next((text for text, one in before if _same(one, found)), None)
    if again is not None:
        raise UsageError(
            f"{told}, and so is {again}: given twice", hint="each value names another compiler"
        )
    if any(_same(one, found) for one in beside):
        raise UsageError(
            f"{told}, which lowers here already: there is nothing to compare",
            hint="name another release, or another build's place",
        )


def _same(one: Chosen, two: Chosen) -> bool:
    """Whether two values stand for the same installed files (or for the same absent ones)."""
    if isinstance(one, CompilerEnvironment) and isinstance(two, CompilerEnvironment):
        return one.identity == two.identity
    if isinstance(one, NoCompiler) and isinstance(two, NoCompiler):
        return one.error.message == two.error.message
    return False


def _told_apart(
    named: Sequence[tuple[Choice, Chosen]], beside: Sequence[Chosen]
) -> tuple[Chosen, ...]:
    """The compilers, the version of a place labelled where another has the same one."""
    taken = [
        *(other.compiler for other in beside),
        *(found.compiler for choice, found in named if isinstance(choice, Release)),
    ]
    chosen: list[Chosen] = []
    for choice, found in named:
        one = found
        if isinstance(choice, Place) and isinstance(found, CompilerEnvironment):
            one = _labelled(found, choice, taken)
            taken.append(one.compiler)
        chosen.append(one)
    return tuple(chosen)


def _labelled(
    found: CompilerEnvironment, place: Place, taken: Sequence[Compiler]
) -> CompilerEnvironment:
    name, version = found.compiler.name, found.compiler.version
    labelled = (Compiler(name=name, version=f"{version}+{label}") for label in _labels(place))
    free = (one for one in (found.compiler, *labelled) if one not in taken)
    return msgspec.structs.replace(found, compiler=next(free, found.compiler))
