"""What do people see of ``stagebench.check`` and ``stagebench.facts`` in their own tests?"""

import shlex

import msgspec
import pytest

from tests.command_line import stagebench as run_stagebench
from tests.plugin.conftest import MODULE, accept, baselines
from tests.plugin.seeded import one_version_more, seed, seed_failure

pytest_plugins = ["pytester"]


def test_code_as_accepted_passes(accepted):
    """A kernel that compiles to what its baselines say passes, and nothing is written."""
    before = {path: path.stat().st_mtime_ns for path in accepted.path.rglob("*.json")}
    accepted.runpytest_subprocess("-q").assert_outcomes(passed=1)
    assert {path: path.stat().st_mtime_ns for path in accepted.path.rglob("*.json")} == before


def test_drift_reads_as_changed_facts(accepted):
    """A changed fact fails in words, with its path, the baseline's line and the command."""
    for depth in (1, 2):
        seed(depth, change=one_version_more)
    result = accepted.runpytest_subprocess("-q")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*AssertionError: 2 variants against the baselines in __stagebench__/test_k/test_gemm*",
            "E*drift in gemm/sm_90a/num_stages=1, 2:",
            "E*A_shared versions 1|2 → 2|3",
            "E*shared_buffers*A_shared*num_versions*facts.json:*",
            'E*to approve: stagebench accept --pytest test_k.py::test_gemm --only fix --reason "*"',
        ]
    )
    said = result.stdout.str()
    assert "VariantVerdict(" not in said
    assert "{'" not in said
    assert "stagebench/testing/" not in said  # the traceback ends at the user's line


def test_no_baseline_fails_and_writes_none(project):
    """A first run fails, says the exact command, and leaves no file."""
    project.makepyfile(test_k=MODULE)
    result = project.runpytest_subprocess("-q")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "E*no baseline: gemm/sm_90a/num_stages=1",
            "E*--pytest test_k.py::test_gemm --only create*",
        ]
    )
    assert baselines(project) == []
    assert not (project.path / "__stagebench__").exists()


def test_the_command_that_is_printed_approves(project):
    """What the failure says, run as it is printed, turns the test green."""
    project.makepyfile(
        test_k="""
        import pytest

        @pytest.mark.parametrize("depth", [1, 2])
        def test_gemm(stagebench, depth):
            stagebench.check("gemm", num_stages=depth, arch="sm_90a")
        """
    )
    result = project.runpytest_subprocess("-q", "--stagebench-accept")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["nothing was written; to approve (create 2):"])
    (line,) = [line for line in result.outlines if line.startswith("  stagebench accept")]
    assert line.strip() == 'stagebench accept --pytest test_k.py --only create --reason "say why"'
    done = run_stagebench(*shlex.split(line)[1:], cwd=project.path, CI="")
    assert done.code == 0, done.err
    assert baselines(project) == [
        "__stagebench__/test_k/test_gemm.1/gemm/sm_90a/num_stages=1",
        "__stagebench__/test_k/test_gemm.2/gemm/sm_90a/num_stages=2",
    ]
    project.runpytest_subprocess("-q").assert_outcomes(passed=2)


def test_accept_option_names_only_the_tests_that_ran(project):
    """With a test chosen by its id, the command approves that test and no other."""
    project.makepyfile(test_k=MODULE)
    result = project.runpytest_subprocess("-q", "--stagebench-accept", "test_k.py::test_gemm")
    result.stdout.fnmatch_lines(["  stagebench accept --pytest test_k.py::test_gemm *"])


def test_accept_option_with_nothing_to_approve(accepted):
    """The option on a green run says so."""
    result = accepted.runpytest_subprocess("-q", "--stagebench-accept")
    result.stdout.fnmatch_lines(["nothing to approve: every check is as accepted"])


def test_allow_missing(project):
    """A missing baseline can be let pass; one that is there is judged all the same."""
    project.makepyfile(test_k=MODULE)
    accept(project, "--pytest", "test_k.py")
    project.makepyfile(test_k=MODULE.replace("[1, 2]", "[1, 2, 3]"))
    project.runpytest_subprocess("-q").assert_outcomes(failed=1)
    project.runpytest_subprocess("-q", "--stagebench-allow-missing").assert_outcomes(passed=1)
    seed(1, change=one_version_more)
    project.runpytest_subprocess("-q", "--stagebench-allow-missing").assert_outcomes(failed=1)


def test_a_variant_that_fails_now(accepted):
    """A variant that lowered before and fails now is told with the compiler's words."""
    seed_failure(2)
    result = accepted.runpytest_subprocess("-q")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E*fails now: gemm/sm_90a/num_stages=2*no layout*"])


def test_a_baseline_that_no_variant_has_fails_the_check(accepted):
    """A depth that was taken out of the test leaves a baseline: the check says which."""
    accepted.makepyfile(test_k=MODULE.replace("[1, 2]", "[1]"))
    result = accepted.runpytest_subprocess("-q")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E*unused baseline: gemm/sm_90a/num_stages=2*", "E*--only trim*"])


