"""Which baselines does the end of a session report, and which does it leave in peace?"""

import pytest

from tests.plugin.conftest import MODULE, accept

pytest_plugins = ["pytester"]

TWO = MODULE + MODULE.replace("test_gemm", "test_other")


@pytest.fixture
def two(project):
    """Two accepted tests in one module."""
    project.makepyfile(test_k=TWO)
    accept(project, "--pytest", "test_k.py")
    return project


def _reported(result):
    return "unused baseline" in result.stdout.str()


def test_a_test_that_is_gone(two):
    """Its baselines are reported with the command that removes them; the session stays green."""
    two.makepyfile(test_k=MODULE)
    result = two.runpytest_subprocess("-q")
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        [
            "1 unused baseline; to remove:",
            "  git rm -r __stagebench__/test_k/test_other   # there is no such test",
        ]
    )


def test_exit_status_on_request(two):
    """With the option an unused baseline is exit status 1; without one it changes nothing."""
    assert two.runpytest_subprocess("-q", "--stagebench-fail-on-unused").ret == 0
    two.makepyfile(test_k=MODULE)
    assert two.runpytest_subprocess("-q", "--stagebench-fail-on-unused").ret == 1


def test_a_module_that_is_gone(two):
    """The folder of a module that no longer exists is reported where its neighbours run."""
    two.makepyfile(test_new="def test_plain(): pass")
    (two.path / "test_k.py").unlink()
    result = two.runpytest_subprocess("-q")
    result.stdout.fnmatch_lines(["  git rm -r __stagebench__/test_k   # there is no test_k.py"])


def test_a_check_that_is_gone(two):
    """A test that came to its end without the check leaves its baseline unused."""
    two.makepyfile(test_k=MODULE + "\ndef test_other(stagebench): pass\n")
    result = two.runpytest_subprocess("-q")
    result.stdout.fnmatch_lines(["*test_k/test_other   # no test makes this check"])


@pytest.mark.parametrize(
    ("body", "arguments"),
    [
        pytest.param(TWO, ("-k", "test_gemm"), id="deselected by -k"),
        pytest.param(TWO, ("test_k.py::test_gemm",), id="chosen by node id"),
        pytest.param(TWO, ("--deselect", "test_k.py::test_other"), id="deselected"),
        pytest.param(
            "import pytest\n" + TWO.replace("def test_other", "@pytest.mark.skip\ndef test_other"),
            (),
            id="skipped",
        ),
        pytest.param(
            TWO.replace("test_other(stagebench):", "test_other(stagebench):\n    assert False"),
            (),
            id="failed on the way",
        ),
        pytest.param("def test_first(): assert False\n" + TWO, ("-x",), id="stopped early"),
    ],
)
def test_what_did_not_run_is_not_unused(two, body, arguments):
    """A selection, a skip, a failure or an early stop says nothing of the others' baselines."""
    two.makepyfile(test_k=body)
    assert not _reported(two.runpytest_subprocess("-q", *arguments))


def test_a_whole_green_run_reports_nothing(two):
    """Where every baseline is used nothing is printed."""
    result = two.runpytest_subprocess("-q")
    assert not _reported(result)
    assert "= stagebench =" not in result.stdout.str()
