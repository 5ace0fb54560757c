"""Does ``stagebench accept --pytest`` accept what the tests check, and nothing else?"""

from tests.command_line import stagebench
from tests.plugin.conftest import MODULE, accept, baselines
from tests.plugin.seeded import one_version_more, seed

pytest_plugins = ["pytester"]


def test_one_test_of_two(project):
    """A node id accepts that test alone."""
    project.makepyfile(test_k=MODULE + MODULE.replace("test_gemm", "test_other"))
    accept(project, "--pytest", "test_k.py::test_other")
    assert {path.split("/")[2] for path in baselines(project)} == {"test_other"}
    project.runpytest_subprocess("-q").assert_outcomes(passed=1, failed=1)


def test_a_fix_needs_a_reason(accepted):
    """What changed is shown, and kept as it was without a reason."""
    seed(2, change=one_version_more)
    done = stagebench("accept", "--pytest", "test_k.py", cwd=accepted.path, CI="")
    assert done.code == 2
    assert "A_shared versions 2 → 3" in done.out
    accepted.runpytest_subprocess("-q").assert_outcomes(failed=1)
    accept(accepted, "--pytest", "test_k.py")
    accepted.runpytest_subprocess("-q").assert_outcomes(passed=1)


def test_refused_in_ci(project):
    """Where CI is set, nothing is accepted."""
    project.makepyfile(test_k=MODULE)
    said = accept(project, "--pytest", "test_k.py", code=2, CI="true")
    assert "CI is set" in said
    assert baselines(project) == []


def test_what_a_failing_test_did_not_reach_stays(accepted):
    """A test that fails before its check keeps its baselines; the others are accepted."""
    accepted.makepyfile(
        test_k=MODULE.replace("(stagebench):", "(stagebench):\n    assert False")
        + MODULE.replace("test_gemm", "test_other")
    )
    said = accept(accepted, "--pytest", "test_k.py")
    assert "beside their checks (test_k.py::test_gemm): what they did not reach stays" in said
    assert {path.split("/")[2] for path in baselines(accepted)} == {"test_gemm", "test_other"}


def test_tests_that_cannot_be_run(project):
    """A module that does not import, and one that checks nothing, are mistakes: exit 2."""
    project.makepyfile(test_k="import nothing_of_that_name", test_empty="def test_nothing(): pass")
    assert "nothing_of_that_name" in accept(project, "--pytest", "test_k.py", code=2)
    said = accept(project, "--pytest", "test_empty.py", code=2)
    assert "no test of test_empty.py reached a stagebench.check" in said


def test_a_second_test_without_the_option(project):
    """It is taken for an experiment, and the hint says how it is typed."""
    project.makepyfile(test_k=MODULE)
    for other in ("test_k.py", "test_gone.py::test_a"):
        said = accept(project, "--pytest", "test_k.py", other, code=2)
        assert f"repeat --pytest: --pytest {other}" in said


def test_the_bad_test_is_named(project):
    """Of a whole module, the one whose kernel there is not."""
    other = MODULE.replace("test_gemm", "test_bad").replace('"gemm"', '"gemn"')
    project.makepyfile(test_k=MODULE + other)
    said = accept(project, "--pytest", "test_k.py", code=2)
    assert "stagebench: test_k.py::test_bad: no built-in kernel 'gemn'" in said
    assert baselines(project) == []


def test_a_value_of_a_wrong_type_is_named(project):
    """The test and the argument, not the file that it was written to."""
    bad = MODULE.replace("test_gemm", "test_bad").replace('"sm_90a"', '"sm_90a", compiler=["tvm"]')
    project.makepyfile(test_k=MODULE + bad)
    said = accept(project, "--pytest", "test_k.py", code=2)
    assert "stagebench: test_k.py::test_bad: Case('gemm'): compiler is a text" in said
    assert baselines(project) == []


def test_a_compiler_that_cannot_be_had_costs_its_own_test(project):
    """It is named and not accepted, for it is no property of the code; the others are."""
    gone = MODULE.replace("test_gemm", "test_gone").replace(
        '"sm_90a"', '"sm_90a", compiler="tvm==9.9.9"'
    )
    project.makepyfile(test_k=MODULE + gone)
    said = accept(project, "--pytest", "test_k.py", PIP_NO_INDEX="1")
    assert "test_gone" in said.partition("not accepted")[2]
    assert {path.split("/")[2] for path in baselines(project)} == {"test_gemm"}


def test_xdist_in_the_projects_own_options(project):
    """A project that always runs under xdist is gathered as well."""
    project.makepyfile(test_k=MODULE + MODULE.replace("test_gemm", "test_other"))
    project.makepyprojecttoml('[tool.pytest.ini_options]\naddopts = "-n 2"\n')
    accept(project, "--pytest", "test_k.py")
    assert {path.split("/")[2] for path in baselines(project)} == {"test_gemm", "test_other"}
