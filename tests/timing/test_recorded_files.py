"""Is a recorded profile told by what is in it, and is nothing shown that can't be true?"""

import functools
import json
import shutil
from pathlib import Path

import pytest

from stagebench.errors import DumpError
from stagebench.gpu.profile_file import TIMINGS
from stagebench.gpu.records import PROFILE
from stagebench.model.codec import encode_pretty
from stagebench.timing.profile_report import profile_report
from stagebench.timing.recorded import document, read_measured, read_recorded

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
HOPPER = EXPERIMENTS / "hopper"


@functools.cache
def text(name):
    return (HOPPER / name).read_text()


def edited(folder, name, place, value):
    """The recorded file with one value changed (``KeyError``: taken out), or some of a record."""
    whole = json.loads(text(name))
    *steps, last = place
    part = whole
    for step in steps:
        part = part[step]
    if value is KeyError:
        del part[last]
    else:
        part[last] = part[last] | value if isinstance(value, dict) else value
    path = folder / name
    path.write_text(json.dumps(whole))
    return path


FIRST = ("sweeps", 1, "timings", 0)
SITE = (*FIRST, "stalls", "sites", 0)
ONE = ("variants", 0)
DEPTH_2 = ("sweeps", 0, "timings", 2)


@pytest.mark.parametrize("path", sorted(EXPERIMENTS.glob("*/timings.json")), ids=str)
def test_what_was_recorded_is_read(path):
    """Every file of the experiments can be true."""
    assert read_measured(path).sweeps


def test_the_two_recorded_files_say_the_same():
    """Nothing is warned of."""
    said = []
    assert read_recorded(HOPPER, said.append).profile is not None
    assert said == []


@pytest.mark.parametrize(
    ("place", "value", "told"),
    [
        ((*FIRST, "base", "median_us"), -5, "[1].timings[0].base.median_us is -5: it must be > 0"),
        ((*FIRST, "base", "median_us"), 1e300, "base.median_us is 1e+300: it must be <= 1"),
        ((*FIRST, "base", "median_us"), 1.5, "base.median_us is 1.5, and not in its interval"),
        ((*FIRST, "base", "low_us"), 1e6, "and not in its interval, 1000000.0 to"),
        ((*FIRST, "base", "runs"), 0, "base.runs is 0: it must be >= 1"),
        ((*FIRST, "correct"), False, "timings[0] has verdict 'correct' beside correct False"),
        ((*FIRST, "num_stages"), -1, "sweeps[1].timings[0].num_stages is -1: it must be >= 0"),
        ((*FIRST, "num_stages"), 2, "sweeps[1].timings has num_stages 2 twice"),
        ((*FIRST, "facts", "registers"), -9, "facts.registers is -9: it must be >= 0"),
        ((*FIRST, "facts", "versions", "A_shared"), -1, "facts.versions has a value that is not"),
        ((*SITE, "executions"), 0, "sites[0].executions is 0: it must be >= 1"),
        ((*SITE, "executions"), 1, "stalls.sites[0]: 256 warps, and 1 executions"),
        ((*SITE, "total_cycles"), -1, "sites[0].total_cycles is -1: it must be >= 0"),
        ((*SITE, "mean_cycles"), 1.0, "sites[0].mean_cycles is 1.0, and"),
        ((*SITE, "p50_cycles"), 1e9, "p50_cycles, p95_cycles, max_cycles and total_cycles do not"),
        ((*SITE, "share"), 17, "sites[0].share is 17: it must be <= 1"),
        ((*FIRST, "stalls", "roles", 0, "whole", "busy_cycles"), 7, "whole.busy_cycles is 7, and"),
        (("sweeps", 1, "rates", 0, "of_peak"), -3, "rates[0].of_peak is -3: it must be >= 0"),
        (("sweeps", 1, "rates", 0), KeyError, "sweeps[1] has 4 rates for 5 timings"),
        (("sweeps", 1, "timings"), [], "sweeps[1].timings is empty"),
        (("sweeps",), [], "sweeps is empty"),
        (("libraries", 0, "time", "median_us"), 0, "libraries[0].time.median_us is 0: it must be"),
        (("libraries", 0, "m"), -1, "libraries[0].m is -1: it must be >= 1"),
        (("schema_version",), KeyError, "timings.json has no schema_version"),
        (("schema_version",), 2, "timings.json: schema version 2, this stagebench reads 1"),
    ],
)
def test_times_that_can_t_be(tmp_path, place, value, told):
    """Refused by the file and the place in it."""
    path = edited(tmp_path, TIMINGS, place, value)
    with pytest.raises(DumpError) as caught:
        read_recorded(tmp_path, print)
    assert caught.value.message.startswith(str(path))
    assert told in caught.value.message


