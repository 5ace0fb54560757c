"""Does a timeline come out of Perfetto and SVG as it went in?"""

import sys
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

from stagebench.errors import MachineError
from stagebench.trace.perfetto_trace import perfetto_bytes
from stagebench.trace.timeline import Counter, Slice, Timeline, Track, depths, rows, span
from stagebench.trace.timeline_svg import PALETTE, timeline_svg

SVG = "{http://www.w3.org/2000/svg}"


def piece(name, start, end, kind="wait", **args):
    return Slice(name=name, kind=kind, start_ns=start, end_ns=end, args=args)


def example():
    return Timeline(
        title="gemm <1>",
        tracks=(
            Track(
                group="CTA 0",
                name="producer",
                slices=(
                    piece("run", 100, 300, "busy"),
                    piece("slot", 120, 200, cycles=150, section=None),
                    piece("mark", 300, 300),
                ),
            ),
            Track(group="CTA 0", name="consumer", slices=()),
            Track(group="CTA 1", name="producer", slices=(piece("a", 150, 250),)),
        ),
        counters=(
            Counter(group="CTA 0", name="slots", unit="slots", samples=((100, 0), (200, 3))),
        ),
    )


def parse(data):
    return ElementTree.fromstring(data)  # noqa: S314 - a document of our own


def read_back(data):
    """``{(group, track): [(time, type, name)]}`` by the protobuf's own parser."""
    trace = Trace()
    trace.ParseFromString(data)
    tracks, parents, events = {}, {}, {}
    for packet in trace.packet:
        if packet.HasField("track_descriptor"):
            found = packet.track_descriptor
            tracks[found.uuid] = found.name
            parents[found.uuid] = found.parent_uuid
        elif packet.HasField("track_event"):
            event = packet.track_event
            kind = TrackEvent.Type.Name(event.type).removeprefix("TYPE_")
            value = event.counter_value if kind == "COUNTER" else event.name
            place = tracks[parents[event.track_uuid]], tracks[event.track_uuid]
            events.setdefault(place, []).append((packet.timestamp, kind, value))
    return trace, tracks, events


def test_perfetto_holds_the_timeline():
    """Slices nest, end before a moment at their end, and start at 0; the counter has its values."""
    trace, tracks, events = read_back(perfetto_bytes(example()))
    assert events == {
        ("CTA 0", "producer"): [
            (0, "SLICE_BEGIN", "run"),
            (20, "SLICE_BEGIN", "slot"),
            (100, "SLICE_END", ""),
            (200, "SLICE_END", ""),
            (200, "INSTANT", "mark"),
        ],
        ("CTA 1", "producer"): [(50, "SLICE_BEGIN", "a"), (150, "SLICE_END", "")],
        ("CTA 0", "slots"): [(0, "COUNTER", 0), (100, "COUNTER", 3)],
    }
    assert "consumer" in tracks.values()
    slot = next(p.track_event for p in trace.packet if p.track_event.name == "slot")
    assert [(a.name, a.int_value) for a in slot.debug_annotations] == [
        ("cycles", 150),
        ("section", 0),
    ]
    assert all(p.trusted_packet_sequence_id for p in trace.packet)
    assert [p.timestamp for p in trace.packet] == sorted(p.timestamp for p in trace.packet)


def test_perfetto_is_deterministic():
    """Same timeline, same bytes; another timeline, other bytes."""
    assert perfetto_bytes(example()) == perfetto_bytes(example())
    other = Timeline(title="", tracks=example().tracks[:1], counters=())
    assert perfetto_bytes(other) != perfetto_bytes(example())


def test_overlap_without_nesting_gets_a_second_row():
    """Perfetto's begin and end are a stack: what overlaps without nesting needs another."""
    load, compute = piece("load", 0, 100), piece("compute", 50, 150)
    found = rows([compute, load])
    assert found == ((load,), (compute,))
    track = Track(group="block 0", name="group 0", slices=(load, compute))
    _, _, events = read_back(perfetto_bytes(Timeline(title="", tracks=(track,), counters=())))
    assert set(events) == {("block 0", "group 0"), ("block 0", "group 0 (2)")}


