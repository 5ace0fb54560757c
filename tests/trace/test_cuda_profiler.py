"""Which regions does a buffer hold, and is each kind of damage found where it is?"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stagebench.trace.cuda_profiler import decode
from tests.trace.words import END, FINALIZE, INSTANT, START, buffer, spans, word

NAMES = ("load", "compute", "store")


def durations(trace):
    return [(r.block, r.group, r.name, r.start_ns, r.end_ns - r.start_ns) for r in trace.regions]


def kinds(trace):
    return {(p.kind, p.lane, p.slot, p.count) for p in trace.problems}


def test_regions_of_two_groups():
    """Two groups of a block, one a warp-group and one of 96 threads: groups are only numbers."""
    words = buffer(1, 2, {0: spans((0, 32), (1, 8704)), 1: spans((2, 64), begin=1064)})
    trace = decode(words, "tvm", events=NAMES)
    assert durations(trace) == [
        (0, 0, "load", 0, 32),
        (0, 0, "compute", 32, 8704),
        (0, 1, "store", 64, 64),
    ]
    assert trace.problems == ()
    assert (trace.blocks, trace.groups) == (1, 2)


def test_instants_and_unnamed_events():
    """An instant has no duration; an id beyond the names is reported and keeps its number."""
    words = buffer(1, 1, {0: [(5, 7, INSTANT), (9, 0, FINALIZE)]})
    trace = decode(words, "tvm", events=NAMES)
    assert [(r.name, r.start_ns, r.end_ns) for r in trace.instants] == [("event 7", 0, 0)]
    assert [p.kind for p in trace.problems] == ["unknown_event"]


def test_the_timer_wraps_inside_a_region():
    """A wrap between two records is unwrapped by their order, and said."""
    words = buffer(1, 1, {0: [(2**32 - 100, 0, START), (60, 0, END), (100, 0, FINALIZE)]})
    trace = decode(words, "tvm")
    assert [r.end_ns - r.start_ns for r in trace.regions] == [160]
    assert kinds(trace) == {("timer_wrapped", 0, 2, 1)}


@pytest.mark.parametrize("early", [0, 1])
def test_the_timer_wraps_between_lanes(early):
    """A lane that ran after the wrap comes after one that ran before it, whichever is first."""
    lanes = {early: spans((0, 50), begin=2**32 - 100), 1 - early: spans((0, 30), begin=10)}
    trace = decode(buffer(2, 1, lanes), "tvm")
    assert [(r.block, r.start_ns, r.end_ns) for r in trace.regions] == [
        (early, 0, 50),
        (1 - early, 110, 140),
    ]
    assert trace.problems == ()


def test_a_clock_that_steps_back_is_no_wrap():
    """A step back by less than half of the timer's range is damage, not a wrap."""
    words = buffer(1, 1, {0: [(1000, 0, START), (968, 0, END), (1100, 0, FINALIZE)]})
    assert kinds(decode(words, "tvm")) == {("clock_backwards", 0, 2, 1)}


def test_missing_end_and_missing_start():
    """What is not a pair is reported at its slot; the pairs around it stay."""
    records = [(10, 0, START), (20, 1, START), (30, 1, END), (40, 2, END), (50, 0, FINALIZE)]
    trace = decode(buffer(1, 1, {0: records}), "tvm", events=NAMES)
    assert durations(trace) == [(0, 0, "compute", 10, 10)]
    assert kinds(trace) == {("missing_end", 0, 1, 1), ("missing_start", 0, 4, 1)}


def test_one_event_inside_itself():
    """Nested regions of one event pair from the inside out."""
    records = [(10, 0, START), (20, 0, START), (30, 0, END), (45, 0, END), (50, 0, FINALIZE)]
    trace = decode(buffer(1, 1, {0: records}), "tvm")
    assert [(r.start_ns, r.end_ns) for r in trace.regions] == [(0, 35), (10, 20)]


def test_a_full_lane_is_an_overflow():
    """The last slot is used and the lane is not finalized: records went past the buffer."""
    records = spans((0, 32))[:-1]
    assert kinds(decode(buffer(1, 1, {0: records}, size=3), "tvm")) == {("lane_full", 0, 2, 1)}


def test_a_lane_with_room_that_is_not_finalized():
    """Room after the last record: the kernel stopped early.  Not an overflow."""
    trace = decode(buffer(1, 1, {0: spans((0, 32))[:-1]}, size=9), "tvm")
    assert kinds(trace) == {("not_finalized", 0, 2, 1)}
    assert len(trace.regions) == 1


def test_an_exactly_full_lane_that_is_finalized_is_whole():
    """Near miss of an overflow: the finalize sits in the last slot."""
    assert decode(buffer(1, 1, {0: spans((0, 32))}, size=4), "tvm").problems == ()


def test_records_of_an_older_run():
    """What lies after the finalize is not read."""
    trace = decode(buffer(1, 1, {0: [*spans((0, 32)), (5, 1, START)]}), "tvm")
    assert kinds(trace) == {("after_finalize", 0, 4, 1)}
    assert len(trace.regions) == 1


def test_an_event_id_that_does_not_fit():
    """Event 1025 of lane 0 is written as event 1 of lane 1, in lane 0's slot."""
    words = buffer(2, 1, {0: [(10, 1025, START), (20, 1025, END), (30, 0, FINALIZE)]})
    trace = decode(words, "tvm")
    assert ("event_alias", 0, 1, 2) in kinds(trace)
    assert trace.regions == ()


def test_an_event_id_that_runs_over_into_a_lane_that_is_not_there():
    """The same with one lane: it would name lane 1 of 1."""
    words = buffer(1, 1, {0: [(10, 1024, START), (20, 1024, END), (30, 0, FINALIZE)]})
    assert ("event_alias", 0, 1, 2) in kinds(decode(words, "tvm"))


