"""What does a bisection look at in a variant, and when are two variants alike in it?

Two variants are compared as ``stagebench diff`` does (`stagebench.diff.fact_changes`), and of what
differs the changes that the pattern names count: any path that `diff` or `check` prints can be
watched, and ``*`` is every fact.  A name, a moved line or another compiler's word for the same is
no difference, unless the pattern spells out its field (``sync_ops[*].intrinsic``); the text of
``kernel_cu`` is one where the pattern spells it out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from stagebench.diff.fact_changes import fact_changes
from stagebench.dump.files import Dump
from stagebench.errors import UsageError
from stagebench.experiment.bisecting_expression import Expression
from stagebench.experiment.bisecting_values import said, shown_values
from stagebench.gate.fact_pattern import can_match, matches, names_field
from stagebench.gate.fact_schema import CUDA_TEXT, fact_templates, field_paths
from stagebench.gate.policy import check_pattern
from stagebench.model import Facts
from stagebench.model.machine import NO_MACHINE_CODE

_FAILED = "failed: "
_NONE = "none"
_SPELT_OUT = 4
_MEANT = frozenset(
    {"pass", "reason", "exceeds", "cluster", "versioned_by", "section", "detail", "pass_name"}
)
"""Fields whose ``None`` says that there is none; elsewhere it says that nobody knows."""
_ALWAYS_COUNTED = ("sync_totals[", "sync_ops[", "diagnostics")


@dataclass(frozen=True)
class Watched:
    """What is looked at: the facts that a pattern names, or the answer to an expression."""

    fact: str | None = None
    until: str | None = None

    def __post_init__(self) -> None:
        if (self.fact is None) == (self.until is None):
            raise UsageError("bisect watches one thing", hint="--fact PATH, or --until EXPRESSION")
        if self.fact is not None:
            check_pattern(self.pattern, "--fact")
            if self._only("variant"):
                raise UsageError(
                    f"--fact {self.fact}: that is what is asked for, not what comes of it",
                    hint="--axis says what differs; a fact is such as shared_memory.dynamic_bytes",
                )
        else:
            _ = self.expression

    @property
    def words(self) -> str:
        """What is watched, in words."""
        return f"fact {self.fact}" if self.fact is not None else f"until {self.until}"

    @cached_property
    def pattern(self) -> str:
        """The pattern of ``fact``; ``sync_totals.*`` is all below ``sync_totals``, also in [ ]."""
        given = self.fact or ""
        above = given.removesuffix(".*")
        return given if _names_a_fact(given) or not _names_a_fact(above) else above

    @cached_property
    def expression(self) -> Expression:
        """The expression, read."""
        return Expression(self.until or "")

    @property
    def needs_machine_code(self) -> bool:
        """Whether it is about machine code, and nothing else."""
        if self.fact is None:
            return self.expression.reads_machine
        return self._only("machine")

    @property
    def may_fail(self) -> bool:
        """Whether that it does not lower is an answer, and not the lack of one."""
        return self.fact is None or self.pattern == "outcome"

    @property
    def may_be_machine_code(self) -> bool:
        """Whether facts of machine code are among what the pattern names."""
        return self.fact is not None and any(
            can_match(self.pattern, form) for form in fact_templates() if _root(form) == "machine"
        )

    def _only(self, root: str) -> bool:
        """Whether all that the pattern names is below ``root``.

        A template's own ``*`` may hold any text, so that ``*.registers`` could name a buffer of
        that name: what it matches without such names is what is meant.
        """
        forms = [form for form in fact_templates() if can_match(self.pattern, form)]
        plain = [form for form in forms if matches(self.pattern, form.replace("*", "x"))]
        return {_root(form) for form in plain or forms} == {root}


def _names_a_fact(pattern: str) -> bool:
    return any(can_match(pattern, form) for form in fact_templates())


def _root(path: str) -> str:
    return path.replace("[", ".").partition(".")[0]


def seen(dump: Dump, watched: Watched) -> tuple[str | None, str | None]:
    """What is watched, as a dump has it, and why it has no answer where it has none."""
    failure = dump.result.failure
    facts = dump.result.facts
    if watched.until is not None:
        if facts is not None and facts.machine is None and watched.needs_machine_code:
            return None, _no_machine_code(facts)
        outcome, error = watched.expression.answer(dump.result, dump.kernel_cu)
        if outcome is None:
            return None, f"{watched.until}: {error}"
        return ("yes" if outcome else "no"), None
    if failure is not None:
        where = f" in {failure.pass_name}" if failure.pass_name else ""
        return f"{_FAILED}{failure.kind}{where}: {failure.message.splitlines()[0]}", None
    assert facts is not None  # noqa: S101 - what did not fail has facts
    if facts.machine is None and watched.needs_machine_code:
        return None, _no_machine_code(facts)
    return _seen_facts(dump, facts, watched.pattern)


def _seen_facts(dump: Dump, facts: Facts, pattern: str) -> tuple[str | None, str | None]:
    found = dict(_named(dump, facts, pattern))
    if not found:  # what never occurs is absent: it was looked for
        return ("0" if pattern.startswith("sync_totals[") and "*" not in pattern else _NONE), None
    known = sum(not _is_unknown(path, value) for path, value in found.items())
    if not known:
        return None, f"{pattern} is not known here"
    if [*found] == [pattern]:
        return said(found[pattern]), None
    if len(found) > _SPELT_OUT:
        return f"{known} facts", None
    return ", ".join(f"{path} {said(value)}" for path, value in found.items()), None


def _no_machine_code(facts: Facts) -> str:
    why = [one.message for one in facts.diagnostics if one.code in NO_MACHINE_CODE]
    return ": ".join(["no machine code", *why[:1]])


def is_absent(dump: Dump, watched: Watched) -> bool:
    """Whether a thing that the pattern names by name is not there (it may be misspelt)."""
    pattern, facts = watched.pattern, dump.result.facts
    if facts is None or "[" not in pattern:
        return False
    name = pattern.partition("[")[2].rpartition("]")[0]
    if "*" in name or pattern.startswith(_ALWAYS_COUNTED):
        return False
    return not any(True for _ in _named(dump, facts, pattern))


def names_beside(dump: Dump, watched: Watched) -> tuple[str, ...]:
    """The names that stand where the pattern's name would."""
    if dump.result.facts is None:
        return ()
    start = watched.pattern.partition("[")[0] + "["
    paths = [path for path, _ in shown_values(dump.result.facts) if path.startswith(start)]
    return tuple(dict.fromkeys(path.removeprefix(start).partition("]")[0] for path in paths))


