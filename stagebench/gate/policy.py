"""Which rule judges a change?  The most specific one of the nearest source that names the fact.

Sources, nearest first: the case, its experiment, ``[tool.stagebench.policy]``, the defaults.  A
rule of a nearer source wins over all of a farther one; within a source the pattern with more
characters spelt out wins, then the later one.  Renames and moved lines are no difference of the
code: only a rule that spells out their field (``sync_ops[*].line``) reaches them.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from stagebench.errors import UsageError
from stagebench.gate.allowance import Allowance, Change, parse_action
from stagebench.gate.fact_pattern import can_match, matches, names_field, specificity
from stagebench.gate.fact_schema import CUDA_TEXT, fact_templates, fact_words, field_paths
from stagebench.model.verdict import Rule, RuleSource

DEFAULTS: Mapping[str, str] = {
    "*": "exact",
    "variant.kernel": "may change",  # the same kernel under another name or in another file
    "diagnostics[*]": "may vanish, notes may appear",
    "diagnostics[*].*": "exact",
    "failure.detail": "may change",  # a compiler's stack trace
    "machine.registers": "may shrink, may grow up to 5 %",
    CUDA_TEXT: "may change",  # what it means is in the facts
}
"""What a maintainer would choose; times are not compared at all."""

_RENAMED = Rule(pattern="renames", action="ignore", source="default")
_MOVED = Rule(pattern="moved lines", action="ignore", source="default")
_WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class _Entry:
    rule: Rule
    allowance: Allowance
    rank: tuple[int, int, int]


class Policy:
    """All rules that hold for a variant."""

    def __init__(self, entries: Sequence[_Entry]) -> None:
        self._entries = sorted(entries, key=lambda entry: entry.rank, reverse=True)
        self._musts = any(entry.allowance.asks("must") for entry in entries)

    def judge(self, change: Change) -> tuple[bool, Rule, str]:
        """Whether the change is allowed, by which rule, and why."""
        below = self._of_fields(change)
        if below is not None:
            allowed, why = below.allowance.judge(change)
            return allowed, below.rule, why
        for entry in self._entries:
            if not matches(entry.rule.pattern, change.path):
                continue
            asked = entry.rule.source != "default" and names_field(entry.rule.pattern, change.path)
            if change.kind == "fact" or asked:
                allowed, why = entry.allowance.judge(change)
                return allowed, entry.rule, why
        if change.kind == "rename":
            return True, _RENAMED, "equal but for names"
        return True, _MOVED, "only a line moved"

    def _of_fields(self, change: Change) -> _Entry | None:
        """The ``must`` of a field that is gone with its record, or came with it.

        One field that must not vanish is enough to hold the record; a new record is allowed by
        its fields' rules only where they are all of them ``must appear``.
        """
        if change.presence == "both" or change.kind != "fact" or not self._musts:
            return None
        rules = [self._of_field(field) for field in field_paths(change.path)]
        musts = [rule for rule in rules if rule is not None]
        if change.presence == "left":
            return next((rule for rule in musts if rule.allowance.asks("must")), None)
        asked = [rule for rule in musts if rule.allowance.asks("must appear")]
        return asked[0] if asked and len(asked) == len(rules) else None

    def _of_field(self, path: str) -> _Entry | None:
        return next((e for e in self._entries if can_match(e.rule.pattern, path)), None)

    @property
    def required(self) -> tuple[Rule, ...]:
        """The rules whose facts must be there now, whatever the baseline says."""
        return tuple(entry.rule for entry in self._entries if entry.allowance.asks("must appear"))


def make_policy(*sources: tuple[RuleSource, str, Mapping[str, str]]) -> Policy:
    """A policy of ``(source, where it stands, rules)``, nearest first; the defaults are added.

    Raises `UsageError` where a pattern names no fact or an action is unknown.
    """
    layers = [*sources, ("default", "the defaults", DEFAULTS)]
    entries = []
    for distance, (source, where, rules) in enumerate(layers):
        for number, (pattern, action) in enumerate(rules.items()):
            if source != "default":
                check_pattern(pattern, where)
            rule = Rule(pattern=pattern, action=action, source=source)
            rank = (-distance, specificity(pattern), number)
            entries.append(_Entry(rule, parse_action(action, f"{where}, {pattern}"), rank))
    return Policy(entries)


def check_pattern(pattern: str, where: str) -> None:
    """Raise `UsageError` where a pattern can match no fact: a misspelt rule must not pass."""
    if _names_a_fact(pattern):
        return
    if pattern.startswith("lowering") or "seconds" in pattern:
        raise UsageError(
            f"{where}: {pattern!r}: what lowering cost is never compared",
            hint="times are `stagebench sweep --seconds`",
        )
    for repaired in _repaired(pattern):
        raise UsageError(f"{where}: {pattern!r} names no fact", hint=f"did you mean {repaired}?")
    raise UsageError(
        f"{where}: {pattern!r} names no fact",
        hint="facts are named as `stagebench check` prints them, such as "
        "shared_memory.dynamic_bytes, sync_totals[wgmma].static, shared_buffers[*].num_versions",
    )


def _repaired(pattern: str) -> Iterator[str]:
    """The pattern with a misspelt word replaced by one that makes it name a fact."""
    for word in _WORD.findall(pattern):
        for near in difflib.get_close_matches(word, fact_words(), n=5):
            other = pattern.replace(word, near)
            if _names_a_fact(other):
                yield other


def _names_a_fact(pattern: str) -> bool:
    return any(can_match(pattern, template) for template in fact_templates())
