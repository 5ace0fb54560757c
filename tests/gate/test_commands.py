"""``check`` and ``accept`` as a user runs them, on a kernel that is really lowered."""

import json
import shlex
import shutil
import subprocess

import pytest

from tests.command_line import command, stagebench, unwrapped
from tests.gate.projects import EDITED, FAILING, KERNEL, run

pytestmark = pytest.mark.tilelang

SWITCH = "tl.disable_warp_specialized=true"


def verdict(capsys, *arguments):
    """The exit code and the verdict as JSON."""
    code, out, err = run(capsys, "check", *arguments, "--json", "-")
    return code, json.loads(out) if out else err


def variants(found):
    return [v for e in found["experiments"] for c in e["cases"] for v in c["variants"]]


def git(project, *arguments):
    subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@example.com", *arguments],
        cwd=project.root, check=True, capture_output=True,
    )  # fmt: skip


def test_nothing_accepted_yet(project, capsys, monkeypatch):
    """No baselines: exit 4, with the command that makes them; nothing is written."""
    monkeypatch.chdir(project.root)
    code, out, _ = run(capsys, "check")
    assert code == 4
    assert "2 without baseline; nothing was compared" in unwrapped(out)
    assert "to approve: stagebench accept experiments/tiny.py --only create" in unwrapped(out)
    assert run(capsys, "check", "--allow-missing")[0] == 4
    assert not project.dumps.exists()


@pytest.mark.parametrize("place", ["experiments", "."])
def test_the_command_to_approve_works_where_it_is_printed(project, capsys, monkeypatch, place):
    """From a folder below the project; and where there is no project, from above the file."""
    alone = place == "."
    if alone:
        (project.root / "pyproject.toml").unlink()
    monkeypatch.chdir(project.root / place)
    file = "experiments/tiny.py" if alone else "tiny.py"
    _, out, err = run(capsys, "check", file)
    line = out.partition("to approve:")[2].strip().splitlines()[0]
    assert f"accept {file} " in line, out + err
    words = shlex.split(line.removeprefix("stagebench "))
    code, _, err = run(capsys, *words)
    assert code == 0, err
    assert run(capsys, "check", file)[0] == 0


def test_accepted_is_clean(accepted_project, capsys):
    """Exit 0; the baselines are small text, and a check writes none of it."""
    before = accepted_project.state()
    code, out, _ = run(capsys, "check")
    assert (code, "2 clean" in out) == (0, True)
    assert accepted_project.state() == before
    names = {name.rpartition("/")[2] for name in before}
    assert names == {"variant.json", "facts.json", "launch.json", "passes.json", "kernel.cu",
                     "baseline.json"}  # fmt: skip
    assert sum(map(len, before.values())) < 100_000
    history = json.loads(before["tiny/baseline.json"])
    assert [entry["reason"] for entry in history["accepted"]] == ["first"]
    assert run(capsys, "check", "--all")[1].count("holds: one version a stage") == 2


def test_a_comment_a_rename_and_another_path_are_clean(accepted_project, capsys, monkeypatch):
    """Lines moved, the buffer, the loop and the function renamed, the project moved: exit 0."""
    accepted_project.kernel(EDITED)
    assert run(capsys, "check")[0] == 0
    moved = accepted_project.root.parent / "elsewhere" / "q"
    moved.parent.mkdir()
    monkeypatch.chdir("/")
    accepted_project.root.rename(moved)
    code, out, _ = run(capsys, "check", moved / "experiments" / "tiny.py")
    assert (code, "2 clean" in out) == (0, True)


def test_a_renamed_kernel_file_keeps_its_baselines(accepted_project, capsys):
    """Found by what they are, said so, and moved by the next accept."""
    root = accepted_project.root
    (root / "kernels" / "tiny.py").rename(root / "kernels" / "other.py")
    path = accepted_project.experiment()
    path.write_text(path.read_text().replace("tiny.py:tiny", "other.py:tiny"))
    code, found = verdict(capsys)
    assert code == 0
    assert {v["note"] for v in variants(found)} == {
        "its baseline is recorded under the name tiny.py:tiny"
    }
    assert run(capsys, "accept", "--reason", "kernel file renamed")[0] == 0
    assert not (accepted_project.dumps / "tiny" / "tiny.tiny").exists()
    code, found = verdict(capsys)
    assert (code, {v["note"] for v in variants(found)}) == (0, {None})


