"""Does every lane and record come out as it was written, and is every damage found?"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from stagebench.errors import DumpError
from stagebench.probe.layout import HEADER_BYTES, RECORD_BYTES
from stagebench.timing.decode import decode
from stagebench.timing.probe_buffer import HEADER, RECORD
from tests.timing.building import BITS, lane, metadata, poke, site

SITES = (site(0), site(1, op="wgmma_wait"))
META = metadata(SITES)
STRIDE = META.stride_bytes


def whole():
    return lane([(0, 100, 50), (1, 200, 30)]) + lane([(0, 300, 7)], warp=1)


def problems(data, meta=META):
    return [
        (p.kind, p.cta, p.warp, p.record, p.offset_bytes, p.count)
        for p in decode(data, meta).problems
    ]


def records(run):
    return [
        tuple(int(column[i]) for column in (run.lane, run.site, run.start, run.cycles))
        for i in range(len(run.lane))
    ]


def test_the_layout_is_the_documented_one():
    """64 bytes of header with the fields at their offsets, 16 of record."""
    assert (HEADER.itemsize, RECORD.itemsize) == (HEADER_BYTES, RECORD_BYTES) == (64, 16)
    assert {name: HEADER.fields[name][1] for name in HEADER.names} == {
        "timer_entry": 0, "clock_entry": 8, "timer_exit": 16, "clock_exit": 24, "sm": 32,
        "cta": 36, "warp": 40, "entry": 44, "count": 48, "hardware_warp": 52, "exit": 56,
        "reserved": 60,
    }  # fmt: skip


def test_whole_lanes():
    """Records by lane, in cycles since the warp's entry; the calibration stands apart."""
    run = decode(whole(), META)
    assert records(run) == [(0, 0, 100, 50), (0, 1, 200, 30), (1, 0, 300, 7)]
    assert run.calibration.tolist() == [20, 20]
    assert run.complete.tolist() == [True, True]
    assert (run.cta.tolist(), run.warp.tolist(), run.sm.tolist()) == ([0, 0], [0, 1], [7, 7])
    assert run.problems == ()


def test_sampled_ctas():
    """Sampled CTA k is CTA k · step of the grid."""
    meta = metadata(SITES, ctas=2, roles=("all",), grid_ctas=8, cta_step=4)
    run = decode(lane([]) + lane([], cta=4), meta)
    assert run.cta.tolist() == [0, 4]
    assert run.problems == ()
    assert problems(lane([]) + lane([], cta=1), meta) == [
        ("wrong_lane", 4, 0, None, STRIDE + 36, None)
    ]


def test_the_clock_wraps():
    """The low half wraps between records and inside a wait; both are whole."""
    clock = (2**32 - 150, 2**32 + 5000)
    data = lane([(0, 100, 100), (1, 400, 30)], clock=clock) + lane([], warp=1)
    run = decode(data, META)
    assert records(run) == [(0, 0, 100, 100), (0, 1, 400, 30)]
    assert run.problems == ()


def test_a_warp_that_lives_longer_than_the_low_half():
    """Records further apart than 2³² cycles in all, less than 2³¹ each, are unwrapped."""
    waits = [(0, 2_000_000_000 * k, 10) for k in (1, 2, 3, 4)]
    data = lane(waits, clock=(5, 5 + 9_000_000_000)) + lane([], warp=1)
    run = decode(data, META)
    assert run.start.tolist() == [2_000_000_000 * k for k in (1, 2, 3, 4)]
    assert run.problems == ()


def test_no_entry():
    """A warp that never ran, and a lane that something overwrote, are different messages."""
    unwritten = decode(whole()[:STRIDE] + bytes(STRIDE), META)
    assert [(p.kind, p.warp, p.offset_bytes) for p in unwritten.problems] == [
        ("no_entry", 1, STRIDE + 44)
    ]
    assert "never ran" in unwritten.problems[0].message
    clobbered = decode(poke(whole(), 44, 0xDEADBEEF), META)
    assert "something else" in clobbered.problems[0].message
    assert records(clobbered) == [(0, 0, 300, 7)]


def test_two_warps_in_one_lane():
    """A header that names another warp is not believed."""
    assert problems(poke(whole(), STRIDE + 40, 0)) == [
        ("wrong_lane", 0, 1, None, STRIDE + 36, None)
    ]


