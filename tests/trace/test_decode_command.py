"""What does ``stagebench decode`` print, write and return?"""

import argparse
import json
import subprocess
import sys

import msgspec
import numpy as np
import pytest

from stagebench.commands import decode
from stagebench.dump.profiler_sidecar import (
    ProfilerSidecar,
    read_sidecar,
    sidecar_path,
    write_sidecar,
)
from stagebench.errors import UsageError
from tests.trace.test_timeline import read_back
from tests.trace.words import buffer, spans


def parsed(*arguments):
    parser = argparse.ArgumentParser()
    decode.add_arguments(parser)
    return parser.parse_args([str(each) for each in arguments])


def run(capsysbinary, *arguments):
    code = decode.run(parsed(*arguments))
    return code, capsysbinary.readouterr().out.decode()


@pytest.fixture
def whole(tmp_path):
    lanes = {
        lane: spans((0, 100 * (lane + 1)), (1, 900 - 100 * lane), begin=1000 + lane)
        for lane in range(4)
    }
    path = tmp_path / "buffer.bin"
    path.write_bytes(buffer(2, 2, lanes).tobytes())
    return path


def test_the_table(whole, capsysbinary):
    """By group over the blocks: compute of group 0 took 900 and 700 of 1000 ns each."""
    code, out = run(
        capsysbinary,
        whole,
        "--format",
        "tvm",
        "--events",
        "load,compute",
        "--group-names",
        "wg0,wg1",
    )
    assert code == 0
    lines = out.splitlines()
    assert lines[0] == "2 blocks × 2 groups, 8 regions"
    assert lines[2].split() == [
        "group",
        "event",
        "n",
        "mean",
        "p50",
        "p95",
        "max",
        "total",
        "share",
    ]
    assert lines[3].split() == [
        "wg0", "compute", "2", "800", "ns", "800", "ns", "890", "ns", "900", "ns", "1.60", "µs",
        "80.0%",
    ]  # fmt: skip
    assert len(lines) == 7
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize("several", [1, 2])
def test_what_a_terminal_would_obey_is_spelt_out(whole, capsysbinary, several):
    """A name with a line feed or an escape sequence is a cell of one line, and harmless."""
    _, plain = run(
        capsysbinary, *[whole] * several, "--format", "tvm", "--events", "load,compute",
        "--group-names", "wg0,wg1",
    )  # fmt: skip
    _, out = run(
        capsysbinary, *[whole] * several, "--format", "tvm", "--events", "lo\nad,\x1b[31mred\x9b",
        "--group-names", "w\rg0,wg\x07",
    )  # fmt: skip
    assert {"lo\\x0aad", "\\x1b[31mred\\x9b", "w\\x0dg0", "wg\\x07"} <= set(out.split())
    assert not set(out) & set("\x1b\x9b\r\x07")
    assert len(out.splitlines()) == len(plain.splitlines())


def test_by_block(whole, capsysbinary):
    """A row for each block."""
    _, out = run(capsysbinary, whole, "--format", "tvm", "--by-block")
    assert len(out.splitlines()) == 11
    assert out.splitlines()[2].split()[0] == "block"


def test_json(whole, capsysbinary):
    """All of it on standard output, and nothing else."""
    code, out = run(
        capsysbinary, whole, "--format", "tvm", "--events", "load,compute", "--json", "-"
    )
    (found,) = json.loads(out)["buffers"]
    assert code == 0
    assert found["by_group"][0] == {
        "event": "load", "group": 0, "block": None, "n": 2, "mean_ns": 200.0, "p50_ns": 200.0,
        "p95_ns": 290.0, "max_ns": 300, "total_ns": 400, "share": 0.2,
    }  # fmt: skip
    assert len(found["by_block"]) == 8
    assert len(found["trace"]["regions"]) == 8