def differing(left: Dump, right: Dump, watched: Watched) -> tuple[str, ...]:
    """The paths of what is watched that are not alike; an expression's answer has its text."""
    if watched.until is not None or None in (left.result.facts, right.result.facts):
        alike = seen(left, watched)[0] == seen(right, watched)[0]
        return () if alike else (watched.until or "outcome",)
    pattern = watched.pattern
    found = []
    for change in fact_changes(left, right):
        asked = change.kind == "fact" or names_field(pattern, change.path)
        known = change.presence != "both" or not (
            _is_unknown(change.path, change.left) or _is_unknown(change.path, change.right)
        )
        below = () if change.presence == "both" else field_paths(change.path)
        if asked and known and any(matches(pattern, path) for path in (change.path, *below)):
            found.append(change.path)
    if _spells_text(pattern) and left.kernel_cu != right.kernel_cu:
        found.append(CUDA_TEXT)
    return tuple(found)


def _is_unknown(path: str, value: object) -> bool:
    return value is None and path.rpartition(".")[2] not in _MEANT


def _spells_text(pattern: str) -> bool:
    return bool(pattern.strip("*.")) and matches(pattern, CUDA_TEXT)


def _named(dump: Dump, facts: Facts, pattern: str) -> Iterator[tuple[str, object]]:
    """Every fact that the pattern names with its value."""
    if matches(pattern, "outcome"):
        yield "outcome", dump.result.outcome
    if _spells_text(pattern):
        from hashlib import sha256

        yield CUDA_TEXT, sha256((dump.kernel_cu or "").encode()).hexdigest()[:12]
    for path, value in shown_values(facts):
        if matches(pattern, path):
            yield path, value