def test_a_regression_is_drift_in_words(accepted_project, capsys):
    """Exit 1: what, in which variants, at which line of the baseline; the switch is named."""
    code, out, _ = run(capsys, "check", "--pass-config", SWITCH)
    assert code == 1
    assert "scheduled by warp specialisation → software pipeline" in out
    assert "drift in 2 variants  tiny.tiny/sm_90a/num_stages=2, 3" in out
    assert "lowered with tl.disable_warp_specialized=true" in unwrapped(out)
    assert "to approve" not in out
    code, found = verdict(capsys, "--pass-config", SWITCH)
    for drift in (d for v in variants(found) for d in v["drifts"] if d["presence"] != "right"):
        place = accepted_project.root / drift["place"]["file"]
        assert place.is_file()
        assert 0 < drift["place"]["line"] <= len(place.read_text().splitlines())


def test_a_policy_of_pyproject_and_of_the_experiment(accepted_project, capsys):
    """The nearest source wins; a misspelt rule is exit 2, wherever it stands."""
    project = accepted_project.root / "pyproject.toml"
    project.write_text('[tool.stagebench.policy]\n"*" = "ignore"\n')
    assert run(capsys, "check", "--pass-config", SWITCH)[0] == 0
    accepted_project.experiment(policy={"sync_totals[tma_load]": "must not vanish"})
    code, found = verdict(capsys, "--pass-config", SWITCH)
    assert code == 1
    assert {d["path"] for v in variants(found) for d in v["drifts"]} == {
        "sync_totals[tma_load].static", "sync_totals[tma_load].dynamic",
    }  # fmt: skip
    accepted_project.experiment(policy={"sync_totals[tma_lod]": "must not vanish"})
    code, _, err = run(capsys, "check")
    assert (code, "did you mean sync_totals[tma_load]?" in err) == (2, True)
    project.write_text('[tool.stagebench.policy]\n"launch" = "may shrnk"\n')
    accepted_project.experiment()
    code, _, err = run(capsys, "check")
    assert (code, "may shrink" in err) == (2, True)
    project.write_text('[tool.stagebench]\npolicies = "x"\n')
    assert run(capsys, "check")[0] == 2


def test_a_failed_expectation_shows_what_it_saw(accepted_project, capsys):
    """Exit 1, the words, the variants, the values and the line."""
    path = accepted_project.experiment()
    path.write_text(path.read_text().replace("== v.num_stages", "== 2"))
    code, out, _ = run(capsys, "check")
    assert code == 1
    assert "failed expectation: one version a stage" in out
    assert "buffers[0].num_versions = 3" in out
    assert "experiments/tiny.py:7" in out
    assert out.splitlines()[-1] == "exit 1: a failed expectation"


def test_a_variant_that_fails_now_and_lowers_again(accepted_project, capsys):
    """Exit 3 both ways, with the compiler's words; a known failure is clean once accepted."""
    accepted_project.kernel(FAILING)
    code, out, _ = run(capsys, "check")
    assert (code, "fails now" in out, "a tile of 0 rows" in out) == (3, True, True)
    path = accepted_project.experiment()
    path.write_text(path.read_text().replace("v.buffers[0].num_versions == v.num_stages",
                                             'v.outcome == "failed"'))  # fmt: skip
    assert run(capsys, "accept", "--reason", "broken upstream, issue 1")[0] == 0
    assert run(capsys, "check")[0] == 0
    accepted_project.kernel(KERNEL)
    code, out, _ = run(capsys, "check")
    assert (code, "lowers now" in out) == (3, True)


def test_another_compiler_version_is_not_comparable(accepted_project, capsys):
    """Exit 4 and both versions; judged on request."""
    for path in accepted_project.dumps.rglob("variant.json"):
        path.write_text(path.read_text().replace("0.1.15", "0.1.14"))
    code, out, _ = run(capsys, "check")
    assert (code, "baseline by tilelang 0.1.14, now tilelang 0.1.15" in out) == (4, True)
    assert run(capsys, "check", "--allow-missing")[0] == 4
    assert run(capsys, "check", "--any-compiler")[0] == 0