@pytest.mark.parametrize(
    ("durations", "middle", "high"),
    [
        # By hand: 95 % of the way is 0.05 of the last step before the end
        ((268, 272), 270.0, 272.0),
        ((100, 101), 100.5, 101.0),
        ((90, 180, 270), 180.0, 261.0),
        ((190, 220, 180, 270, 400, 170, 300), 220.0, 370.0),  # 369.99999999999994 as floats add
        ((1, 2, 3, 4), 2.5, 4.0),
    ],
)
def test_a_quantile_is_told_to_what_the_clock_counts(
    tmp_path, capsysbinary, durations, middle, high
):
    """Whole nanoseconds or the half between two: no digits that a sum of floats made."""
    path = tmp_path / "buffer.bin"
    path.write_bytes(buffer(1, 1, {0: spans(*((0, each) for each in durations))}).tobytes())
    _, out = run(capsysbinary, path, "--format", "tvm", "--json", "-")
    (found,) = json.loads(out)["buffers"][0]["by_group"]
    assert (found["p50_ns"], found["p95_ns"]) == (middle, high)


def test_files(whole, tmp_path, capsysbinary):
    """A Perfetto trace of 4 tracks and a drawing."""
    code, _ = run(
        capsysbinary, whole, "--format", "tvm", "--perfetto", tmp_path / "a.pftrace",
        "--svg", tmp_path / "a.svg", "--json", tmp_path / "a.json",
    )  # fmt: skip
    assert code == 0
    _, _, events = read_back((tmp_path / "a.pftrace").read_bytes())
    assert sorted(events) == [
        (f"block {block}", f"group {group}") for block in (0, 1) for group in (0, 1)
    ]
    assert (tmp_path / "a.svg").read_bytes().startswith(b"<?xml")
    assert json.loads((tmp_path / "a.json").read_text())["schema_version"] == 1


def test_some_blocks_are_drawn(whole, tmp_path, capsysbinary):
    """Block 1's two groups alone, in the drawing and in the trace; the table is still of all."""
    code, out = run(
        capsysbinary, whole, "--format", "tvm", "--perfetto", tmp_path / "a.pftrace",
        "--svg", tmp_path / "a.svg", "--draw-blocks", "1",
    )  # fmt: skip
    assert code == 0
    assert "2 blocks × 2 groups, 8 regions" in out
    _, _, events = read_back((tmp_path / "a.pftrace").read_bytes())
    assert sorted(events) == [("block 1", "group 0"), ("block 1", "group 1")]
    drawn = (tmp_path / "a.svg").read_text()
    assert (drawn.count("block 1<"), drawn.count("block 0<"), drawn.count("<title")) == (1, 0, 4)


def test_blocks_that_are_not_there_are_refused(whole, tmp_path, capsysbinary):
    """Block 2 of two; nothing is written."""
    with pytest.raises(UsageError, match="there is no record of block 2"):
        run(capsysbinary, whole, "--format", "tvm", "--svg", tmp_path / "a.svg",
            "--draw-blocks", "1,2")  # fmt: skip
    assert not (tmp_path / "a.svg").exists()


def test_blocks_without_a_drawing_are_refused(whole, capsysbinary):
    """The table is of all blocks: it would not be what was asked for."""
    with pytest.raises(UsageError, match="--draw-blocks is of a drawing"):
        run(capsysbinary, whole, "--format", "tvm", "--draw-blocks", "1")


@pytest.mark.parametrize("text", ["", "x", "1,", "-1", "0-3", "٣"])
def test_what_is_no_block_number_is_refused(whole, tmp_path, text, capsysbinary):
    """Wrong usage, said by the parser."""
    with pytest.raises(SystemExit):
        run(capsysbinary, whole, "--format", "tvm", "--svg", tmp_path / "a.svg",
            f"--draw-blocks={text}")  # fmt: skip


def test_damage_is_shown_first_and_is_an_error(tmp_path, capsysbinary):
    """What could be read is still there; the exit code says that it is not all."""
    path = tmp_path / "full.bin"
    path.write_bytes(buffer(1, 1, {0: spans((0, 100))[:-1]}, size=3).tobytes())
    code, out = run(capsysbinary, path, "--format", "tvm")
    assert code == 2
    assert out.splitlines()[1].startswith("! lane full lane 0, slot 2: the lane's last slot")
    assert "event 0" in out


