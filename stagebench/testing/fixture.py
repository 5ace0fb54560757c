"""What does a test type?  ``stagebench.check(kernel, …)`` and ``stagebench.facts(kernel, …)``."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from stagebench.errors import StagebenchError, UsageError
from stagebench.experiment.default_axes import DEFAULT_ARCHS
from stagebench.experiment.sweep_plan import SweepPlan
from stagebench.gate.expectation import Expectation
from stagebench.model import Facts, ParamValue, Scalar
from stagebench.report.check_failure import check_failure
from stagebench.testing.checking import check_test, facts_of
from stagebench.testing.definition import AskedCheck, axes, kernel_text
from stagebench.testing.gathering import record_or_refuse
from stagebench.testing.places import check_label, label_of_test

if TYPE_CHECKING:
    from stagebench.testing.ledger import Ledger

MARKER = "stagebench"
_SETTINGS = (
    "num_stages", "arch", "params", "pass_configs", "stage_param", "policy", "compiler",
)  # fmt: skip
_FLAG = re.compile(r"--compiler ([\w.]+(?:==[\w.+]+)?)")


class Checks:
    """The fixture's value.  Arguments that are left out come from the ``stagebench`` marker."""

    def __init__(
        self, item: pytest.Item, ledger: Ledger, *, allow_missing: bool, recorded: Path | None
    ) -> None:
        self._item = item
        self._ledger = ledger
        self._allow_missing = allow_missing
        self._recorded = recorded
        self._labels: list[str] = []

    def check(  # noqa: PLR0913 - one name for each field of a case
        self,
        kernel: object,
        *,
        num_stages: int | Sequence[int] | None = None,
        arch: str | Sequence[str] | None = None,
        params: Mapping[str, ParamValue | list[ParamValue]] | None = None,
        pass_configs: Mapping[str, Scalar] | None = None,
        stage_param: str | None = None,
        policy: Mapping[str, str] | None = None,
        expectations: Sequence[Expectation] = (),
        name: str | None = None,
        compiler: str | None = None,
    ) -> None:
        """Fail the test unless the kernel compiles to what its baselines say.

        The arguments mean what they mean for `stagebench.Case` and `stagebench.Experiment`;
        ``kernel`` may be the kernel's function too.  ``name`` tells the checks of one test apart;
        ``compiler`` is who lowers (``tvm``, ``tilelang==0.1.14``), as after ``--compiler``.
        Nothing is ever written: ``stagebench accept --pytest …`` makes baselines.
        """
        __tracebackhide__ = True
        given = {
            "num_stages": num_stages, "arch": arch, "params": params, "stage_param": stage_param,
            "pass_configs": pass_configs, "policy": policy, "compiler": compiler,
        }  # fmt: skip
        try:
            check = self._definition(kernel, self._settings(given), name)
            file = (check.file, check.label)
            if self._recorded is not None:
                record_or_refuse(check, self._recorded)
                return
            self._ledger.checked.add(file)
            verdict = check_test(check, expectations, allow_missing=self._allow_missing)
        except StagebenchError as exc:
            raise pytest.fail.Exception(_said(exc)) from None
        if verdict.accept is not None:
            for step, number in verdict.accept.counts.items():
                self._ledger.approvals.add((check.file, check.node, step, str(number)))
        if verdict.exit_code != 0:
            raise AssertionError(check_failure(verdict))

    def facts(
        self,
        kernel: object,
        *,
        num_stages: int | None = None,
        arch: str | None = None,
        params: Mapping[str, ParamValue] | None = None,
        pass_configs: Mapping[str, Scalar] | None = None,
        stage_param: str | None = None,
        compiler: str | None = None,
    ) -> Facts:
        """The facts of one variant, lowered through the cache; the test fails where it does."""
        __tracebackhide__ = True
        given = {
            "num_stages": num_stages, "arch": arch, "params": params, "stage_param": stage_param,
            "pass_configs": pass_configs, "compiler": compiler,
        }  # fmt: skip
        try:
            asked = self._settings(given)
            archs, depths = _archs(asked.get("arch")), _depths(asked.get("num_stages"))
            if len(archs) != 1 or (depths and len(depths) != 1):
                raise UsageError("facts(…) are of one variant", hint="arch='sm_90a', num_stages=2")
            plan = SweepPlan(
                kernel=kernel_text(kernel, self._item.path.parent),
                num_stages=depths,
                archs=archs,
                params={key: (value,) for key, value in (asked.get("params") or {}).items()},
                stage_param=asked.get("stage_param"),
                pass_configs=dict(asked.get("pass_configs") or {}),
                compilers=_compilers(asked.get("compiler")),
            )
            return facts_of(plan)
        except StagebenchError as exc:
            raise pytest.fail.Exception(_said(exc)) from None

    def _settings(self, given: Mapping[str, object]) -> dict[str, Any]:
        """The arguments, else those of the nearest marker that has them."""
        found = {name: value for name, value in given.items() if value is not None}
        for marker in self._item.iter_markers(MARKER):
            unknown = [name for name in marker.kwargs if name not in _SETTINGS]
            if unknown or marker.args:
                raise UsageError(
                    f"the marker stagebench takes no {unknown[0] if unknown else marker.args[0]!r}",
                    hint=f"it takes {', '.join(_SETTINGS)}, by name",
                )
            found = {**marker.kwargs, **found}
        return found

    def _definition(self, kernel: object, asked: Mapping[str, Any], name: str | None) -> AskedCheck:
        test = label_of_test(self._item.nodeid)
        label = check_label(test, len(self._labels) + 1, name)
        if label in self._labels:
            raise UsageError(f"two checks of {self._item.name} are called {name!r}")
        self._labels.append(label)
        return AskedCheck(
            file=str(self._item.path),
            node=node_from_here(self._item),
            label=label,
            kernel=kernel_text(kernel, self._item.path.parent),
            num_stages=_depths(asked.get("num_stages")),
            archs=_archs(asked.get("arch")),
            params=axes(asked.get("params") or {}),
            pass_configs=dict(asked.get("pass_configs") or {}),
            stage_param=asked.get("stage_param"),
            policy=dict(asked.get("policy") or {}),
            compiler=asked.get("compiler"),
        )


def node_from_here(item: pytest.Item) -> str:
    """The test's node id from the folder where pytest was started, as a user would type it."""
    inside = item.nodeid.partition("::")[2]
    path = os.path.relpath(item.path, item.config.invocation_params.dir)
    return f"{path}::{inside}" if inside else path


def _archs(asked: str | Sequence[str] | None) -> tuple[str, ...]:
    if asked is None:
        return DEFAULT_ARCHS
    return (asked,) if isinstance(asked, str) else tuple(asked)


def _depths(asked: int | Sequence[int] | None) -> tuple[int, ...] | None:
    if asked is None:
        return None
    return (asked,) if isinstance(asked, int) else tuple(asked)


def _compilers(asked: str | None) -> tuple[str, ...]:
    if asked is None:
        return ()
    if not isinstance(asked, str):
        raise UsageError(f"compiler is one of --compiler's values, not {asked!r}")
    return (asked,)


def _said(exc: StagebenchError) -> str:
    """The message and the hint; a compiler is named as a test names it."""
    said = f"{exc.message}\n  hint: {exc.hint}" if exc.hint else exc.message
    return _FLAG.sub(r'compiler="\1"', said)