def test_missing_and_unused_baselines(accepted_project, capsys):
    """Exit 4 unless it is allowed; accept trims and creates, one kind at a time."""
    accepted_project.experiment(depths=(2,))
    code, out, _ = run(capsys, "check")
    assert (code, "unused baseline    tiny.tiny/sm_90a/num_stages=3" in out) == (4, True)
    assert run(capsys, "check", "--allow-missing")[0] == 0
    assert run(capsys, "accept", "--only", "create")[1].startswith("nothing to create; 1 to trim")
    assert run(capsys, "accept", "--only", "trim")[0] == 0
    assert run(capsys, "check")[0] == 0
    accepted_project.experiment(depths=(2, 3))
    assert run(capsys, "check")[0] == 4
    assert run(capsys, "check", "--allow-missing")[0] == 0


def drifted(project):
    """Change one fact of both baselines by hand."""
    for path in project.dumps.rglob("facts.json"):
        text = path.read_text()
        path.write_text(text.replace('"scheduled_by": "warp_specialization"',
                                     '"scheduled_by": "software_pipeline"'))  # fmt: skip


def test_accept_shows_first_and_wants_a_reason(accepted_project, capsys):
    """Grouped changes, then nothing written without a reason, then all of it with one."""
    drifted(accepted_project)
    before = accepted_project.state()
    for reason in ((), ("--reason", "  \n ")):
        code, out, err = run(capsys, "accept", *reason)
        assert code == 2
        assert "drift in 2 variants" in out
        assert "needs a reason, and nothing was written" in err
        assert accepted_project.state() == before
    code, out, _ = run(capsys, "accept", "--reason", "better code", "--dry-run")
    assert (code, "dry run: 2 baselines would change" in out) == (0, True)
    assert accepted_project.state() == before
    code, out, _ = run(capsys, "accept", "--reason", "better code")
    assert (code, "wrote 2 baselines" in out) == (0, True)
    assert run(capsys, "check")[0] == 0
    history = json.loads((accepted_project.dumps / "tiny" / "baseline.json").read_text())
    assert [(e["reason"], e["fixed"]) for e in history["accepted"]] == [
        ("better code", 2), ("first", 0),
    ]  # fmt: skip


def test_accept_refuses_in_ci(accepted_project, capsys, monkeypatch):
    """Unless it is told otherwise; looking is allowed."""
    drifted(accepted_project)
    monkeypatch.setenv("CI", "true")
    before = accepted_project.state()
    assert run(capsys, "accept", "--reason", "why")[0] == 2
    assert run(capsys, "accept", "--reason", "why", "--dry-run")[0] == 0
    assert accepted_project.state() == before
    assert run(capsys, "accept", "--reason", "why", "--yes-in-ci")[0] == 0
    assert run(capsys, "check")[0] == 0