def test_more_lanes_than_the_tag_holds():
    """2²⁰ + 1 lanes alias in TVM's tag, 4097 in FlashInfer's, 4096 don't."""
    for wire, lanes, aliases in (
        ("tvm", 2**20 + 1, True),
        ("tvm", 2**20, False),
        ("flashinfer", 4097, True),
        ("flashinfer", 4096, False),
    ):
        words = np.zeros(lanes + 1, dtype=np.uint64)
        words[0] = (1 << 32) | lanes
        found = {problem.kind for problem in decode(words, wire).problems}
        assert ("lanes_alias" in found) is aliases


def test_a_stride_below_the_number_of_lanes():
    """Four lanes with a stride of two overwrite each other: found without being told."""
    lanes = {lane: spans((0, 100), begin=100 + lane) for lane in range(4)}
    trace = decode(buffer(4, 1, lanes, stride=2), "tvm")
    problem = next(p for p in trace.problems if p.kind == "interleaved")
    assert "stride of 2 words for 4 lanes" in problem.message


def test_a_stride_above_the_number_of_lanes():
    """Padded lanes are whole; the stride is named until it is given."""
    words = buffer(3, 1, {lane: spans((0, 100)) for lane in range(3)}, stride=8)
    guess = decode(words, "tvm")
    assert any(p.kind == "other_stride" and "--stride 8" in p.message for p in guess.problems)
    told = decode(words, "tvm", stride=8)
    assert told.problems == ()
    assert len(told.regions) == 3


def test_a_stride_below_the_lanes_that_is_given_is_said_to_interleave():
    """Being told the wrong stride does not make it right."""
    lanes = {lane: spans((0, 100)) for lane in range(4)}
    trace = decode(buffer(4, 1, lanes, stride=2), "tvm", stride=2)
    assert "interleaved" in {p.kind for p in trace.problems}
    assert "hole" in {p.kind for p in trace.problems}


def test_a_hole():
    """An empty slot between records is reported where it is."""
    words = buffer(1, 1, {0: spans((0, 32), (1, 32))})
    words[2] = 0
    assert ("hole", 0, 2, 1) in kinds(decode(words, "tvm"))


def test_a_header_that_was_never_written():
    """No shape, no regions; with the shape given, all of them."""
    words = buffer(2, 1, {0: spans((0, 32))})
    words[0] = 0
    nothing = decode(words, "tvm")
    assert (nothing.blocks, nothing.regions) == (None, ())
    assert kinds(nothing) == {("no_header", None, 0, 1)}
    assert len(decode(words, "tvm", blocks=2, groups=1).regions) == 1


@pytest.mark.parametrize("header", [5, 5 << 32, (1 << 32 | 1) << 10, 2**64 - 1])
def test_a_garbage_header(header):
    """A zero count, or more lanes than words: said, and nothing is allocated by it."""
    words = np.array([header, 0, 0, 0], dtype=np.uint64)
    assert "bad_header" in {p.kind for p in decode(words, "tvm").problems}


def test_a_header_that_contradicts_what_is_given():
    """The caller wins, and hears of it."""
    trace = decode(buffer(2, 1, {0: spans((0, 32))}), "tvm", blocks=3)
    assert any("says 2 blocks, not 3" in p.message for p in trace.problems)


def test_flashinfer_words_have_an_sm():
    """The same lane, event and time; the SM lies above 12 bits of lane.  No finalize is missed."""
    records = {0: spans((0, 32))[:-1], 1: spans((1, 40))[:-1]}
    trace = decode(buffer(2, 1, records, sm=131), "flashinfer", events=NAMES)
    assert durations(trace) == [(0, 0, "load", 0, 32), (1, 0, "compute", 0, 40)]
    assert [lane.sm for lane in trace.lanes] == [131, 131]
    assert trace.problems == ()


def test_one_format_read_as_the_other_does_not_pass():
    """An SM read as lane bits is out of range; a finalize is no FlashInfer type."""
    sm = buffer(2, 1, {0: spans((0, 32))[:-1]}, sm=131)
    assert "lane_out_of_range" in {p.kind for p in decode(sm, "tvm").problems}
    assert "unknown_type" in {
        p.kind for p in decode(buffer(2, 1, {0: spans((0, 32))}), "flashinfer").problems
    }


def test_a_lane_on_two_sms():
    """A CTA does not move: lanes alias, or the buffer is another's."""
    words = buffer(1, 1, {0: spans((0, 32))[:-1]}, sm=3)
    words[2] = word(1032, 0, 0, END, sm=4)
    assert "sm_changed" in {p.kind for p in decode(words, "flashinfer").problems}


def test_a_cut_file():
    """Bytes that are no whole word are reported."""
    trace = decode(buffer(1, 1, {0: spans((0, 1))}), "tvm", trailing_bytes=3)
    assert [p.kind for p in trace.problems] == ["truncated"]


@settings(max_examples=150, deadline=None, database=None)
@given(
    st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 20_000), max_size=60),
    st.sampled_from(["tvm", "flashinfer"]),
    st.none() | st.integers(1, 9),
    st.booleans(),
)
def test_arbitrary_words_never_raise(words, wire, stride, small):
    """Whatever the words, damage is reported; times are never negative."""
    if small and words:
        words[0] = (2 << 32) | 3
    trace = decode(np.array(words, dtype=np.uint64), wire, events=NAMES, stride=stride)
    assert all(lane.start_ns >= 0 for lane in trace.lanes)
    assert len(trace.regions) <= len(words)
