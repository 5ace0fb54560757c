"""Which passes does ``--pass NAME`` or ``--pass NAME#k`` name?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from stagebench.diff.pass_alignment import one_name
from stagebench.errors import UsageError


class NamedPass(Protocol):
    """A pass with the names that it has on either side; ``number`` counts its runs from 1."""

    @property
    def name(self) -> str:
        """What it is called where it is shown."""

    @property
    def number(self) -> int:
        """Which of the runs of that name it is."""

    @property
    def names(self) -> tuple[str, ...]:
        """What it is called on either side."""


def select_passes(passes: Sequence[NamedPass], text: str) -> tuple[int, ...]:
    """The indices of the passes that ``NAME`` or ``NAME#k`` names; `UsageError` where none is.

    A name may leave out its namespace (``InjectSoftwarePipeline``); where none is in the namespace
    that it has, it may be in another one of TVM's (``tir.Simplify``, ``tirx.Simplify``).
    """
    name, mark, number = text.partition("#")
    if mark and not number.isdecimal():
        raise UsageError(f"--pass {text}: {number!r} is not a number", hint="NAME#2 is the second")
    names = [_spelt(each.names) for each in passes]
    named = [index for index, own in enumerate(names) if name in own]
    if not named:
        alike = {one_name(name)}
        named = [index for index, own in enumerate(names) if alike & set(map(one_name, own))]
    found = [index for index in named if not mark or passes[index].number == int(number)]
    if not found:
        if named:
            hint = f"{name} ran {len(named)} times"
        else:
            there = list(dict.fromkeys(each.name for each in passes))
            close = [each for each in there if name.lower() in each.lower()] or _near(name, there)
            hint = "did you mean " + ", ".join(close) + "?" if close else "see `stagebench passes`"
        raise UsageError(f"no pass {text} in this lowering", hint=hint)
    return tuple(found)


def _spelt(names: Sequence[str]) -> tuple[str, ...]:
    """Names with and without their namespaces."""
    return tuple(part for name in names for part in (name, name.rpartition(".")[2]))


def _near(name: str, names: Sequence[str]) -> list[str]:
    """Up to three names that are spelt like it, with or without their namespaces."""
    from difflib import get_close_matches

    short = {each.rpartition(".")[2].lower(): each for each in reversed(names)}
    close = get_close_matches(name.rpartition(".")[2].lower(), list(short), 3, 0.3)
    return [short[each] for each in close]