def test_what_all_lanes_share_is_one_line(whole, capsysbinary):
    """Read as the other format, each lane has an unknown type: said once; --all says each."""
    code, out = run(capsysbinary, whole, "--format", "flashinfer")
    assert code == 2
    assert out.count("! unknown type") == 1
    assert "4 lanes, first lane 0, slot 17" in out
    _, everything = run(capsysbinary, whole, "--format", "flashinfer", "--all")
    assert everything.count("! unknown type") == 4


def test_a_wrapped_timer_is_no_error(tmp_path, capsysbinary):
    """It is said, and put right."""
    path = tmp_path / "wrap.bin"
    path.write_bytes(buffer(1, 1, {0: spans((0, 500), begin=2**32 - 100)}).tobytes())
    code, out = run(capsysbinary, path, "--format", "tvm")
    assert code == 0
    assert "timer wrapped" in out
    assert "500 ns" in out


def test_the_format_is_never_guessed(whole, capsysbinary):
    """Without --format, and without a file beside it that says so, it is wrong usage."""
    with pytest.raises(UsageError, match=r"who wrote it\? There is no buffer.profiler.json"):
        run(capsysbinary, whole)


@pytest.fixture
def told(whole):
    """The buffer with a file beside it: two warpgroups with names, a stride of all lanes."""
    write_sidecar(
        whole,
        ProfilerSidecar(
            source="kernel sm_90a num_stages=2", tensor="times", format="tvm", blocks=2, groups=2,
            stride=4, event_names=("load", "compute"), group_names=("producer", "consumers"),
        ),
    )  # fmt: skip
    return whole


def test_the_file_beside_it_says_how_to_read_it(told, capsysbinary):
    """Format, names and shape: no option is needed, and whose times they are is the first line."""
    code, out = run(capsysbinary, told)
    assert code == 0
    lines = out.splitlines()
    assert lines[:2] == ["kernel sm_90a num_stages=2", "2 blocks × 2 groups, 8 regions"]
    assert [line.split()[:2] for line in lines[4:]] == [
        ["producer", "compute"], ["consumers", "compute"], ["consumers", "load"],
        ["producer", "load"],
    ]  # fmt: skip


def test_an_option_goes_before_the_file(told, capsysbinary):
    """Own names replace the file's; the others stay."""
    _, out = run(capsysbinary, told, "--events", "a,b")
    assert {line.split()[0] for line in out.splitlines()[4:]} == {"producer", "consumers"}
    assert {line.split()[1] for line in out.splitlines()[4:]} == {"a", "b"}


def test_a_header_that_the_file_contradicts_is_damage(told, capsysbinary):
    """Another kernel's buffer beside this file: the header's blocks are not the grid's."""
    sidecar = msgspec.structs.replace(read_sidecar(told), blocks=3)
    write_sidecar(told, sidecar)
    code, out = run(capsysbinary, told)
    assert code == 2
    assert "the header says 2 blocks, not 3" in out


def test_another_format_than_the_files_is_refused(told, capsysbinary):
    """One of the two is wrong: which, only the user can tell."""
    with pytest.raises(UsageError, match="says tvm, not flashinfer"):
        run(capsysbinary, told, "--format", "flashinfer")


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"schema_version": 2}', '{"schema_version": 1, "format": "other"}']
)
def test_a_damaged_file_beside_it_is_refused(told, text, capsysbinary):
    """It is never read by halves, and never passed over."""
    sidecar_path(told).write_text(text)
    with pytest.raises(UsageError, match=r"does not say how to read buffer\.bin"):
        run(capsysbinary, told, "--format", "tvm")


def test_empty_names_are_refused(whole, capsysbinary):
    """``load,,store`` would shift every name after it."""
    with pytest.raises(UsageError, match="a name is empty"):
        run(capsysbinary, whole, "--format", "tvm", "--events", "load,,store")