def test_two_accepts_at_once(accepted_project, capsys):
    """Both end well, one after the other, and the baselines are whole."""
    drifted(accepted_project)
    both = [
        subprocess.Popen(
            command("accept", "--reason", f"no. {number}"), cwd=accepted_project.root,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for number in (1, 2)
    ]  # fmt: skip
    ends = [(process.communicate(timeout=120), process.returncode) for process in both]
    assert [code for _, code in ends] == [0, 0], ends
    assert run(capsys, "check")[0] == 0
    history = json.loads((accepted_project.dumps / "tiny" / "baseline.json").read_text())
    assert len(history["accepted"]) == 2


def test_a_damaged_baseline_stops_check_and_accept(accepted_project, capsys):
    """Exit 2 with the file and line, and nothing is touched."""
    path = next(accepted_project.dumps.rglob("facts.json"))
    path.write_text("<<<<<<< HEAD\n" + path.read_text())
    before = accepted_project.state()
    for arguments in (["check"], ["accept", "--reason", "x"]):
        code, _, err = run(capsys, *arguments)
        assert (code, "facts.json:1: merge conflict markers" in err) == (2, True)
    assert accepted_project.state() == before


def test_against_a_revision(accepted_project, capsys):
    """The baselines of a commit, whatever the working tree has; clear errors for the rest."""
    project = accepted_project
    code, _, err = run(capsys, "check", "--against", "HEAD")
    assert (code, "is in no git repository" in err) == (2, True)
    git(project, "init", "-q")
    git(project, "add", ".")
    git(project, "commit", "-q", "-m", "baselines")
    drifted(project)
    assert run(capsys, "check")[0] == 1
    code, out, _ = run(capsys, "check", "--against", "HEAD")
    assert (code, "against the baselines of HEAD" in out) == (0, True)
    git(project, "commit", "-q", "-a", "-m", "drifted")
    code, out, _ = run(capsys, "check", "--against", "HEAD")
    assert (code, "to approve" in out) == (1, False)
    assert run(capsys, "check", "--against", "HEAD~1")[0] == 0
    for ref in ("no-such-ref", "--upload-pack=x", "HEAD:dumps"):
        code, _, err = run(capsys, "check", f"--against={ref}")
        assert code == 2
        assert "revision" in err
    next(project.dumps.rglob("facts.json")).write_text("{")
    git(project, "commit", "-q", "-a", "-m", "damaged")
    code, _, err = run(capsys, "check", "--against", "HEAD")
    assert (code, "HEAD:dumps/tiny/tiny.tiny/sm_90a/num_stages=" in err) == (2, True)
    shutil.rmtree(project.dumps)
    git(project, "commit", "-q", "-a", "-m", "no baselines")
    assert run(capsys, "check", "--against", "HEAD")[0] == 4


def test_against_a_run(project, capsys, monkeypatch):
    """Another sweep's dumps; a folder that is none is exit 2."""
    monkeypatch.chdir(project.root)
    swept = run(capsys, "sweep", "kernels/tiny.py:tiny", "--num-stages", 2, 3, "--arch", "sm_90a",
                "--dump-dir", "run")  # fmt: skip
    assert swept[0] == 0
    code, out, _ = run(capsys, "check", "--against-run", "run")
    assert (code, "2 variants against run run: 2 clean" in out) == (0, True)
    assert run(capsys, "check", "--against-run", "nothing")[0] == 2
    assert run(capsys, "check", "--against-run", "run", "--against", "HEAD")[0] == 2


def test_cases_with_names_and_only(project, capsys, monkeypatch):
    """Two cases of one kernel need names; ``--only`` checks one of them."""
    monkeypatch.chdir(project.root)
    path = project.experiment(case=', name="plain"')
    text = path.read_text()
    twice = text.replace("cases=[", "cases=[Case(kernel='../kernels/tiny.py:tiny', num_stages=2, "
                         "arch='sm_90a', name='again'), ")  # fmt: skip
    path.write_text(twice)
    assert run(capsys, "accept")[0] == 0
    assert (project.dumps / "tiny" / "again" / "tiny.tiny").is_dir()
    code, out, _ = run(capsys, "check", "--only", "again")
    assert (code, "1 variants" in out or "1 clean" in out) == (0, True)
    code, _, err = run(capsys, "check", "--only", "agan")
    assert (code, "again" in err) == (2, True)
    path.write_text(twice.replace("name='again'", "name='plain'"))
    code, _, err = run(capsys, "check")
    assert (code, "two cases are called 'plain'" in err) == (2, True)


def test_another_folder_of_baselines(accepted_project, capsys):
    """``--dumps`` and ``[tool.stagebench] dumps``."""
    root = accepted_project.root
    accepted_project.dumps.rename(root / "golden")
    assert run(capsys, "check")[0] == 4
    assert run(capsys, "check", "--dumps", root / "golden")[0] == 0
    (root / "pyproject.toml").write_text('[tool.stagebench]\ndumps = "golden"\n')
    assert run(capsys, "check")[0] == 0


def test_the_starting_point_of_new_is_understood(project, capsys, monkeypatch):
    """Written once, never over another file; check knows it, accept makes its baselines."""
    monkeypatch.chdir(project.root)
    (project.root / "experiments" / "tiny.py").unlink()
    arguments = ["new", "experiment", "first", "--kernel", "kernels/tiny.py:tiny",
                 "--num-stages", 2, 3, "--arch", "sm_90a"]  # fmt: skip
    code, out, _ = run(capsys, *arguments)
    assert (code, "wrote experiments/first.py" in out) == (0, True)
    text = (project.root / "experiments" / "first.py").read_text()
    assert run(capsys, "check")[0] == 4
    assert run(capsys, "accept")[0] == 0
    assert run(capsys, "check", "first")[0] == 0
    code, _, err = run(capsys, *arguments)
    assert (code, "is there already" in err) == (2, True)
    assert (project.root / "experiments" / "first.py").read_text() == text
    for wrong in (["new", "experiment", "../x", "--kernel", "gemm"],
                  ["new", "experiment", "x", "--kernel", "gem"]):  # fmt: skip
        assert run(capsys, *wrong)[0] == 2


def test_an_experiment_runs_by_itself(accepted_project):
    """``python experiments/first.py`` is its check with every answer."""
    import sys

    path = accepted_project.experiment()
    path.write_text(path.read_text() + "\nif __name__ == '__main__':\n"
                    "    from stagebench.cli import main\n\n"
                    "    raise SystemExit(main(['check', __file__, '--all']))\n")  # fmt: skip
    done = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, check=False, cwd="/"
    )
    assert (done.returncode, "holds: one version a stage" in done.stdout) == (0, True)