@pytest.mark.parametrize(
    ("place", "value", "told"),
    [
        ((*ONE, "probe_cost"), -1, "variants[0].probe_cost is -1: it must be > 0"),
        ((*ONE, "builds", 0, "registers"), -9, "builds[0].registers is -9: it must be >= 0"),
        ((*ONE, "builds", 0, "time", "low_us"), 1e6, "variants[0].builds[0].time.median_us is"),
        ((*ONE, "builds", 1, "kind"), "base", "variants[0].builds has base twice"),
        ((*ONE, "correctness", "differing_runs"), 99, "correctness has 99 differing_runs of"),
        (("variants", 1, "id"), "gemm/sm_80/num_stages=0", "variants has gemm/sm_80/num_stages=0"),
        (("variants",), [], "it is complete, and variants is empty"),
        (("schema_version",), KeyError, "profile.json has no schema_version"),
        (("schema_version",), 2, "profile.json: schema version 2, this stagebench reads 1"),
    ],
)
def test_verdicts_that_can_t_be(tmp_path, place, value, told):
    """The same of ``profile.json``."""
    edited(tmp_path, PROFILE, place, value)
    with pytest.raises(DumpError) as caught:
        read_recorded(tmp_path, print)
    assert told in caught.value.message


def test_a_file_is_told_by_what_is_in_it(tmp_path):
    """Copies under other names, and what ``--json`` wrote; a plan and a dump are none of them."""
    shutil.copy(HOPPER / TIMINGS, tmp_path / "m.json")
    shutil.copy(HOPPER / PROFILE, tmp_path / "p.json")
    whole = read_recorded(HOPPER, print)
    report = profile_report(whole.profile, whole.measured)
    (tmp_path / "r.json").write_bytes(encode_pretty(report))
    (tmp_path / "plan.json").write_text('{"schema_version": 1, "kernel": "k", "device": "x"}')
    (tmp_path / "list.json").write_text("[1]")
    names = ("m.json", "p.json", "r.json", "plan.json", "list.json", "none.json")
    assert [document(tmp_path / name) for name in names] == [
        "timings", "profile", "report", None, None, None,
    ]  # fmt: skip
    assert read_recorded(tmp_path / "m.json", print).measured == whole.measured
    again = read_recorded(tmp_path / "r.json", print)
    assert (again.profile, again.measured) == (whole.profile, whole.measured)
    said = []
    assert read_recorded(tmp_path / "p.json", said.append).profile == whole.profile
    assert said == [f"{tmp_path / 'p.json'}: no probe buffer lies beside it: waits are not known"]


@pytest.mark.parametrize(("name", "kind"), [(TIMINGS, "timings"), (PROFILE, "profile")])
def test_what_is_damaged_is_still_told(tmp_path, name, kind):
    """Cut off, or with a number that JSON has not: no launch plan, whatever it is called."""
    path = tmp_path / "x.json"
    for damage in (text(name)[:500], text(name).replace("0.95", "NaN", 1)):
        path.write_text(damage)
        assert document(path) == kind
        with pytest.raises(DumpError, match=r"x\.json: (Input data was truncated|JSON is malf)"):
            read_recorded(path, print)
    path.write_text(text(name).replace('"sweeps":', '"sweps":').replace('"complete":', '"done":'))
    assert document(path) == kind


def test_a_report_is_held_to_the_same(tmp_path):
    """Its places start with the part that they are in; another version is said."""
    report = json.loads(encode_pretty(profile_report(None, read_measured(HOPPER))))
    report["timings"]["sweeps"][0]["rates"].pop()
    path = tmp_path / "r.json"
    path.write_text(json.dumps(report))
    with pytest.raises(DumpError, match=r"r.json: timings.sweeps\[0\] has 4 rates"):
        read_recorded(path, print)
    path.write_text(json.dumps({**report, "schema_version": 2, "more": 1}))
    with pytest.raises(DumpError, match="schema version 2, this stagebench reads 1"):
        read_recorded(path, print)


@pytest.mark.parametrize(
    ("place", "value", "told"),
    [
        (("device",), "another GPU", "the device is a Hopper GPU in the first, another GPU in the"),
        (
            DEPTH_2, {"verdict": "wrong", "correct": False},
            "gemm/sm_80/num_stages=2: it is correct in the first, wrong in the second",
        ),
        (
            DEPTH_2, {"verdict": None, "correct": False},
            "gemm/sm_80/num_stages=2: its output is not bad in the first, bad in the second",
        ),
        ((*DEPTH_2, "num_stages"), 9, "num_stages=2 is in the first, and not in"),
        ((*DEPTH_2, "base"), None, " µs in the first, no known time in the second"),
    ],
)  # fmt: skip
def test_two_files_that_are_not_of_one_run(tmp_path, place, value, told):
    """One line that names both, with what differs."""
    edited(tmp_path, TIMINGS, place, value)
    shutil.copy(HOPPER / PROFILE, tmp_path)
    said = []
    read_recorded(tmp_path, said.append)
    (line,) = said
    assert f"{tmp_path / PROFILE} and {tmp_path / TIMINGS} are not of one run: " in line
    assert told in line
