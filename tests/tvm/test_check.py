"""Cases that name their compiler, beside cases that do not."""

import pytest

from stagebench.errors import MachineError
from stagebench.experiment.checking import run_check
from stagebench.experiment.compared_with import Compared
from stagebench.experiment.experiment_file import load_experiment
from stagebench.experiment.sweep import SweepOptions
from stagebench.lowering import compiler_environment
from tests.tvm.lowering import with_tvm

BOTH = """\
from stagebench import Case, Experiment, expect

EXPERIMENT = Experiment(
    question="What does depth 1 copy with?",
    cases=[
        Case(kernel="gemm", num_stages=1, arch="sm_80", name="by_tvm", compiler="tvm"),
        Case(kernel="gemm", num_stages=1, arch="sm_80", name="by_tilelang"),
    ],
    expectations=[
        expect("cp.async", lambda v: "cp_async_copy" in v.totals, where={"case": "by_tilelang"}),
        expect("plain", lambda v: "cp_async_copy" not in v.totals, where={"case": "by_tvm"}),
    ],
)
"""
ONLY_TVM = BOTH.replace(
    '        Case(kernel="gemm", num_stages=1, arch="sm_80", name="by_tilelang"),\n', ""
)


@pytest.fixture
def checked(tmp_path):
    """Check an experiment that has no baselines."""

    def check(text, **compared):
        (tmp_path / "pyproject.toml").write_text("")
        (tmp_path / "experiments").mkdir()
        path = tmp_path / "experiments" / "both.py"
        path.write_text(text)
        return run_check(
            [load_experiment(path)],
            Compared(allow_missing=True, **compared),
            SweepOptions(jobs=2),
        )

    return check


@pytest.fixture
def without_tvm(monkeypatch):
    found = compiler_environment.find_distribution
    monkeypatch.setattr(
        compiler_environment,
        "find_distribution",
        lambda name, folders: None if name == "apache-tvm" else found(name, folders),
    )


@pytest.mark.tilelang
class TestCases:
    @with_tvm
    def test_each_by_its_own_compiler(self, checked):
        """Every expectation holds of the compiler that its case names."""
        done = checked(BOTH)
        (experiment,) = done.verdict.experiments
        seen = {case.name: case.variants[0] for case in experiment.cases}
        assert {name: v.variant.compiler.name for name, v in seen.items()} == {
            "by_tvm": "tvm",
            "by_tilelang": "tilelang",
        }
        assert [a.outcome for v in seen.values() for a in v.expectations] == ["held", "held"]

    @with_tvm
    def test_a_kernel_that_the_other_compiler_can_not_lower(self, checked):
        """What is lowered by the one that is asked for is held against the other's failure."""
        text = 'kernel="gemm_tirx"'.join(BOTH.rsplit('kernel="gemm"', 1))
        verdict = checked(text, compilers=("tvm",), against_compiler="tilelang").verdict
        assert (verdict.exit_code, verdict.counts) == (3, {"lowers_now": 1})
        assert verdict.not_asked == ("1 case names tvm",)

    @with_tvm
    @pytest.mark.parametrize(("given", "not_comparable"), [((), 1), (("tilelang",), 2)])
    def test_tilelang_is_compared_with_tvm_where_both_are_asked_for(
        self, checked, given, not_comparable
    ):
        """Else a case that names none is TileLang's; that which names ``tvm`` is what it is."""
        verdict = checked(BOTH, compilers=given, against_compiler="tvm").verdict
        assert (verdict.exit_code, verdict.counts) == (4, {"not_comparable": not_comparable})
        assert len(verdict.not_asked) == 2 - not_comparable

    @pytest.mark.usefixtures("without_tvm")
    def test_one_that_is_not_there_costs_its_own_cases(self, checked):
        """The other's case is lowered and judged."""
        (seen,) = checked(BOTH).lowered.seen
        outcomes = {one.planned.case.name: one.lowering.result for one in seen}
        assert outcomes["by_tvm"].failure.kind == "no_compiler"
        assert outcomes["by_tilelang"].outcome == "lowered"

    @pytest.mark.usefixtures("without_tvm")
    def test_nothing_can_be_judged_where_it_is_the_only_one(self, checked):
        """What is missing is said, with the command that installs it."""
        with pytest.raises(MachineError, match="apache-tvm is not installed") as caught:
            checked(ONLY_TVM)
        assert "stagebench[tvm]" in caught.value.hint
