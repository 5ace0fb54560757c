"""Do buffers that a Hopper GPU wrote decode to what the marked kernels do?

``experiments/regions`` holds the buffers of `stagebench.kernels.tvm_tirx_profiled` for
1024×512×512 with a tile of 64×64×32.
"""

import lzma
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from stagebench.dump.profiler_sidecar import read_sidecar
from stagebench.trace.cuda_profiler import decode
from stagebench.trace.perfetto_trace import perfetto_bytes
from stagebench.trace.profiler_words import read_words, uncompressed
from stagebench.trace.region_stats import region_stats, region_timeline
from stagebench.trace.timeline_svg import timeline_svg
from tests.trace.test_timeline import SVG, parse, read_back

FOLDER = Path(__file__).parents[2] / "experiments" / "regions"
BUFFERS = {path.name.removesuffix(".npy.xz"): path for path in sorted(FOLDER.glob("*.npy.xz"))}
M, N, K = 1024, 512, 512
BLOCK_M, BLOCK_N, BLOCK_K = 64, 64, 32
THREADS, STEP_NS = 128, 32
TRIPS, BLOCKS = K // BLOCK_K, (M // BLOCK_M) * (N // BLOCK_N)

each_buffer = pytest.mark.parametrize("name", BUFFERS)


@pytest.fixture(scope="module")
def read():
    """``(sidecar, trace, words)`` of a buffer by name; each is decoded once."""
    found = {}

    def one(name):
        if name not in found:
            words, trailing = read_words(BUFFERS[name])
            told = read_sidecar(uncompressed(BUFFERS[name]))
            trace = decode(
                words, told.format, events=told.event_names, blocks=told.blocks,
                groups=told.groups, stride=told.stride, trailing_bytes=trailing,
            )  # fmt: skip
            found[name] = told, trace, words
        return found[name]

    return one


def setting(told, name):
    found = re.search(rf"{name}=(\d+)", told.source)
    return int(found[1]) if found else None


def regions_of_a_block(told):
    """By group and event, from what the kernel's source says."""
    if setting(told, "group_threads") is None:
        return {
            ("producer", "free"): TRIPS,
            ("producer", "load"): TRIPS,
            ("consumers", "wait"): TRIPS,
            ("consumers", "compute"): TRIPS,
            ("consumers", "store"): 1,
        }
    size = setting(told, "group_threads")
    first_loads = 1 if setting(told, "num_stages") > 1 else 0  # those before the loop are one
    groups = [
        f"threads {first}-{min(first + size, THREADS) - 1}" for first in range(0, THREADS, size)
    ]
    each = {"load": TRIPS + first_loads, "wait": TRIPS, "compute": TRIPS, "store": 1}
    return {(group, event): count for group in groups for event, count in each.items()}


def test_what_is_recorded():
    """Four depths of each form, groups that are no multiple of a warp, an sm_80 build."""
    depths = [f"{form}.{depth}" for form in ("cp_async", "groups_of_48", "tma") for depth in "1234"]
    assert sorted(BUFFERS) == sorted([*depths, "groups_of_8.2", "sm_80.2"])


@each_buffer
def test_no_buffer_is_damaged(read, name):
    """No problem of any kind, not even one that could be put right."""
    _, trace, _ = read(name)
    assert trace.problems == ()
    assert trace.instants == ()


@each_buffer
def test_every_region_that_the_kernel_marks_is_there(read, name):
    """In every block: a region for each trip of each group, and those outside the loop."""
    told, trace, _ = read(name)
    found = Counter(
        (region.block, told.group_names[region.group], region.name) for region in trace.regions
    )
    assert found == {
        (block, group, event): count
        for block in range(BLOCKS)
        for (group, event), count in regions_of_a_block(told).items()
    }
    statistics = {
        (told.group_names[each.group], each.event): each.n for each in region_stats(trace)
    }
    assert statistics == {key: BLOCKS * count for key, count in regions_of_a_block(told).items()}


@each_buffer
def test_the_sidecar_says_what_the_header_says(read, name):
    """Blocks of the grid, groups of a block, and a stride of all lanes."""
    told, trace, words = read(name)
    assert (int(words[0]) & 0xFFFFFFFF, int(words[0]) >> 32) == (told.blocks, told.groups)
    assert told.blocks == BLOCKS == trace.blocks
    assert told.stride == told.blocks * told.groups
    assert told.groups == len(told.group_names) == trace.groups


@each_buffer
def test_regions_of_a_lane_come_one_after_the_other(read, name):
    """None overlaps the next: no mark nests; together they are no longer than their lane."""
    _, trace, _ = read(name)
    lanes = {(lane.block, lane.group): lane for lane in trace.lanes}
    total = dict.fromkeys(lanes, 0)
    last = {key: lane.start_ns for key, lane in lanes.items()}
    for region in trace.regions:  # in the order of their starts
        key = region.block, region.group
        assert last[key] <= region.start_ns <= region.end_ns <= lanes[key].end_ns
        last[key] = region.end_ns
        total[key] += region.end_ns - region.start_ns
    assert all(total[key] <= lane.end_ns - lane.start_ns for key, lane in lanes.items())
    assert len(lanes) == len(trace.lanes)


