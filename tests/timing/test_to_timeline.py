"""Do all CTAs share one axis, and is each wait where it was?"""

from stagebench.timing.decode import decode
from stagebench.timing.to_timeline import to_timeline
from stagebench.trace.perfetto_trace import perfetto_bytes
from stagebench.trace.timeline_svg import timeline_svg
from tests.timing.building import lane, metadata, site

FULL = site(0, barrier_kind="full")
EMPTY = site(1, barrier_kind="empty", role="producer")
ROLES = ("producer", "consumer", "consumer")
META = metadata((FULL, EMPTY), ctas=2, roles=ROLES)


def cta(number, *, clock, timer, sm):
    """10 000 cycles in 5 000 ns: half a nanosecond a cycle."""
    shared = {"cta": number, "sm": sm}
    start, begin = clock, timer
    ends = {"clock": (start, start + 10_000), "timer": (begin, begin + 5_000)}
    return (
        lane([(1, 100, 40), (1, 1_000, 40)], **shared, **ends)
        + lane([(0, 400, 200), (0, 2_000, 100)], warp=1, **shared, **ends)
        + lane([(0, 500, 200), (0, 2_100, 100)], warp=2, **shared, **ends)
    )


DATA = cta(0, clock=1_000_000, timer=70_000, sm=3) + cta(1, clock=2**40, timer=72_000, sm=9)


def test_one_axis():
    """Two SMs with unrelated clocks: CTA 1 starts 2 000 ns after CTA 0."""
    found = to_timeline(decode(DATA, META), META, title="gemm")
    assert [(t.group, t.name) for t in found.tracks] == [
        ("CTA 0, SM 3", "producer, warp 0"),
        ("CTA 0, SM 3", "consumer, warp 1"),
        ("CTA 1, SM 9", "producer, warp 0"),
        ("CTA 1, SM 9", "consumer, warp 1"),
    ]
    pieces = [(s.name, s.kind, s.start_ns, s.end_ns) for s in found.tracks[1].slices]
    assert pieces == [
        ("consumer", "busy", 70_000, 75_000),
        ("site 0", "waits for data", 70_200, 70_300),
        ("site 0", "waits for data", 71_000, 71_050),
    ]
    assert found.tracks[3].slices[1].start_ns == 72_200
    assert found.tracks[1].slices[1].args == {"cycles": 200, "section": "body", "cuda_line": 60}


def test_slots_ahead():
    """The producer takes two slots, the consumer uses one after the other."""
    found = to_timeline(decode(DATA, META), META, title="gemm")
    assert found.counters[0].samples == ((70_070, 1), (70_300, 0), (70_520, 1), (71_050, 0))


def test_no_counter_where_the_two_differ_in_number():
    """A wait that was not recorded would shift every value after it."""
    lanes = [DATA[i : i + META.stride_bytes] for i in range(0, len(DATA), META.stride_bytes)]
    shared = {"sm": 3, "clock": (1_000_000, 1_010_000), "timer": (70_000, 75_000)}
    lanes[1] = lane([(0, 400, 200)], warp=1, **shared)
    found = to_timeline(decode(b"".join(lanes), META), META, title="gemm")
    assert [counter.group for counter in found.counters] == ["CTA 1, SM 9"]


def test_every_warp_and_chosen_ctas():
    """All warps on request; only the CTAs that are named."""
    found = to_timeline(decode(DATA, META), META, title="", every_warp=True, ctas={1})
    assert [track.name for track in found.tracks] == [
        "producer, warp 0",
        "consumer, warp 1",
        "consumer, warp 2",
    ]


def test_a_cta_that_lived_for_one_tick_of_the_timer():
    """Its own rate would be noise: it gets that of the others; alone it is left out."""
    short = {"cta": 1, "sm": 9, "clock": (0, 64), "timer": (80_000, 80_032)}
    brief = b"".join(lane([], warp=w, **short) for w in range(3))
    both = DATA[: 3 * META.stride_bytes] + brief
    found = to_timeline(decode(both, META), META, title="")
    assert (found.tracks[2].slices[0].start_ns, found.tracks[2].slices[0].end_ns) == (
        80_000,
        80_032,
    )
    fast = b"".join(
        lane([], warp=w, cta=0, clock=(0, 64), timer=(80_000, 80_032)) for w in range(3)
    )
    assert to_timeline(decode(fast, META), META, title="").tracks == ()


def test_warps_without_an_exit_are_left_out():
    """Their axis is not known; decode has said so."""
    lanes = [DATA[i : i + META.stride_bytes] for i in range(0, len(DATA), META.stride_bytes)]
    lanes[0] = lane([(1, 100, 40)], sm=3, exit_=0)
    found = to_timeline(decode(b"".join(lanes), META), META, title="")
    assert [track.name for track in found.tracks[:2]] == ["consumer, warp 1", "producer, warp 0"]


def test_it_can_be_drawn():
    """Both exporters take it."""
    timeline = to_timeline(decode(DATA, META), META, title="gemm")
    assert b"waits for data" in timeline_svg(timeline)
    assert b"slots ahead" in perfetto_bytes(timeline)
