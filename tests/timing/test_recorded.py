"""What a Hopper GPU really wrote: two CTAs of the built-in GEMM (4096³), as recorded.

Made by ``stagebench sweep gemm --M 4096 --N 4096 --K 4096 --machine``, ``stagebench bundle``,
``stagebench profile``; of its 64 sampled CTAs the first two are kept.
"""

from pathlib import Path

import msgspec
import pytest

from stagebench.errors import DumpError
from stagebench.model.codec import decode as decode_json
from stagebench.model.timing import ProbeMetadata
from stagebench.timing.decode import decode
from stagebench.timing.stalls import stalls
from stagebench.timing.to_timeline import to_timeline
from stagebench.trace.timeline_svg import timeline_svg

DATA = Path(__file__).parent / "data"


def recorded(name):
    metadata = decode_json((DATA / f"{name}.json").read_bytes(), ProbeMetadata, name)
    return metadata, (DATA / f"{name}.bin").read_bytes()


@pytest.mark.parametrize("name", ["gemm.sm_90a.3", "gemm.sm_80.2"])
def test_nothing_is_damaged_and_every_count_is_as_predicted(name):
    """The walk of the PTX on a CPU said how often each warp waits; the GPU agrees."""
    metadata, buffer = recorded(name)
    found = stalls(decode(buffer, metadata), metadata)
    assert found.problems == ()
    assert found.sites
    assert [stall.executions for stall in found.sites] == [s.predicted for s in found.sites]


def test_who_waits_for_what_on_hopper():
    """Producers wait for slots, consumers for data and for the tensor core, each at its line."""
    metadata, buffer = recorded("gemm.sm_90a.3")
    found = stalls(decode(buffer, metadata), metadata)
    assert [
        (s.site.op, s.cause, s.site.role, s.executions, s.site.cuda_line) for s in found.sites
    ] == [
        ("mbarrier_wait", "slot", "producer", 512, 46),
        ("wgmma_wait", "compute", "consumer", 512, 80),
        ("mbarrier_wait", "data", "consumer", 512, 62),
        ("setmaxnreg", "other", "consumer", 8, 55),
        ("syncthreads", "barrier", "all", 16, 42),
    ]
    assert [round(s.mean_cycles) for s in found.sites] == [743, 463, 279, 53, 2]
    assert found.read_cycles == 30.0


def test_a_flipped_bit_is_told():
    """One site index that is none: the record is named, the others still count."""
    metadata, buffer = recorded("gemm.sm_90a.3")
    broken = bytearray(buffer)
    broken[64 + 16 * 3 + 3] ^= 0xF0  # the id of the site is above the ordinal
    found = stalls(decode(bytes(broken), metadata), metadata)
    assert [
        (p.kind, p.cta, p.warp, p.record) for p in found.problems if p.kind == "unknown_site"
    ] == [("unknown_site", 0, 0, 3)]


def test_a_truncated_buffer_is_told():
    """Half a buffer: what is there is decoded, what is not is said."""
    metadata, buffer = recorded("gemm.sm_80.2")
    found = stalls(decode(buffer[: len(buffer) // 2 + 100], metadata), metadata)
    assert "truncated" in {problem.kind for problem in found.problems}


def test_the_ctas_share_one_axis():
    """Both CTAs ran at the same time on different SMs: their tracks overlap on the globaltimer."""
    metadata, buffer = recorded("gemm.sm_90a.3")
    timeline = to_timeline(decode(buffer, metadata), metadata, title="gemm")
    spans = {}
    for track in timeline.tracks:
        low = min(item.start_ns for item in track.slices)
        high = max(item.end_ns for item in track.slices)
        spans.setdefault(track.group, []).append((low, high))
    (first, second) = [(min(a for a, _ in s), max(b for _, b in s)) for s in spans.values()]
    assert first[0] < second[1]
    assert second[0] < first[1]
    assert 20_000 < first[1] - first[0] < 60_000  # one of eight waves of a 257 µs kernel
    assert timeline_svg(timeline) == timeline_svg(timeline)


def test_metadata_of_older_probes_say_so():
    """Those of version 1 had another layout: the version is told, not a field that they lack."""
    text = (
        (DATA / "gemm.sm_90a.3.json")
        .read_bytes()
        .replace(b'"schema_version": 2', b'"schema_version": 1')
    )
    with pytest.raises(DumpError, match="schema version 1, this stagebench reads 2"):
        decode_json(text.replace(b'"ordinal_bits"', b'"bits"'), ProbeMetadata, "probe.json")


def test_the_metadata_are_strict():
    """A field of another version of the probes is an error, not a guess."""
    text = (DATA / "gemm.sm_90a.3.json").read_bytes().replace(b'"cap"', b'"capacity"')
    with pytest.raises(Exception, match="capacity") as caught:
        decode_json(text, ProbeMetadata, "probe.json")
    assert not isinstance(caught.value, msgspec.ValidationError)
