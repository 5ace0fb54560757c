"""Which changes stand together: those that the same variants share, each of them said once?

The same change at several sites, and of one fact that differs in numbers only, is one row; changes
that only follow from another one are counted, and shown when everything is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec

from stagebench.model import Record
from stagebench.model.verdict import ChangeGroup, Place

MOST_CHANGES = 12
_MOST_NAMES = 4
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])")
_SITE = re.compile(r"(?<= )#\d+(?=\])")


class ChangeRow(Record, frozen=True, kw_only=True):
    """One change in words, with its path, the rule that judged it, and where the baseline is.

    ``rule`` is empty where it is the default one: exactly as in the baseline.
    """

    text: str
    path: str
    rule: str
    place: str | None


class ChangeBlock(Record, frozen=True, kw_only=True):
    """Changes that the same variants share; ``hidden`` more of them are left out.

    Those of variants that are not comparable are shown and not ``judged``.
    """

    variants: str
    count: int
    rows: tuple[ChangeRow, ...]
    hidden: int
    judged: bool


def blocks(
    groups: Iterable[ChangeGroup], apart: frozenset[str], *, many: bool, show_all: bool
) -> Iterable[ChangeBlock]:
    """Blocks of the same variants, the largest first; what only follows is counted at the end."""
    joined = list(_joined(groups))
    shown = [change for change in joined if show_all or not change.follows]
    together: dict[frozenset[str], list[_Change]] = {}
    for change in shown or joined:  # or nothing but what follows from something that is allowed
        together.setdefault(frozenset(change.variants), []).append(change)
    for members in sorted(together.values(), key=lambda several: -len(several[0].variants)):
        variants = members[0].variants
        first = members if show_all else members[:MOST_CHANGES]
        yield ChangeBlock(
            variants=names_in_words(variants, many=many),
            count=len(variants),
            rows=tuple(change.row for change in first),
            hidden=len(members) - len(first),
            judged=not apart.issuperset(variants),
        )


def following(groups: Sequence[ChangeGroup]) -> int:
    """How many facts are left out because they only follow from those that are shown."""
    if all(group.change.follows for group in groups):
        return 0
    return len({group.change.path for group in groups if group.change.follows})


def said_once(groups: Iterable[ChangeGroup]) -> list[ChangeGroup]:
    """The same change at several sites of an op as one: ``sync_ops[wgmma body #*].guards``.

    Its variants are those of all of them.
    """
    kinds: dict[tuple[object, ...], list[ChangeGroup]] = {}
    for group in groups:
        change = group.change
        path = _SITE.sub("#*", change.path)
        kinds.setdefault((path, change.text, change.rule, change.follows), []).append(group)
    return [
        members[0] if len(members) == 1 else _of_sites(path, members)
        for (path, *_), members in kinds.items()
    ]


def _of_sites(path: object, members: Sequence[ChangeGroup]) -> ChangeGroup:
    change = msgspec.structs.replace(members[0].change, path=str(path))
    names = dict.fromkeys(name for group in members for name in group.variants)
    return ChangeGroup(change=change, variants=tuple(names))


class _Change(Record, frozen=True, kw_only=True):
    """A change over all variants that have it, its numbers side by side where they differ."""

    row: ChangeRow
    variants: tuple[str, ...]
    follows: bool


def _joined(groups: Iterable[ChangeGroup]) -> Iterable[_Change]:
    """Changes of one fact that differ in numbers only, as one: ``wgmma call sites 1 → 2|3|4``."""
    kinds: dict[tuple[object, ...], list[ChangeGroup]] = {}
    for group in said_once(groups):
        change = group.change
        shape = _NUMBER.sub("#", change.text)
        kinds.setdefault((change.path, shape, change.rule, change.follows), []).append(group)
    for members in kinds.values():
        yield from _one_or_each(members)


def _one_or_each(members: list[ChangeGroup]) -> Iterable[_Change]:
    """One change of all members, but not where a variant has it twice, with other numbers."""
    names = [name for group in members for name in group.variants]
    several = [members] if len(set(names)) == len(names) else [[group] for group in members]
    for together in several:
        together.sort(key=lambda group: group.variants)
        change = together[0].change
        rule = change.rule
        named = f"{change.why} ({rule.source}: {rule.pattern})"
        yield _Change(
            row=ChangeRow(
                text=_side_by_side([group.change.text for group in together]),
                path=change.path,
                rule="" if rule.action == "exact" and rule.source == "default" else named,
                place=place_words(change.place),
            ),
            variants=tuple(name for group in together for name in group.variants),
            follows=change.follows,
        )


def _side_by_side(texts: Sequence[str]) -> str:
    """One text for several that differ in their numbers only: ``1 → 2|3|4``."""
    columns = zip(*(_NUMBER.findall(text) for text in texts), strict=True)
    joined = iter(["|".join(dict.fromkeys(column)) for column in columns])
    return _NUMBER.sub(lambda _: next(joined), texts[0])


def place_words(place: Place | None) -> str | None:
    """``file:line`` as editors understand it."""
    if place is None:
        return None
    return place.file if place.line is None else f"{place.file}:{place.line}"


def names_in_words(names: Sequence[str], *, many: bool) -> str:
    """``gemm/sm_90a/num_stages=1, 2, 3``: what the names share is said once.

    The experiment's name is left out where there is only one.
    """
    if not many:
        names = [name.partition(":")[2] for name in names]
    heads: dict[str, list[str]] = {}
    for name in names:
        head, equals, last = name.rpartition("=")
        heads.setdefault(f"{head}{equals}", []).append(last)
    said = [f"{head}{', '.join(tails)}" for head, tails in heads.items()]
    if len(said) <= _MOST_NAMES:
        return "; ".join(said)
    shown = sum(len(tails) for tails in list(heads.values())[:_MOST_NAMES])
    return "; ".join(said[:_MOST_NAMES]) + f" … {len(names) - shown} more"