def test_formats_and_streams(accepted_project, capsys, tmp_path):
    """JSON to a file beside the report, or alone; plain has no colour even where it is forced."""
    target = tmp_path / "verdict.json"
    code, out, _ = run(capsys, "check", "--json", target)
    assert (code, "2 clean" in out) == (0, True)
    assert json.loads(target.read_text())["exit_code"] == 0
    assert json.loads(run(capsys, "check", "--format", "json")[1])["schema_version"] == 1
    ran = stagebench("check", "--format", "plain", cwd=accepted_project.root,
                     FORCE_COLOR="1", NO_COLOR="")  # fmt: skip
    assert (ran.code, "\x1b" in ran.out) == (0, False)
    assert run(capsys, "check", "--json", target / "below-a-file")[0] == 2


def test_the_help_says_every_exit_code(capsys):
    """What a script may rely on."""
    code, out, _ = run(capsys, "check", "--help")
    assert code == 0
    for number in (0, 1, 2, 3, 4, 130):
        assert f"\n  {number}  " in out or f"\n  {number} " in out


def test_baselines_of_a_deleted_experiment(accepted_project, capsys):
    """Unused: exit 4 until they are trimmed; naming an experiment asks about that one alone."""
    first = accepted_project.root / "experiments" / "tiny.py"
    nested = first.parent / "sub" / "three.py"
    nested.parent.mkdir()
    nested.write_text(first.read_text().replace("../kernels", "../../kernels"))
    assert run(capsys, "check")[0] == 4
    assert run(capsys, "accept")[0] == 0
    assert run(capsys, "check", "three")[0] == 0
    nested.unlink()
    assert run(capsys, "check", "tiny")[0] == 0
    for asked in ((), ("experiments",)):
        code, out, _ = run(capsys, "check", *asked)
        assert (code, "2 unused baselines" in out) == (4, True)
        assert "no experiment is called three" in out
        assert "to approve: stagebench accept --only trim --reason" in out
    assert run(capsys, "check", "--allow-missing")[0] == 0
    for name in ("github", "junit", "sarif", "markdown"):
        assert "three" in run(capsys, "check", "--format", name)[1]
    assert "trim 2" in run(capsys, "accept", "--only", "trim", "--dry-run")[1]
    assert (accepted_project.dumps / "three").is_dir()
    assert run(capsys, "accept", "--only", "trim")[0] == 0
    assert sorted(each.name for each in accepted_project.dumps.iterdir()) == ["tiny"]
    assert run(capsys, "check")[0] == 0


def test_what_only_leaves_out_is_said(accepted_project, capsys):
    """Drift that ``--only`` does not touch is not "what the compiler makes"."""
    path = next(accepted_project.dumps.rglob("facts.json"))
    path.write_text(path.read_text().replace('"dynamic_bytes": ', '"dynamic_bytes": 1'))
    code, out, _ = run(capsys, "accept", "--only", "create")
    assert (code, "nothing to create; 1 to fix is left out by --only" in out) == (0, True)
    assert run(capsys, "accept", "--only", "fix", "--only", "create", "--reason", "x")[0] == 0
    assert "nothing to accept: every" in run(capsys, "accept", "--only", "create")[1]
