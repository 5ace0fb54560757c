"""Do this repository's experiments hold, and does each switch of the compiler turn them red?"""

import pytest

from stagebench.experiment.experiment_file import find_experiments
from tests.gate.building import ROOT
from tests.gate.projects import run

pytestmark = pytest.mark.tilelang


@pytest.fixture(autouse=True)
def in_the_repository(monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.chdir(ROOT)


def test_the_experiments_of_this_repository_are_clean(capsys):
    """Exit 0: every fact as accepted, every claim of their docstrings true."""
    code, out, err = run(capsys, "check", "--all")
    assert code == 0, out + err
    for file in find_experiments([]):
        assert file.experiment.question in file.path.read_text()
    assert "failed" not in out


@pytest.mark.parametrize(
    ("switch", "words"),
    [
        (
            "tl.disable_warp_specialized",
            ["loop k scheduled by warp specialisation → software pipeline",
             "scheduled in tl.ProducerConsumerWarpSpecialized → tl.PipelinePlanning"],
        ),
        (
            "tl.disable_tma_lower",
            ["tma_store call sites 1 → 0", "TMA descriptor C_desc vanished"],
        ),
        ("tirx.disable_vectorize", ["kernel.cu: 2 lines became 3"]),
    ],
)  # fmt: skip
def test_a_switch_of_the_compiler_turns_the_gate_red(capsys, switch, words):
    """Exit 1 on sm_90a, in words that a reader understands."""
    code, out, _ = run(
        capsys, "check", "pass_switches", "--only", "as_it_is", "--pass-config", f"{switch}=true"
    )
    assert code == 1
    for said in (*words, "as_it_is/staged_gemm.staged_gemm/sm_90a/num_stages=2, 3", switch):
        assert said in out