@pytest.mark.parametrize(
    ("option", "names", "said"),
    [
        ("--events", "a", "! unknown event –: event 1 has no name: 1 was given"),
        ("--group-names", "a", "! unknown group –: group 1 has no name: 1 was given"),
    ],
)
def test_too_few_names(whole, option, names, said, capsysbinary):
    """What has none is said, and is an error: a name may be missing before it."""
    code, out = run(capsysbinary, whole, "--format", "tvm", option, names)
    assert (code, out.splitlines()[1]) == (2, said)
    assert run(capsysbinary, whole, "--format", "tvm", option, "a,b")[0] == 0


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--events", "--events a,b,c: 3 names, and the last event is 1"),
        ("--group-names", "--group-names a,b,c: 3 names, and the last group is 1"),
    ],
)
def test_too_many_names(whole, option, said, capsysbinary):
    """A name too many is a list of something else: refused before anything is shown."""
    with pytest.raises(UsageError, match=said):
        run(capsysbinary, whole, "--format", "tvm", option, "a,b,c")
    assert capsysbinary.readouterr().out == b""


def test_the_kernel_may_know_more_events_than_came(told, capsysbinary):
    """Names of the file beside it are the author's list: a branch may not have been taken."""
    names = ("load", "compute", "store")
    write_sidecar(told, msgspec.structs.replace(read_sidecar(told), event_names=names))
    assert run(capsysbinary, told)[0] == 0


@pytest.mark.parametrize(
    ("field", "value"),
    [("blocks", -1), ("groups", 0), ("stride", 0), ("stride", 1 << 32), ("event_names", [""])],
)
def test_numbers_of_the_file_are_checked_as_options_are(told, field, value, capsysbinary):
    """From 1 to 2³² - 1; the message names the field."""
    content = json.loads(sidecar_path(told).read_text())
    sidecar_path(told).write_text(json.dumps({**content, field: value}))
    with pytest.raises(UsageError, match=rf"buffer\.bin: Expected .*\$\.{field}"):
        run(capsysbinary, told)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--svg", "-"), "--svg -: only --json goes to standard output"),
        (("--perfetto", "-", "--svg", "-"), "--perfetto -: only --json"),
        (("--json", "s.x", "--svg", "s.x"), "--svg s.x: --json is written there"),
        (("--perfetto", "s.x", "--svg", "./a/../s.x"), "--svg a/../s.x: --perfetto is written"),
        (("--svg", "buffer.bin"), "--svg buffer.bin: buffer.bin is read"),
        (("--json", "buffer.profiler.json"), "buffer.profiler.json is read"),
    ],
)
def test_no_output_is_lost(told, words, said, capsysbinary, monkeypatch):
    """Two in one place, or one over what is read: refused, and nothing is written."""
    monkeypatch.chdir(told.parent)
    before = {path.name: path.read_bytes() for path in told.parent.iterdir()}
    with pytest.raises(UsageError, match=said):
        run(capsysbinary, "buffer.bin", *words)
    assert {path.name: path.read_bytes() for path in told.parent.iterdir()} == before


def test_nothing_is_lost_in_the_null_device(told, capsysbinary):
    """It takes any number."""
    assert run(capsysbinary, told, "--json", "/dev/null", "--svg", "/dev/null")[0] == 0


@pytest.mark.parametrize("name", ["empty.bin", "empty.npy", "none.npy"])
def test_an_empty_file(tmp_path, name):
    """Said so: not that it has no header, or is no array."""
    (tmp_path / name).write_bytes(b"")
    if name == "none.npy":
        np.save(tmp_path / name, np.zeros(0, dtype=np.uint64))
    with pytest.raises(UsageError, match=f"{name} is empty: no word was saved"):
        decode.run(parsed(tmp_path / name, "--format", "flashinfer"))


def test_json_into_a_pipe(whole):
    """`/dev/stdout` is written to as it is: a pipe has no folder to make a file in."""
    words = [whole, "--format", "tvm", "--json", "/dev/stdout"]
    done = subprocess.run(
        [sys.executable, "-m", "stagebench.cli", "decode", *map(str, words)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.JSONDecoder().raw_decode(done.stdout[done.stdout.index("{") :])[0]["schema_version"]


@pytest.mark.parametrize("option", ["--json", "--svg", "--perfetto"])
def test_where_nothing_can_be_written(whole, option, capsysbinary):
    """Told with the option, before anything is printed."""
    place = whole / "x"
    with pytest.raises(UsageError, match=f"can't write {option} {place}: a file lies") as caught:
        decode.run(parsed(whole, "--format", "tvm", option, place))
    assert caught.value.hint == f"choose another {option}"
    assert capsysbinary.readouterr().out == b""