@each_buffer
def test_a_block_loads_waits_and_multiplies_in_the_order_of_the_source(read, name):
    """The events of every lane, in the order of time, are those of the program."""
    told, trace, _ = read(name)
    depth, events = setting(told, "num_stages"), {}
    for region in trace.regions:
        events.setdefault((region.block, region.group), []).append(region.name)
    if setting(told, "group_threads") is None:
        programs = {0: ["free", "load"] * TRIPS, 1: [*["wait", "compute"] * TRIPS, "store"]}
    elif depth == 1:
        program = [*["load", "wait", "compute"] * TRIPS, "store"]
        programs = dict.fromkeys(range(told.groups), program)
    else:
        program = ["load", *["wait", "load", "compute"] * TRIPS, "store"]
        programs = dict.fromkeys(range(told.groups), program)
    assert len(events) == BLOCKS * told.groups
    for (_, group), found in events.items():
        assert found == programs[group]


def pairs_by_numpy(raw):
    """``(lane, event, start, end)``, start and end of 32 bits: by the words' documented layout."""
    words = np.load(raw)
    slots = np.flatnonzero(words[1:])
    tag, time = words[1:][slots] & np.uint64(0xFFFFFFFF), words[1:][slots] >> np.uint64(32)
    lane, event, kind = tag >> np.uint64(12), tag >> np.uint64(2) & np.uint64(1023), tag & 3
    order = np.lexsort((slots, event, lane))
    kept = order[kind[order] < 2]  # of a lane's event: start, end, start, end, …
    assert kind[kept].tolist() == [0, 1] * (len(kept) // 2)
    starts, ends = kept[::2], kept[1::2]
    columns = (lane[starts], event[starts], time[starts], time[ends])
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


@each_buffer
def test_a_second_decoder_finds_the_same_regions(read, name):
    """Ten lines of numpy, nothing of them shared with the decoder: every region, to the ns."""
    told, trace, _ = read(name)
    with lzma.open(BUFFERS[name]) as raw:
        expected = pairs_by_numpy(raw)
    zero = min(start for _, _, start, _ in expected)
    first = min(lane.start_ns for lane in trace.lanes)
    assert first == 0
    assert sorted(
        (region.block * told.groups + region.group, region.event, region.start_ns, region.end_ns)
        for region in trace.regions
    ) == [(lane, event, start - zero, end - zero) for lane, event, start, end in expected]


@each_buffer
def test_the_timer_steps_by_32_ns(read, name):
    """Every moment is a multiple of 32 ns from every other, and 32 ns do occur."""
    _, trace, _ = read(name)
    moments = {each for region in trace.regions for each in (region.start_ns, region.end_ns)}
    assert {each % STEP_NS for each in moments} == {0}
    ordered = sorted(moments)
    assert min(b - a for a, b in pairwise(ordered)) == STEP_NS


@pytest.mark.parametrize("name", ["cp_async.2", "groups_of_48.4"])
def test_one_lost_word_is_found(read, name):
    """A real buffer without its 1000th record: a hole where it was, and a region cut in two."""
    told, _, words = read(name)
    damaged = words.copy()
    slot = int(np.flatnonzero(damaged)[1000])
    damaged[slot] = 0
    trace = decode(damaged, told.format, events=told.event_names)
    kinds = {(problem.kind, problem.lane) for problem in trace.problems}
    lane = (slot - 1) % told.stride
    assert ("hole", lane) in kinds
    assert kinds & {("missing_start", lane), ("missing_end", lane)}
    assert {problem.lane for problem in trace.problems} == {lane}


@pytest.mark.parametrize("name", ["tma.2", "groups_of_48.1", "groups_of_8.2"])
def test_half_the_blocks_leave_the_others_records_over(read, name):
    """Read as 64 blocks of the 128: every record of the others is said to be out of range."""
    told, whole, words = read(name)
    trace = decode(words, told.format, blocks=BLOCKS // 2, stride=told.stride)
    records = int(np.count_nonzero(words[1:]))
    assert [(problem.kind, problem.count) for problem in trace.problems] == [
        ("bad_header", 1),
        ("lane_out_of_range", records // 2),
    ]
    assert len(trace.regions) == len(whole.regions) // 2


@pytest.mark.parametrize("name", ["tma.2", "groups_of_48.1"])
def test_perfetto_holds_every_region(read, name):
    """A track for each lane under its block, a begin and an end for each region, in ns."""
    told, trace, _ = read(name)
    timeline = region_timeline(trace, title=told.source, group_names=told.group_names)
    _, _, events = read_back(perfetto_bytes(timeline))
    assert len(events) == BLOCKS * told.groups
    kinds = Counter(kind for found in events.values() for _, kind, _ in found)
    assert set(kinds.values()) == {len(trace.regions)}
    assert len(kinds) == 2
    block, group = f"block {BLOCKS - 1}", told.group_names[-1]
    begun = [when for when, _, what in events[block, group] if what == "compute"]
    assert begun == [
        region.start_ns
        for region in trace.regions
        if (region.block, region.group, region.name) == (BLOCKS - 1, told.groups - 1, "compute")
    ]


@pytest.mark.parametrize("name", ["tma.1", "cp_async.4"])
def test_the_drawing_holds_every_region(read, name):
    """A rectangle with a title for each region, and a name for each lane."""
    told, trace, _ = read(name)
    timeline = region_timeline(trace, title=told.source, group_names=told.group_names)
    root = parse(timeline_svg(timeline))
    titles = [each.text for each in root.iter(f"{SVG}title")]
    assert len(titles) == len(trace.regions)
    counted = Counter(title.split(":")[0] for title in titles)
    assert counted == Counter(region.name for region in trace.regions)
    texts = [each.text for each in root.iter(f"{SVG}text")]
    for group in told.group_names:
        assert texts.count(group) == BLOCKS
