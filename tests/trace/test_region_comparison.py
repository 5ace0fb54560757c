"""Do several buffers come side by side, each region in its row and each buffer in its column?"""

import json

import pytest

from stagebench.dump.profiler_sidecar import ProfilerSidecar, write_sidecar
from stagebench.errors import UsageError
from stagebench.report.region_comparison_rows import comparison_rows, damage_rows
from stagebench.trace.cuda_profiler import decode
from stagebench.trace.region_comparison import compare, name_apart
from tests.trace.test_decode_command import run
from tests.trace.words import buffer, spans

EVENTS = ("load", "compute")


def trace_of(*durations, size=None):
    """One block whose group g did ``durations[g]`` back to back."""
    lanes = {group: spans(*found) for group, found in enumerate(durations)}
    return decode(buffer(1, len(lanes), lanes, size=size), "tvm", events=EVENTS)


def rows_of(traces, names, sources=("k/1", "k/2")):
    files = [f"{index}.npy" for index in range(len(traces))]
    return comparison_rows(compare(files, sources, names, traces))


def test_a_row_for_each_region_and_a_column_for_each_buffer():
    """Means and shares by hand; the longest region of a group first, its span last."""
    slow = trace_of([(0, 300), (1, 700), (0, 500), (1, 500)])
    quick = trace_of([(0, 100), (1, 700)])
    assert rows_of((slow, quick), (("all",), ("all",))) == (
        ("group", "event", "1", "2"),
        ("all", "compute", "600 ns 60.0%", "700 ns 87.5%"),
        ("all", "load", "400 ns 40.0%", "100 ns 12.5%"),
        ("all", "first to last record", "2.00 µs", "800 ns"),
    )


def test_groups_and_regions_that_only_one_buffer_has():
    """A dash in the other's column: never a zero, never another group's numbers."""
    one = trace_of([(0, 100)])
    two = trace_of([(0, 200)], [(1, 400)])
    assert rows_of((one, two), (("producer",), ("producer", "consumer")))[1:] == (
        ("producer", "load", "100 ns 100.0%", "200 ns 100.0%"),
        ("producer", "first to last record", "100 ns", "200 ns"),
        ("consumer", "compute", "–", "400 ns 100.0%"),
        ("consumer", "first to last record", "–", "400 ns"),
    )


def test_groups_of_one_name_stay_apart():
    """Two groups that are called the same: with their numbers, so that neither is lost."""
    found = rows_of((trace_of([(0, 100)], [(0, 900)]),) * 2, (("wg", "wg"),) * 2)
    assert [row[:3] for row in found if row[1] == "load"] == [
        ("wg (0)", "load", "100 ns 100.0%"),
        ("wg (1)", "load", "900 ns 100.0%"),
    ]


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        (("k/sm_90a/depth=1,x=2", "k/sm_90a/depth=2,x=2"), ("k · sm_90a · x=2", "depth=1|depth=2")),
        (("k/sm_80/depth=1", "j/sm_80/depth=2"), ("sm_80", "k, depth=1|j, depth=2")),
        (("k/sm_90a", "k/sm_90a"), ("k · sm_90a", "a.npy|b.npy")),  # the same variant twice
        (("k/depth=1", "k"), ("k", "a.npy|b.npy")),  # nothing tells the second from the first
        (("", "k/depth=1"), ("", "a.npy|b.npy")),
    ],
)
def test_what_tells_buffers_apart(sources, expected):
    """What their sources don't share; the files' names where that is nothing."""
    title, labels = name_apart(("x/a.npy", "y/b.npy"), sources)
    assert (title, "|".join(labels)) == expected


def test_files_of_one_name_are_told_apart_by_their_folders():
    """`profile` writes ``times_ptr.npy`` for every variant."""
    assert name_apart(("x/t.npy", "y/t.npy"), ("", ""))[1] == ("x/t.npy", "y/t.npy")