def test_no_exit():
    """Without an exit the records in order are kept, and the lane is not complete."""
    data = lane([(0, 100, 50), (1, 200, 30)], exit_=0) + lane([], warp=1)
    run = decode(data, META)
    assert records(run) == [(0, 0, 100, 50), (0, 1, 200, 30)]
    assert run.complete.tolist() == [False, True]
    assert problems(data) == [("no_exit", 0, 0, None, 56, None)]


def test_dropped_records():
    """Ten attempted, eight kept: two dropped, the kept ones are read."""
    waits = [(0, 100 * k, 10) for k in range(1, 10)]
    data = lane(waits) + lane([], warp=1)
    run = decode(data, META)
    assert len(run.lane) == 7  # and the calibration
    assert run.complete.tolist() == [False, True]
    assert problems(data) == [("dropped", 0, 0, None, 48, 2)]


def test_a_lane_that_is_exactly_full_is_complete():
    """Near miss: as many records as there is room for."""
    waits = [(0, 100 * k, 10) for k in range(1, 8)]
    run = decode(lane(waits) + lane([], warp=1), META)
    assert run.problems == ()
    assert run.complete.all()


def test_ordinal_gap():
    """A record with another one's ordinal is left out; the next one's time is right."""
    data = poke(whole(), 64 + 16, 5)
    assert records(decode(data, META)) == [(0, 1, 200, 30), (1, 0, 300, 7)]
    assert problems(data) == [("ordinal_gap", 0, 0, 1, 64 + 16, 1)]


def test_unknown_site():
    """Ids beyond the sites; the calibration's own id is not one."""
    data = poke(whole(), 64 + 16, 3 << BITS | 1)
    assert problems(data) == [("unknown_site", 0, 0, 1, 64 + 16, 1)]
    assert len(decode(data, META).lane) == 2


def test_a_record_that_starts_before_the_one_before_it_ended():
    """Overlap in one warp can't be; the record is left out."""
    data = lane([(0, 100, 50), (1, 140, 30), (0, 200, 5)]) + lane([], warp=1)
    run = decode(data, META)
    assert records(run) == [(0, 0, 100, 50), (0, 0, 200, 5)]
    assert problems(data) == [("clock_backwards", 0, 0, 2, 64 + 32, 1)]
    assert run.complete.tolist() == [False, True]


def test_a_record_of_two_halves():
    """The index stands at both ends of a record of one wait: where they differ it is left out."""
    data = poke(whole(), 64 + 16 + 12, 2)
    assert problems(data) == [("torn_record", 0, 0, 1, 64 + 16, 1)]
    assert records(decode(data, META)) == [(0, 1, 200, 30), (1, 0, 300, 7)]


PAIRED = structs.replace(META, pairs=(0,))


def test_two_waits_in_one_record():
    """The second begins as the first ends; a record of one site stands beside it."""
    data = lane([(0, 100, 50, 30), (0, 200, 7, 0)]) + lane([], warp=1)
    run = decode(data, PAIRED)
    assert records(run) == [(0, 0, 100, 50), (0, 1, 150, 30), (0, 0, 200, 7), (0, 1, 207, 0)]
    assert run.complete.all()
    assert run.problems == ()


def test_two_long_waits_in_one_record_wrap_the_clock():
    """The record after them starts more than 2³² cycles later, and is unwrapped."""
    long = 3_000_000_000
    data = lane([(0, 100, long, long), (0, 2 * long + 200, 7, 9)], clock=(5, 5 + 3 * long))
    run = decode(data + lane([], warp=1), PAIRED)
    assert records(run) == [
        (0, 0, 100, long), (0, 1, 100 + long, long),
        (0, 0, 2 * long + 200, 7), (0, 1, 2 * long + 207, 9),
    ]  # fmt: skip
    assert run.problems == ()


def test_the_second_wait_of_a_record_ends_after_its_warp():
    """Both waits of the record are left out: they share the reads."""
    data = lane([(0, 100, 50, 1_000_000)]) + lane([], warp=1)
    assert problems(data, PAIRED) == [("outside_warp", 0, 0, 1, 64 + 16, 1)]
    assert records(decode(data, PAIRED)) == []


def test_a_record_that_touches_the_one_before_it_is_right():
    """Adjacent waits share the clock read between them."""
    run = decode(lane([(0, 100, 50), (1, 150, 30)]) + lane([], warp=1), META)
    assert run.problems == ()


def test_a_record_that_ends_after_its_warp():
    """A wait of more cycles than the warp lived is left out."""
    data = poke(whole(), 64 + 32 + 8, 1_000_000)
    assert problems(data) == [("outside_warp", 0, 0, 2, 64 + 32, 1)]