def test_several_checks_of_one_test(project):
    """Checks of one test have baselines of their own: numbered, or named."""
    project.makepyfile(
        test_k="""
        class TestGemm:
            def test_two(self, stagebench):
                stagebench.check("gemm", num_stages=1, arch="sm_90a")
                stagebench.check("gemm", num_stages=2, arch="sm_90a")
                stagebench.check("gemm", num_stages=3, arch="sm_90a", name="deep")
        """
    )
    accept(project, "--pytest", "test_k.py")
    assert baselines(project) == [
        "__stagebench__/test_k/TestGemm.test_two,2/gemm/sm_90a/num_stages=2",
        "__stagebench__/test_k/TestGemm.test_two,deep/gemm/sm_90a/num_stages=3",
        "__stagebench__/test_k/TestGemm.test_two/gemm/sm_90a/num_stages=1",
    ]
    project.runpytest_subprocess("-q").assert_outcomes(passed=1)


def test_policy_and_expectations(accepted):
    """A policy allows what it names; an expectation fails with the values that it saw."""
    seed(2, change=one_version_more)
    accepted.makepyfile(
        test_k="""
        from stagebench import expect

        def test_gemm(stagebench):
            stagebench.check(
                "gemm", num_stages=[1, 2], arch="sm_90a",
                policy={"shared_buffers[*].num_versions": "may grow"},
                expectations=[
                    expect(
                        "one version a stage",
                        lambda v: v.buffers["A_shared"].num_versions == v.num_stages,
                    )
                ],
            )
        """
    )
    result = accepted.runpytest_subprocess("-q")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["E*expectation failed: one version a stage", "E*buffers*A_shared*num_versions = 3"]
    )
    assert "drift in" not in result.stdout.str()


def test_facts(project):
    """Facts are typed records: asserting on them needs no baseline."""
    project.makepyfile(
        test_k="""
        import pytest

        def test_block(stagebench):
            facts = stagebench.facts("gemm", num_stages=2, arch="sm_90a")
            assert [buffer.num_versions for buffer in facts.shared_buffers] == [2, 2]

        @pytest.mark.stagebench(arch="sm_90a")
        def test_marked(stagebench):
            assert stagebench.facts("gemm", num_stages=3).shared_buffers[0].num_versions == 3

        def test_two(stagebench):
            stagebench.facts("gemm", num_stages=2)
        """
    )
    result = project.runpytest_subprocess("-q")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["E*facts(…) are of one variant*", "E*hint: arch=*"])


def test_facts_of_a_variant_that_fails(project):
    """The test fails with the compiler's message."""
    seed_failure(2, message="InternalError: no layout for C")
    project.makepyfile(
        test_k="""
        def test_facts(stagebench):
            stagebench.facts("gemm", num_stages=2, arch="sm_90a")
        """
    )
    result = project.runpytest_subprocess("-q")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E*gemm at num_stages=2 for sm_90a fails to lower*no layout*"])


def test_marker_gives_defaults_and_selects(project):
    """The marker's values are those of every check below it; the fixture alone selects, too."""
    project.makepyfile(
        test_k="""
        import pytest

        pytestmark = pytest.mark.stagebench(arch="sm_90a", num_stages=[1, 2])

        def test_marked(stagebench):
            stagebench.check("gemm")

        @pytest.mark.stagebench(num_stages=3)
        def test_nearest(stagebench):
            stagebench.check("gemm")
        """,
        test_other="""
        def test_unmarked(stagebench): pass
        def test_plain(): pass
        """,
    )
    accept(project, "--pytest", "test_k.py")
    assert [path.rsplit("/", 3)[0] for path in baselines(project)] == [
        "__stagebench__/test_k/test_marked",
        "__stagebench__/test_k/test_marked",
        "__stagebench__/test_k/test_nearest",
    ]
    project.runpytest_subprocess("-q", "-m", "stagebench").assert_outcomes(passed=3, deselected=1)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ('stagebench.check("gem")', "*no built-in kernel 'gem'*"),
        ('stagebench.check("gemm", arch="sm_1")', "*sm_1*"),
        ('stagebench.check("gemm", num_stages=[])', "*num_stages is a depth*"),
        ('stagebench.check("gemm", policy={"wgmmma": "exact"})', "*names no fact*"),
        ("stagebench.check(lambda: 1)", "*no function of a module's own*"),
        ("stagebench.check(3)", "*3 is no kernel that can be found again*"),
        ('stagebench.check("missing.py:gemm")', "*no file*missing.py*"),
    ],
)
def test_what_is_wrong_is_said(project, call, said):
    """A mistake in a call is one message with a hint, at the test's line."""
    project.makepyfile(test_k=f"def test_wrong(stagebench):\n    {call}\n")
    result = project.runpytest_subprocess("-q")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"E*{said}"])
    assert "stagebench/testing/" not in result.stdout.str()


def test_a_misspelt_marker_argument_is_refused(project):
    """A marker's argument that nobody knows is no silent default."""
    project.makepyfile(
        test_k="""
        import pytest

        @pytest.mark.stagebench(archs="sm_90a")
        def test_gemm(stagebench):
            stagebench.check("gemm")
        """
    )
    result = project.runpytest_subprocess("-q")
    result.stdout.fnmatch_lines(["E*the marker stagebench takes no 'archs'*"])


def test_a_compiler_of_another_version_is_not_comparable(accepted):
    """A baseline of another release is never a silent pass."""
    for path in accepted.path.rglob("variant.json"):
        data = msgspec.json.decode(path.read_bytes())
        data["variant"]["compiler"]["version"] = "0.1.0"
        path.write_bytes(msgspec.json.encode(data))
    result = accepted.runpytest_subprocess("-q")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E*not comparable: *baseline by tilelang 0.1.0*"])
    assert "nothing was compared" in result.stdout.str()