def test_damage_says_whose_it_is():
    """Only the second buffer was too small."""
    whole = trace_of([(0, 100)])
    lane = {0: spans((0, 100))[:-1]}
    full = decode(buffer(1, 1, lane, size=3), "tvm", events=EVENTS)
    found = compare(["a", "b"], ["k/1", "k/2"], [(), ()], [whole, full])
    ((mark, text),) = damage_rows(found.buffers)
    assert mark == "! lane full "
    assert text.startswith("2: lane 0, slot 2: the lane's last slot is used")


@pytest.fixture
def two(tmp_path):
    """Two depths of a kernel, told by the files beside them."""
    for depth, load in ((1, 500), (2, 100)):
        path = tmp_path / f"{depth}.bin"
        path.write_bytes(buffer(1, 1, {0: spans((0, load), (1, 500))}).tobytes())
        sidecar = ProfilerSidecar(
            source=f"gemm/sm_90a/num_stages={depth}", tensor="times", format="tvm", blocks=1,
            groups=1, stride=1, event_names=EVENTS, group_names=("all",),
        )  # fmt: skip
        write_sidecar(path, sidecar)
    return tmp_path / "1.bin", tmp_path / "2.bin"


def test_the_command_shows_them_side_by_side(two, capsysbinary):
    """What they share is the title; a column for each depth."""
    code, out = run(capsysbinary, *two)
    assert code == 0
    lines = out.splitlines()
    assert lines[0] == "gemm · sm_90a"
    assert lines[3].split() == ["group", "event", "num_stages=1", "num_stages=2"]
    assert "all    load                  500 ns 50.0%  100 ns 16.7%" in lines
    assert max(map(len, lines)) <= 100


def test_the_commands_json(two, capsysbinary):
    """Nothing else is on standard output; each buffer with its statistics and its problems."""
    code, out = run(capsysbinary, *two, "--json", "-")
    found = json.loads(out)
    assert code == 0
    assert found["title"] == "gemm · sm_90a"
    assert [each["label"] for each in found["buffers"]] == ["num_stages=1", "num_stages=2"]
    assert found["buffers"][1]["by_group"][0]["mean_ns"] == 100.0
    assert found["buffers"][1]["spans"] == [{"group": 0, "mean_ns": 600.0}]
    assert found["buffers"][1]["trace"]["problems"] == []


def test_the_json_has_one_shape(two, capsysbinary):
    """One buffer is told as several are: the same fields, the same values."""
    together, alone = (
        json.loads(run(capsysbinary, *words, "--json", "-")[1]) for words in (two, two[:1])
    )
    assert alone.keys() == together.keys() == {"schema_version", "title", "buffers"}
    (one,) = alone["buffers"]
    assert {**together["buffers"][0], "label": "1.bin"} == one
    assert alone["title"] == "gemm · sm_90a · num_stages=1"
    assert len(one["by_block"]) == len(one["trace"]["regions"]) == 2


def test_a_name_that_one_of_several_needs(two, capsysbinary):
    """A region that only one depth has is named; a name that none has is one too many."""
    two[0].write_bytes(buffer(1, 1, {0: spans((0, 500))}).tobytes())
    assert run(capsysbinary, *two, "--events", "a,b")[0] == 0
    with pytest.raises(UsageError, match="3 names, and the last event is 1"):
        run(capsysbinary, *two, "--events", "a,b,c")


def test_one_damaged_buffer_is_an_error(two, capsysbinary):
    """The other's numbers are still there."""
    two[1].write_bytes(two[1].read_bytes()[:-3])
    code, out = run(capsysbinary, *two)
    assert code == 2
    assert "! truncated num_stages=2" in out
    assert "500 ns 50.0%" in out


@pytest.mark.parametrize("option", ["--svg", "--perfetto", "--by-block", "--draw-blocks"])
def test_what_is_of_one_buffer_is_refused(two, tmp_path, option, capsysbinary):
    """One drawing of several buffers: whose?  Nothing is written."""
    values = {"--by-block": [], "--draw-blocks": [0]}
    value = values.get(option, [tmp_path / "out"])
    with pytest.raises(UsageError, match=f"{option} is of one buffer; there are 2"):
        run(capsysbinary, *two, option, *value)
    assert not (tmp_path / "out").exists()
