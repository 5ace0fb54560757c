"""How many versions has a buffer, where does it lie, who shares its bytes?"""

import pytest

from tests.facts.building import allocation, arena, buffer, buffers_of, observation


def test_a_versioned_buffer():
    """Versions multiply the bytes of the declaration; the pass that made them is named."""
    seen = observation(
        buffers=[buffer("lhs", 128, 64, leading=(3,), by=["tl.InjectSoftwarePipeline"])],
        arena=arena(lhs=4096),
        alignments={"lhs": 1024},
    )
    lhs = buffers_of(seen)["lhs"]
    assert (lhs.shape, lhs.num_versions, lhs.versioned_by) == (
        (128, 64), 3, "tl.InjectSoftwarePipeline",
    )  # fmt: skip
    assert (lhs.bytes_per_version, lhs.total_bytes) == (128 * 64 * 2, 3 * 128 * 64 * 2)
    assert (lhs.offset_bytes, lhs.alignment_bytes) == (4096, 1024)


def test_a_buffer_that_nobody_touched():
    """One version, made by nobody; a place that was not seen is not 0."""
    lhs = buffers_of(observation(buffers=[buffer("lhs", 64, 32)]))["lhs"]
    assert (lhs.num_versions, lhs.versioned_by, lhs.total_bytes) == (1, None, 4096)
    assert (lhs.offset_bytes, lhs.alignment_bytes, lhs.overlaps) == (None, None, ())


def test_a_buffer_that_was_versioned_twice():
    """Two version dimensions multiply, and both passes are named."""
    lhs = buffers_of(observation(buffers=[buffer("lhs", leading=(3, 2), by=["p", "q"])]))["lhs"]
    assert (lhs.num_versions, lhs.versioned_by) == (6, "p, q")


@pytest.mark.parametrize(
    ("shape", "bits", "wanted"),
    [((64, 32), 4, 1024), ((3,), 4, 2), ((64, 32), 8, 2048), ((128,), 1, 16), ((0, 8), 16, 0)],
)
def test_bytes_of_small_types(shape, bits, wanted):
    """Packed types are counted in bits and rounded up to whole bytes."""
    found = buffers_of(observation(buffers=[buffer("b", *shape, bits=bits)]))["b"]
    assert found.bytes_per_version == wanted


def test_a_symbolic_shape_has_no_size():
    """A dimension that is an expression makes the size unknown, not zero."""
    found = buffers_of(observation(buffers=[buffer("b", 64, "n", leading=(2,))]))["b"]
    assert (found.bytes_per_version, found.total_bytes, found.num_versions) == (None, None, 2)


def test_the_only_dynamic_buffer_is_at_the_start():
    """With one dynamic buffer nothing is merged: it is the arena."""
    seen = observation(buffers=[buffer("lhs")], allocations=(allocation("lhs", 4096),))
    assert buffers_of(seen)["lhs"].offset_bytes == 0


def test_a_static_buffer_has_no_place_in_the_arena():
    """What is declared static keeps no offset, whatever its allocation is called."""
    seen = observation(
        buffers=[buffer("lhs", scope="shared")],
        allocations=(allocation("lhs", 4096, scope="shared"),),
    )
    assert buffers_of(seen)["lhs"].offset_bytes is None


def test_buffers_that_share_bytes_name_each_other():
    """Overlap is by bytes and both ways; neighbours that only touch share nothing."""
    seen = observation(
        buffers=[buffer("a"), buffer("b"), buffer("c"), buffer("unplaced")],
        arena=arena(a=0, b=4096, c=4095),
    )
    overlaps = {name: found.overlaps for name, found in buffers_of(seen).items()}
    assert overlaps == {"a": ("c",), "b": ("c",), "c": ("a", "b"), "unplaced": ()}


def test_versions_count_in_an_overlap():
    """The second version of one buffer may be what reaches into another."""
    seen = observation(buffers=[buffer("a", leading=(2,)), buffer("b")], arena=arena(a=0, b=4096))
    assert buffers_of(seen)["a"].overlaps == ("b",)
