"""What is an experiment?  A question, cases to lower, expectations, and a policy for changes.

A file in ``experiments/`` says ``EXPERIMENT = Experiment(…)``; it names kernels and never imports
a compiler.  What is wrong with it is said when it is loaded, with the field's name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from stagebench.errors import UsageError
from stagebench.experiment.default_axes import DEFAULT_ARCHS
from stagebench.gate.expectation import Expectation
from stagebench.lowering.compiler_choice import parse_choice
from stagebench.model import ParamValue, Scalar


@dataclass(frozen=True)
class Case:
    """One kernel over its axes: every combination is a variant.

    ``kernel`` is a built-in's name or ``path/to/file.py:function``, the path relative to the
    experiment file.  ``num_stages`` is a depth or a list of them (``None``: as the kernel is
    written), ``arch`` one or a list; in ``params`` a list is an axis, anything else one value.
    ``name`` (the kernel's function, unless given) tells cases of one experiment apart; ``policy``
    wins over the experiment's.  ``machine``: the variants are assembled too, and the facts of their
    machine code are judged (needs ``stagebench[cuda]``).  ``compiler``: who lowers it, as after
    ``--compiler``, unless the command gives a release of the same one (``None``: the command's, or
    this environment's TileLang).

    For a GPU (`stagebench bundle RUN --case FILE.py::name`): ``inputs(asked, random)`` returns
    numpy arrays by tensor (what it leaves out is seeded random), ``reference(asked, inputs)`` what
    the outputs must be, from the inputs as float64 (integers as they are); ``asked`` is a
    `stagebench.experiment.value_functions.Asked`, ``random`` a ``numpy.random.Generator``.
    """

    kernel: str
    num_stages: int | Sequence[int] | None = None
    arch: str | Sequence[str] = DEFAULT_ARCHS
    params: Mapping[str, ParamValue | list[ParamValue]] = field(default_factory=dict)
    pass_configs: Mapping[str, Scalar] = field(default_factory=dict)
    stage_param: str | None = None
    name: str | None = None
    policy: Mapping[str, str] = field(default_factory=dict)
    machine: bool = False
    compiler: str | None = None
    inputs: Callable[[Any, Any], Any] | None = None
    reference: Callable[[Any, Any], Any] | None = None

    def __post_init__(self) -> None:
        what = f"Case({self.kernel!r})"
        _is(isinstance(self.kernel, str) and self.kernel, what, "kernel is a name")
        depths = self.num_stages
        several = isinstance(depths, Sequence) and not isinstance(depths, str)
        _is(
            depths is None or _depth(depths) or (several and depths and all(map(_depth, depths))),  # type: ignore[arg-type]
            what, "num_stages is a depth, a list of depths, or None",
        )  # fmt: skip
        archs = [self.arch] if isinstance(self.arch, str) else self.arch
        _is(archs and all(isinstance(arch, str) for arch in archs), what, "arch is a name or names")
        for name in ("params", "pass_configs", "policy"):
            value = getattr(self, name)
            _is(
                isinstance(value, Mapping) and all(isinstance(key, str) for key in value),
                what, f"{name} is a dict by name",
            )  # fmt: skip
        _is(isinstance(self.machine, bool), what, "machine is True or False")
        _check_name(self.name, what)
        _check_compiler(self.compiler, what)
        _check_policy(self.policy, what)
        _check_functions(self, what)

    @property
    def depths(self) -> tuple[int | None, ...]:
        """The depths to lower; ``(None,)`` as written."""
        if self.num_stages is None or isinstance(self.num_stages, int):
            return (self.num_stages,)
        return tuple(self.num_stages)

    @property
    def archs(self) -> tuple[str, ...]:
        """The architectures to lower for."""
        return (self.arch,) if isinstance(self.arch, str) else tuple(self.arch)

    @property
    def axes(self) -> dict[str, tuple[ParamValue, ...]]:
        """The values of each parameter."""
        return {
            name: tuple(value) if isinstance(value, list) else (value,)
            for name, value in self.params.items()
        }

    @property
    def label(self) -> str:
        """The case's name: as given, else the kernel's function."""
        return self.name or self.kernel.rpartition(":")[2]


@dataclass(frozen=True)
class Experiment:
    """A question about generated code, and what is to stay as it is.

    ``expectations`` hold for every variant of every case (`stagebench.expect`); ``policy`` maps
    patterns of facts to what may happen to them (`stagebench.gate.policy`): what no pattern names
    must be exactly as in the baseline.  ``inputs`` and ``reference`` are those of every case that
    has none itself (`Case`).
    """

    question: str
    cases: Sequence[Case]
    expectations: Sequence[Expectation] = ()
    policy: Mapping[str, str] = field(default_factory=dict)
    inputs: Callable[[Any, Any], Any] | None = None
    reference: Callable[[Any, Any], Any] | None = None

    def __post_init__(self) -> None:
        what = "Experiment"
        _check_functions(self, what)
        _is(isinstance(self.question, str) and self.question.strip(), what, "question is a text")
        _is(
            isinstance(self.cases, list | tuple) and self.cases
            and all(isinstance(case, Case) for case in self.cases),
            what, "cases is a list of Case, at least one",
        )  # fmt: skip
        _is(
            isinstance(self.expectations, list | tuple)
            and all(isinstance(each, Expectation) for each in self.expectations),
            what, "expectations is a list of expect(…)",
        )  # fmt: skip
        _check_policy(self.policy, what)
        names = [case.label for case in self.cases]
        twice = next((name for name in names if names.count(name) > 1), None)
        _is(twice is None, what, f"two cases are called {twice!r}: give one a name=")


def _depth(value: Any) -> bool:  # noqa: ANN401 - whatever the author wrote
    return isinstance(value, int) and not isinstance(value, bool)


def _check_name(name: object, what: str) -> None:
    ok = name is None or (
        isinstance(name, str)
        and name.replace("-", "_").replace(".", "_").isidentifier()
        and name.isascii()
    )
    _is(ok, what, f"name {name!r}: letters, digits, '_', '-' and '.' only")


def _check_compiler(compiler: object, what: str) -> None:
    _is(compiler is None or isinstance(compiler, str), what, "compiler is a text")
    if isinstance(compiler, str):
        parse_choice(compiler)


def _check_functions(of: Case | Experiment, what: str) -> None:
    for name in ("inputs", "reference"):
        value = getattr(of, name)
        _is(value is None or callable(value), what, f"{name} is a function")


def _check_policy(policy: object, what: str) -> None:
    ok = isinstance(policy, Mapping) and all(
        isinstance(key, str) and isinstance(value, str) for key, value in policy.items()
    )
    _is(ok, what, "policy is a dict of pattern to rule, both text")


def _is(ok: object, what: str, must: str) -> None:
    if not ok:
        raise UsageError(f"{what}: {must}")
