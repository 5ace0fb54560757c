"""Is all of it the same under xdist, and is each variant lowered once?"""

import pytest

from tests.plugin.conftest import MODULE, accept
from tests.plugin.seeded import one_version_more, seed

pytest_plugins = ["pytester"]

FOUR = "".join(MODULE.replace("test_gemm", f"test_{number}") for number in range(4))
KERNEL = """
import os
from pathlib import Path

import tilelang
import tilelang.language as T

with Path(os.environ["LOADED"]).open("a") as log:
    log.write("loaded\\n")


@tilelang.jit
def scale(N: int = 1024, num_stages: int = 2):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=128) as _:
            shared = T.alloc_shared((128,), "float32")
            for k in T.Pipelined(N // 128, num_stages=num_stages):
                T.copy(A[k * 128], shared)
                T.copy(shared, B[k * 128])
    return main
"""


def test_outcomes(project):
    """Green is green, drift is told in words, and unused baselines are gathered from workers."""
    project.makepyfile(test_k=FOUR)
    accept(project, "--pytest", "test_k.py")
    options = ("-q", "-n", "2", "--stagebench-fail-on-unused", "--stagebench-accept")
    result = project.runpytest_subprocess(*options)
    result.assert_outcomes(passed=4)
    assert result.ret == 0
    project.makepyfile(test_k=FOUR.replace("test_3", "test_three"))
    seed(2, change=one_version_more)
    result = project.runpytest_subprocess(*options)
    result.assert_outcomes(failed=4)
    result.stdout.fnmatch_lines(
        [
            "E*A_shared versions 2 → 3*",
            "1 unused baseline; to remove:",
            "  git rm -r __stagebench__/test_k/test_3 *",
            "nothing was written; to approve (create 2, fix 3):",
            '  stagebench accept --pytest test_k.py --reason "say why"',
        ]
    )


def test_exit_status_under_xdist(project):
    """The controller sets the status for what its workers found unused."""
    project.makepyfile(test_k=FOUR)
    accept(project, "--pytest", "test_k.py")
    project.makepyfile(test_k=FOUR.partition("def test_3")[0])
    result = project.runpytest_subprocess("-q", "-n", "2", "--stagebench-fail-on-unused")
    result.assert_outcomes(passed=3)
    assert result.ret == 1


@pytest.mark.tilelang
def test_one_lowering_a_variant(project, monkeypatch):
    """Four tests in four workers ask for the same two variants: the kernel is loaded twice."""
    log = project.path / "loaded.txt"
    monkeypatch.setenv("LOADED", str(log))
    project.makepyfile(
        scale=KERNEL,
        test_k="".join(
            f"def test_{number}(stagebench):\n"
            '    stagebench.check("scale.py:scale", num_stages=[1, 2], arch="sm_80")\n'
            for number in range(4)
        ),
    )
    result = project.runpytest_subprocess("-q", "-n", "4", "--stagebench-allow-missing")
    result.stdout.fnmatch_lines(["*4 failed*"])  # nothing to compare with is never a pass
    assert log.read_text().splitlines() == ["loaded"] * 2
