"""Can a test say which compiler its kernel is checked with?"""

import json

import pytest

from tests.plugin.conftest import accept, baselines
from tests.tvm.lowering import needs_tvm

pytest_plugins = ["pytester"]


@pytest.mark.parametrize("_", [pytest.param(0, marks=needs_tvm)])
def test_a_check_by_apache_tvm(project, _):
    """The check, the marker and facts lower with it; accept writes what it makes, by name."""
    project.makepyfile(
        test_k="""
        import pytest

        @pytest.mark.stagebench(compiler="tvm", arch="sm_80")
        def test_gemm(stagebench):
            stagebench.check("gemm", num_stages=1)
            assert "cp_async_copy" not in stagebench.facts("gemm", num_stages=1).sync_totals

        def test_itself(stagebench):
            stagebench.check("gemm", num_stages=2, arch="sm_90a")
        """
    )
    accept(project, "--pytest", "test_k.py")
    found = {
        path.split("/")[2]: json.loads((project.path / path / "variant.json").read_text())
        for path in baselines(project)
    }
    assert {name: one.get("variant", one)["compiler"]["name"] for name, one in found.items()} == {
        "test_gemm": "tvm", "test_itself": "tilelang",
    }  # fmt: skip
    history = json.loads(
        (project.path / "__stagebench__/test_k/test_gemm/baseline.json").read_text()
    )
    assert history["accepted"][0]["compiler"]["name"] == "tvm"
    project.runpytest_subprocess("-q").assert_outcomes(passed=2)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ('stagebench.check("gemm", compiler="tvn")', '*compiler="tvn": not a compiler*'),
        ('stagebench.check("gemm", compiler=["tvm"])', "*compiler is a text*"),
        (
            'stagebench.facts("gemm", arch="sm_80", num_stages=1, compiler=["tvm"])',
            "*compiler is one*",
        ),
    ],
)
def test_what_is_no_compiler(project, call, said):
    """A misspelt one is told at the test's line, and several are refused."""
    project.makepyfile(test_k=f"def test_wrong(stagebench):\n    {call}\n")
    result = project.runpytest_subprocess("-q")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"E*{said}"])


def test_the_hint_is_in_a_tests_words(project):
    """A test has no option of the command line: it names the compiler as an argument."""
    project.makepyfile(
        test_k='def test_x(stagebench):\n    stagebench.check("gemm_tirx", arch="sm_80")\n'
    )
    result = project.runpytest_subprocess("-q")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(['E*hint: compiler="tvm" lowers it'])
    assert "--compiler" not in result.stdout.str()
