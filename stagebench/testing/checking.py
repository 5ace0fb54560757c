"""Does a test's kernel still compile to what was accepted?  The judge is `stagebench check`'s."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence

import msgspec

from stagebench.errors import StagebenchError
from stagebench.experiment.checking import run_check
from stagebench.experiment.compared_with import Compared
from stagebench.experiment.kernel_reference import parse_kernel
from stagebench.experiment.planned_variants import plan_variants
from stagebench.experiment.sweep import SweepOptions, run_sweep
from stagebench.experiment.sweep_plan import SweepPlan, expand
from stagebench.gate.expectation import Expectation
from stagebench.lowering.cache_folder import default_cache_folder
from stagebench.model import Facts
from stagebench.model.verdict import AcceptCommand, AcceptStep, Verdict
from stagebench.testing.definition import NOBODY, AskedCheck, as_experiment
from stagebench.testing.lowering_lock import one_at_a_time

REASON = "say why"


def check_test(
    check: AskedCheck, expectations: Sequence[Expectation], *, allow_missing: bool
) -> Verdict:
    """Lower, compare, judge; the verdict's accept command names the test.

    Raises what `run_check` raises.
    """
    file = as_experiment(check, expectations)
    compared = Compared(allow_missing=allow_missing)
    requests = [one.request for one in plan_variants(file, NOBODY, compared)]
    with one_at_a_time(default_cache_folder(), requests):
        verdict = run_check([file], compared, _options()).verdict
    if verdict.accept is None:
        return verdict
    command = accept_command([check.node], verdict.accept.counts)
    return msgspec.structs.replace(verdict, accept=command)


def accept_command(nodes: Sequence[str], counts: Mapping[AcceptStep, int]) -> AcceptCommand:
    """The command that approves what these tests (or modules) found."""
    only = ["--only", next(iter(counts))] if len(counts) == 1 else []
    tests = [word for node in nodes for word in ("--pytest", node)]
    argv = ["stagebench", "accept", *tests, *only, "--reason", REASON]
    shell = " ".join(map(shlex.quote, argv[:-1])) + f' "{REASON}"'
    return AcceptCommand(argv=tuple(argv), shell=shell, counts=dict(counts))


def facts_of(plan: SweepPlan) -> Facts:
    """The facts of the one variant of a plan; `StagebenchError` with the compiler's words if none.

    Raises what `run_sweep` raises.
    """
    requests = expand(plan, parse_kernel(plan.kernel), plan.num_stages or (None,))
    with one_at_a_time(default_cache_folder(), requests):
        (result,) = run_sweep(plan, _options()).run.variants
    if result.facts is None:
        said = "" if result.failure is None else f": {result.failure.message}"
        where = f" at num_stages={result.variant.num_stages} for {result.variant.arch}"
        raise StagebenchError(f"{result.variant.kernel}{where} fails to lower{said}")
    return result.facts


def _options() -> SweepOptions:
    """The cores of this process: xdist's workers share the machine."""
    workers = os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")
    cores = len(os.sched_getaffinity(0))
    return SweepOptions(jobs=max(1, cores // max(1, int(workers) if workers.isdigit() else 1)))
