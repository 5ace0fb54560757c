"""Did the generated code change, is each change allowed, and how does the check end?

The records of ``stagebench check``: a whole `Verdict`, its experiments, their cases, their
variants.  Reporters turn them into a terminal's text, annotations, a comment or a test report;
nothing in them is a time, a host or an absolute path.
"""

from __future__ import annotations

from typing import Literal

from stagebench.model.base import ParamValue, Record
from stagebench.model.outcome import SCHEMA_VERSION
from stagebench.model.variant import Compiler, Variant

Status = Literal[
    "clean",
    "drift",
    "failed_now",
    "lowers_now",
    "not_comparable",
    "fails_on_both",
    "missing_baseline",
    "unused_baseline",
    "expectation_failed",
]
"""How one variant (or one baseline that no variant has) ended.

``failed_now``: its baseline lowered and it fails; ``lowers_now``: the other way.
``not_comparable``: its baseline is of another compiler version, or (against what another compiler
makes of it) of a kernel with other parameters.  ``fails_on_both``: it and what another compiler
makes of it fail with the same message, so that nothing was compared.
"""

FactGroup = Literal[
    "outcome",
    "identity",
    "schedule",
    "memory",
    "sync",
    "barriers",
    "launch",
    "machine",
    "diagnostics",
    "cuda_text",
]
ChangeKind = Literal["fact", "rename", "position", "spelling"]
Presence = Literal["both", "left", "right"]
Level = Literal["error", "warning", "note"]
RuleSource = Literal["experiment", "pyproject", "default"]
AcceptStep = Literal["create", "fix", "trim"]


class Rule(Record, frozen=True, kw_only=True):
    """A rule of the policy: what may happen to the facts whose paths match ``pattern``.

    ``action`` is as it was written (``may grow up to 5 %``).
    """

    pattern: str
    action: str
    source: RuleSource


class Place(Record, frozen=True, kw_only=True):
    """A line that a reader can be shown: ``file`` is relative to the project's root, with ``/``.

    ``line`` is 1-based; ``None``: the file as a whole.
    """

    file: str
    line: int | None


class JudgedChange(Record, frozen=True, kw_only=True):
    """One fact that is not what the baseline says, with the rule that judged it.

    ``path``, ``text``, ``presence``, ``follows``, ``left`` (the baseline) and ``right`` (now) are
    those of `stagebench.diff.fact_change.FactChange`.  ``why`` says in words why the rule did or
    did not allow it.  ``severity`` is ``error`` for drift, ``note`` for what is allowed.
    ``place`` is the line of the value in the baseline.
    """

    path: str
    group: FactGroup
    kind: ChangeKind
    presence: Presence
    follows: bool
    text: str
    left: ParamValue
    right: ParamValue
    rule: Rule
    why: str
    severity: Level
    place: Place | None


class SeenValue(Record, frozen=True, kw_only=True):
    """A value that an expectation read: ``buffers['A_shared'].num_versions`` was ``2``."""

    expression: str
    value: str


class ExpectationResult(Record, frozen=True, kw_only=True):
    """What became of one expectation in one variant.

    ``raised`` carries the exception in ``error``; it is a failure as ``failed`` is.  ``place`` is
    the expectation's line in the experiment file.
    """

    words: str
    outcome: Literal["held", "failed", "raised"]
    seen: tuple[SeenValue, ...]
    error: str | None
    place: Place | None


class VariantVerdict(Record, frozen=True, kw_only=True):
    """One variant against its baseline.

    ``name`` is the variant's folder below the experiment's baselines
    (``gemm/sm_90a/num_stages=2``).  ``status`` is the most serious thing that is true of it; its
    ``drifts`` and ``expectations`` are complete whatever the status.  The drifts of a
    ``not_comparable`` variant are shown and not judged.  ``note`` says in words what no list does:
    the compiler's own message, the two versions, the name a baseline was found under.
    ``baseline`` is the baseline's folder relative to the project's root, ``place`` the line to
    point at where no single change is (``None``: there is no baseline).  ``outcome`` is how it
    was lowered now (``None``: it was not; a baseline that no variant has).
    """

    name: str
    variant: Variant
    status: Status
    note: str | None
    baseline: str | None
    place: Place | None
    drifts: tuple[JudgedChange, ...]
    allowed: tuple[JudgedChange, ...]
    expectations: tuple[ExpectationResult, ...]
    outcome: Literal["lowered", "failed"] | None = None


class CaseVerdict(Record, frozen=True, kw_only=True):
    """One kernel of an experiment; an unused baseline belongs to the case of its kernel's name."""

    name: str
    kernel: str
    variants: tuple[VariantVerdict, ...]


class ExperimentVerdict(Record, frozen=True, kw_only=True):
    """One experiment file.

    ``file`` and ``baselines`` (its folder) are relative to the project's root.  ``expectations``
    are those that no variant could answer: each is a failure.  ``compared`` counts the variants
    that were held against a baseline.  Baselines that no experiment is for (its file is gone) have
    an entry of their own, in which ``file`` is their folder.
    """

    name: str
    file: str
    question: str
    baselines: str
    compared: int
    expectations: tuple[ExpectationResult, ...]
    cases: tuple[CaseVerdict, ...]


class ChangeGroup(Record, frozen=True, kw_only=True):
    """The same change in several variants: one decision for a reader.

    ``variants`` are ``experiment:name`` in the check's order; ``change`` is the first of them.
    """

    change: JudgedChange
    variants: tuple[str, ...]


class AcceptCommand(Record, frozen=True, kw_only=True):
    """The command that would approve what was found; ``argv`` without a shell's quoting.

    ``counts`` says how many variants it would ``create``, ``fix`` and ``trim``.
    """

    argv: tuple[str, ...]
    shell: str
    counts: dict[AcceptStep, int]


class Verdict(Record, frozen=True, kw_only=True):
    """A whole check.  This is the JSON of ``stagebench check --json``.

    ``exit_code``: 3 a variant lowered and fails now or the other way; else 1 drift or a failed
    expectation; else 4 something could not be compared, or nothing was; else 0.
    ``against`` says in words what was compared with; ``against_compiler`` is the one whose results
    these are, where it was another compiler, and ``not_asked`` says which cases it was not asked
    for, since they are another compiler's.  ``counts`` has every status that occurs.
    ``groups`` are the drifts of all experiments, most variants first within errors first.
    ``accept`` is ``None`` where nothing can be approved.
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    exit_code: Literal[0, 1, 3, 4]
    against: str
    compiler: Compiler | None
    compared: int
    counts: dict[Status, int]
    experiments: tuple[ExperimentVerdict, ...]
    groups: tuple[ChangeGroup, ...]
    allowed_groups: tuple[ChangeGroup, ...]
    accept: AcceptCommand | None
    against_compiler: Compiler | None = None
    not_asked: tuple[str, ...] = ()