def test_clock_and_timer_at_exit_below_those_at_entry():
    """Both are said, with their offsets, and the lane is not used for shares."""
    data = lane([], clock=(10_000, 9_999), timer=(500, 499)) + lane([], warp=1)
    assert problems(data) == [
        ("clock_backwards", 0, 0, None, 24, None),
        ("timer_backwards", 0, 0, None, 16, None),
    ]
    assert decode(data, META).complete.tolist() == [False, True]


def test_no_calibration():
    """The cost of reading the clock is missing: said, and the waits stand."""
    data = lane([(0, 100, 50)], calibration=None) + lane([], warp=1)
    run = decode(data, META)
    assert [p.kind for p in run.problems] == ["no_calibration"]
    assert records(run) == [(0, 0, 100, 50)]


def test_a_cut_buffer():
    """Whole lanes are read; what is missing is counted."""
    run = decode(whole()[: STRIDE + 10], META)
    assert records(run) == [(0, 0, 100, 50), (0, 1, 200, 30)]
    assert problems(whole()[: STRIDE + 10]) == [
        ("truncated", None, None, None, STRIDE + 10, STRIDE - 10)
    ]
    assert problems(b"")[0][0] == "truncated"


def test_bytes_after_the_last_lane():
    """Another launch's buffer is larger."""
    assert problems(whole() + bytes(5)) == [("trailing_bytes", None, None, None, 2 * STRIDE, 5)]


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"stride_bytes": 64}, "stride_bytes 64"),
        ({"buffer_bytes": 1}, "buffer_bytes 1"),
        ({"cap": 0}, "cap 0"),
        ({"warp_roles": ("all",)}, "1 warp roles"),
        ({"cta_step": 0}, "cta_step 0"),
        ({"calibration_site": 1}, "calibration_site 1"),
        ({"ordinal_bits": 2}, "ordinal_bits 2"),
        ({"ordinal_bits": 31}, "ordinal_bits 31"),
        ({"ordinal_bits": 32}, "ordinal_bits 32"),
        ({"pairs": (1,)}, r"pairs \[1\]"),
        ({"pairs": (-1,)}, r"pairs \[-1\]"),
        (
            {"sites": (site(0), site(1), site(2)), "calibration_site": 3, "pairs": (0, 1)},
            r"pairs \[0, 1\]",
        ),
        ({"sites": (site(1),), "calibration_site": None}, "the ids of sites"),
        ({"sites": (site(0, predicted=(1,)),), "calibration_site": None}, "predicted counts"),
    ],
)
def test_metadata_that_contradict_themselves(changed, named):
    """The message names what can't be right."""
    with pytest.raises(DumpError, match=named):
        decode(whole(), structs.replace(META, **changed))


@settings(max_examples=200, deadline=None, database=None)
@given(
    st.binary(max_size=2 * STRIDE + 40),
    st.lists(st.tuples(st.integers(0, 2 * STRIDE - 1), st.integers(0, 255)), max_size=12),
    st.booleans(),
)
def test_arbitrary_bytes_never_raise(noise, flips, start_whole):
    """Whatever the bytes, damage is reported; what is kept is of a known site, in its warp."""
    data = bytearray(whole() if start_whole else noise)
    for offset, value in flips:
        if offset < len(data):
            data[offset] = value
    run = decode(bytes(data), META)
    assert ((run.site >= 0) & (run.site < len(SITES))).all()
    assert (run.start >= 0).all()
    ends = (run.start + run.cycles)[run.complete[run.lane]]
    life = (run.clock_exit - run.clock_entry)[run.lane][run.complete[run.lane]]
    assert (ends <= life).all()
    assert start_whole or run.problems or len(data) == 0


def test_many_lanes():
    """Sixteen thousand lanes at once come out in order."""
    ctas = 8192
    meta = metadata(SITES, ctas=ctas)
    one = np.frombuffer(whole(), dtype=np.uint8)
    data = np.tile(one, ctas).reshape(2 * ctas, STRIDE)
    ids = np.arange(2 * ctas, dtype="<u4") // 2
    data[:, 36:40] = ids.view(np.uint8).reshape(-1, 4)
    run = decode(data.tobytes(), meta)
    assert run.problems == ()
    assert len(run.lane) == 3 * ctas
    assert run.cta[run.lane][-1] == ctas - 1
