"""What does `profile` say of what was measured before, and of an option that can't be meant?"""

import functools
import json
import os
import sys
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

import stagebench.gpu.profile as profiling
from stagebench.bundle.records import BUNDLE
from stagebench.commands import profile as profile_command
from stagebench.errors import UsageError
from stagebench.gpu.records import PROFILE
from stagebench.timing.measured import Measured, MeasuredSweep, write_measured
from tests.bundle.building import bundle, parts, variant
from tests.gpu.test_commands import parsed
from tests.gpu.test_execution import PROBED
from tests.timing.building import timing, without

ROOT = Path(__file__).parents[2]


def child(path, outputs):
    return [sys.executable, "-m", "tests.gpu.fake_child", str(path), str(outputs)]


@pytest.fixture(autouse=True)
def _fake_device(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(profiling, "profile", functools.partial(profiling.profile, command=child))


def run(source, *words):
    return profile_command.run(parsed(profile_command, str(source), *words))


def profiled(path, out, *words):
    return run(path, "-o", str(out), "--repeats", "2", "--runs", "5", "--warmup", "1", *words)


def test_shown_again_it_says_the_same(tmp_path, capsys):
    """Same tables, same exit code; a wrong variant stays wrong."""
    path = bundle(tmp_path / "b", parts(0), parts(1), parts(2, "wrong"))
    assert profiled(path, tmp_path / "out") == 3
    first = capsys.readouterr().out
    assert run(tmp_path / "out") == 3
    assert capsys.readouterr().out == first
    assert "wrong" in first


def test_only_some_of_it(tmp_path, capsys):
    """`--only` leaves out the verdicts of the others too, and their exit code."""
    path = bundle(tmp_path / "b", parts(0), parts(1), parts(2, "wrong", arch="sm_80"))
    profiled(path, tmp_path / "out")
    capsys.readouterr()
    assert run(tmp_path / "out", "--only", "sm_90a") == 0
    shown = capsys.readouterr().out
    assert "sm_80" not in shown
    assert "2 variants" in shown


@pytest.mark.parametrize("file", ["", PROFILE, "timings.json", "told.json"])
def test_a_bad_verdict_has_one_exit_code(tmp_path, file):
    """Whichever file of the profile is named, 3; of the depths that are right alone, 0."""
    path = bundle(tmp_path / "b", parts(0), parts(1), parts(2, "wrong"))
    assert profiled(path, tmp_path / "out", "--json", str(tmp_path / "out" / "told.json")) == 3
    assert run(tmp_path / "out" / file) == 3
    assert run(tmp_path / "out" / file, "--only", "num_stages=1") == 0


@pytest.mark.parametrize(
    ("one", "bad"),
    [
        (timing(2, 5.0), False),
        (replace(timing(2, None), verdict="hangs", correct=None), True),
        (without(timing(2, 5.0), "control", "fails"), True),
    ],
)
def test_times_alone_say_what_is_bad(tmp_path, one, bad):
    """A verdict, or a build of which nothing is used."""
    sweep = MeasuredSweep(variant=variant(2), timings=(one,), rates=(None,))
    write_measured(Measured(device="a GPU", sweeps=(sweep,), libraries=()), tmp_path)
    assert run(tmp_path) == (3 if bad else 0)


def test_two_runs_in_one_folder_are_told(tmp_path, capsys):
    """Verdicts that are right beside times that are not: a warning, and the worse exit code."""
    assert profiled(bundle(tmp_path / "b", parts(0), parts(1)), tmp_path / "out") == 0
    times = tmp_path / "out" / "timings.json"
    told = times.read_text().replace('"verdict": "correct"', '"verdict": "race"')
    times.write_text(told.replace('"correct": true', '"correct": false'))
    capsys.readouterr()
    assert run(tmp_path / "out") == 3
    said = capsys.readouterr().err
    assert f"{tmp_path / 'out' / PROFILE} and {times} are not of one run: " in said
    assert "num_stages=1: it is correct in the first, race in the second" in said


def test_what_was_left_out_of_the_bundle_has_an_exit_code(tmp_path, capsys):
    """It is shown, now and again, as what did not run."""
    path = bundle(tmp_path / "b", parts(0))
    index = msgspec.json.decode((path / BUNDLE).read_bytes())
    index["skipped"] = [{"variant": index["variants"][0]["variant"], "reason": "no memory"}]
    (path / BUNDLE).write_bytes(msgspec.json.encode(index))
    assert [profiled(path, tmp_path / "out"), run(tmp_path / "out")] == [3, 3]
    assert capsys.readouterr().out.count("left out: k.py:copy") == 2


def test_nothing_of_an_earlier_run_passes_for_a_later_one(tmp_path):
    """Times, probe buffers and outputs of it are gone before the first variant runs."""
    out = tmp_path / "out"
    profiled(bundle(tmp_path / "b", parts(0), parts(1, **PROBED)), out, "--save-outputs")
    (out / "mine.txt").write_text("not ours")
    left = {path.name for path in out.rglob("*") if path.is_file()}
    assert {"timings.json", "probe-1.bin", "probe-1.json", "C.npy", "mine.txt"} <= left
    profiled(bundle(tmp_path / "other", parts(3)), out, "--runs", "0")
    now = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    assert now == {PROFILE, "timings.json", "mine.txt"}


def test_damaged_facts_cost_no_time(tmp_path, capsys):
    """The variant's times are told, its facts are not known, and the others have both."""
    path = bundle(tmp_path / "b", parts(0), parts(1))
    (facts,) = [one for one in path.rglob("facts.json.z") if "=1" in str(one)]

    facts.write_bytes(b"\0" + facts.read_bytes()[1:])
    assert profiled(path, tmp_path / "out") == 0
    shown = capsys.readouterr()
    assert "num_stages=1: its facts can't be read" in shown.err
    timings = json.loads((tmp_path / "out" / "timings.json").read_text())
    both = timings["sweeps"][0]["timings"]
    assert [one["base"]["runs"] for one in both] == [5, 5]
    assert [one["facts"] is None for one in both] == [False, True]


def test_as_json(tmp_path, capsys):
    """Verdicts and times in one document, and nothing else on standard output."""
    path = bundle(tmp_path / "b", parts(0), parts(1))
    profiled(path, tmp_path / "out", "--json", "-")
    told = json.loads(capsys.readouterr().out)
    assert [one["correctness"]["verdict"] for one in told["profile"]["variants"]] == [
        "not_compared", "correct",
    ]  # fmt: skip
    assert told["timings"] == json.loads((tmp_path / "out" / "timings.json").read_text())
    run(tmp_path / "out" / "timings.json", "--json", "-")
    told = json.loads(capsys.readouterr().out)
    assert list(told) == ["schema_version", "profile", "timings", "readings"]
    assert told["profile"] is None


@pytest.mark.parametrize(
    "words",
    [
        ("--expected", "nosuch.npz"), ("--inputs", "nosuch.npz"), ("--range", "Q=1,2"),
        ("--scalar", "M=3"), ("--device-arch", "sm_80"), ("--probe-ops", "cp_async_wait"),
        ("--max-ctas", "3"),
    ],
)  # fmt: skip
def test_what_a_bundle_was_made_with_can_t_be_said_again(tmp_path, words):
    """An option that would be ignored is refused, for a bundle and for a recorded run."""
    path = bundle(tmp_path / "b", parts(0))
    with pytest.raises(UsageError, match=f"{words[0]} says how to bundle"):
        run(path, *words)
    (tmp_path / "timings.json").write_text("{}")
    with pytest.raises(UsageError, match=f"{words[0]} says how to bundle"):
        run(tmp_path, *words)


def test_a_timeline_needs_buffers(tmp_path, capsys):
    """Times alone have none: said, not silence and not a path that is no folder."""
    out = tmp_path / "out"
    profiled(bundle(tmp_path / "b", parts(0), parts(1)), out)
    with pytest.raises(
        UsageError, match=r"needs the probe buffers, and \S+timings.json is times alone"
    ):
        run(out / "timings.json", "--timeline", str(tmp_path / "t"))
    run(out, "--timeline", str(tmp_path / "t"))
    assert "no variant has a probe buffer" in capsys.readouterr().err


def test_one_depth_of_it(tmp_path, capsys):
    """`--only num_stages=1` shows that depth in both tables; a name that nothing has is refused."""
    out = tmp_path / "out"
    profiled(bundle(tmp_path / "b", parts(0), parts(1), parts(2)), out)
    capsys.readouterr()
    assert run(out, "--only", "num_stages=1", "--json", "-") == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["variant"]["params"]["num_stages"] for one in told["profile"]["variants"]] == [1]
    (sweep,) = told["timings"]["sweeps"]
    assert [one["num_stages"] for one in sweep["timings"]] == [1]
    assert len(sweep["rates"]) == 1
    with pytest.raises(UsageError, match="--only num_stages=7: nothing has that in its name"):
        run(out, "--only", "num_stages=7")


@pytest.mark.parametrize(
    "words",
    [("--runs", "0"), ("--seed", "7"), ("--library",), ("--save-outputs",), ("-o", "elsewhere")],
)
def test_how_to_run_can_t_be_said_of_what_was_measured(tmp_path, words):
    """It would be ignored, and look as if it had been measured so."""
    (tmp_path / "timings.json").write_text("{}")
    flag = "--out" if words[0] == "-o" else words[0]
    with pytest.raises(UsageError, match=f"{flag} says how to run"):
        run(tmp_path, *words)