def test_rows_nest_and_follow():
    """What nests or touches shares a row, with its depth."""
    outer, inner, after = piece("o", 0, 100), piece("i", 10, 100), piece("n", 100, 120)
    assert rows([after, inner, outer]) == ((outer, inner, after),)
    assert depths((outer, inner, after)) == (0, 1, 0)


@settings(max_examples=100, deadline=None, database=None)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 12)), max_size=25))
def test_rows_lose_nothing(found):
    """Every slice is in one row; of two in a row one holds the other or ends before it starts."""
    slices = [piece(f"s{i}", start, start + long) for i, (start, long) in enumerate(found)]
    made = rows(slices)
    assert sorted(s.name for row in made for s in row) == sorted(s.name for s in slices)
    for row in made:
        for i, a in enumerate(row):
            for b in row[i + 1 :]:
                assert a.end_ns <= b.start_ns or b.end_ns <= a.end_ns


def test_perfetto_without_its_package(monkeypatch):
    """The hint names the extra."""
    monkeypatch.setitem(sys.modules, "perfetto.trace_builder.proto_builder", None)
    with pytest.raises(MachineError) as caught:
        perfetto_bytes(example())
    assert caught.value.hint == "pip install 'stagebench[trace]'"


def test_svg_draws_every_slice_to_scale():
    """A slice is as wide as its part of the axis, in its kind's colour, with its words escaped."""
    root = parse(timeline_svg(example()))
    drawn = {
        box.find(f"{SVG}title").text.split(":")[0]: box
        for box in root.iter(f"{SVG}rect")
        if box.find(f"{SVG}title") is not None
    }
    assert set(drawn) == {"run", "slot", "mark", "a"}
    assert float(drawn["run"].get("width")) == pytest.approx(
        2 * float(drawn["a"].get("width")), rel=1e-3
    )
    assert drawn["run"].get("fill") == "#d4d4d4"
    assert drawn["slot"].get("fill") == drawn["a"].get("fill") == PALETTE[0]
    assert "cycles: 150" in drawn["slot"].find(f"{SVG}title").text
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert "gemm <1>" in texts
    assert "time in µs" in texts
    assert "0.2" in texts  # the axis: 200 ns
    assert "slots, 0 to 3" in texts
    assert not any("href" in key for element in root.iter() for key in element.attrib)


def test_svg_is_deterministic():
    """Same timeline, same bytes."""
    assert timeline_svg(example()) == timeline_svg(example())


@pytest.mark.parametrize("name", ["\x00\x1b[31m", "]]>&amp;<script>", "\ud800", "\uffff"])
def test_svg_holds_any_name(name):
    """Control characters and markup in a name are text in a document that parses."""
    track = Track(group=name, name=name, slices=(piece(name, 0, 10, name),))
    data = timeline_svg(Timeline(title=name, tracks=(track,), counters=()))
    assert all("script" not in each.tag for each in parse(data).iter())


def test_an_empty_timeline_is_drawn():
    """No track, no slice: an axis, and a trace without events."""
    empty = Timeline(title="nothing", tracks=(), counters=())
    assert span(empty) is None
    parse(timeline_svg(empty))
    assert read_back(perfetto_bytes(empty))[2] == {}


def test_svg_says_what_it_leaves_out(monkeypatch):
    """Above the limit the shortest go, also among equals, and their number is written."""
    monkeypatch.setattr("stagebench.trace.timeline_svg._MOST_SLICES", 3)
    slices = tuple(piece(f"s{i}", i * 10, i * 10 + 5) for i in range(5))
    track = Track(group="g", name="t", slices=slices)
    data = timeline_svg(Timeline(title="", tracks=(track,), counters=())).decode()
    assert "2 shortest slices are not drawn" in data
    assert [name for name in ("s0:", "s1:", "s2:", "s3:", "s4:") if name in data] == [
        "s0:",
        "s1:",
        "s2:",
    ]
