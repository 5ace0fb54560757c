"""Which environments do the values of ``--compiler`` stand for, and which can't be had?

One that can't be had loses its own variants, never the others: it is a record with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
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
    tell_untested: bool = True,
) -> tuple[Chosen, ...]:
    """The environment of each value, in order; of this environment's compiler where there is none.

    ``tell`` is told which of them are untested too, unless the caller does that once it knows that
    they can be imported (`untested_notes`).

    Raises `UsageError` for a value that is none, or that names what another one does, and
    `MachineError` where not one of them can be had.
    """
    if not texts:
        return (this_environment(),)
    overlays = Overlays(cache_folder, tell)
    chosen: list[Chosen] = []
    for text in texts:
        choice = parse_choice(text)
        found = choose_or_not(choice, overlays)
        chosen.append(_told_apart(found, choice, chosen, text))
    if tell_untested:
        there = (one.compiler for one in chosen if isinstance(one, CompilerEnvironment))
        for note in untested_notes(there):
            tell(note)
    missing = [one.error for one in chosen if isinstance(one, NoCompiler)]
    if len(missing) == len(chosen):
        raise missing[0]
    return tuple(chosen)


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
    return Compiler(name="tilelang", version=_label(choice))


def _label(place: Place) -> str:
    return _NOT_LOCAL.sub(".", place.path.name).strip(".") or "local"


def _told_apart(found: Chosen, choice: Choice, others: Sequence[Chosen], text: str) -> Chosen:
    """The environment, its version labelled where another one has the same."""
    taken = [other.compiler for other in others]
    if found.compiler not in taken:
        return found
    if isinstance(choice, Place) and isinstance(found, CompilerEnvironment):
        label = f"{found.compiler.version}+{_label(choice)}"
        compiler = Compiler(name=found.compiler.name, version=label)
        if compiler not in taken:
            return msgspec.structs.replace(found, compiler=compiler)
    raise UsageError(
        f"--compiler {text} is {found.compiler.name} {found.compiler.version}, given twice",
        hint="each value names another compiler",
    )
