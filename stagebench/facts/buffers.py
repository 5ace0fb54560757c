"""How many versions has each shared buffer, where do they lie, and who shares their bytes?"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from stagebench.model import Observation, SharedBuffer
from stagebench.model.observation import SeenBuffer


def shared_buffers(observation: Observation) -> tuple[SharedBuffer, ...]:
    """Every declared shared buffer, in order of declaration.

    Sizes are those of the declaration times the versions; a layout that pads makes the allocation
    larger, which `stagebench.facts.diagnostics` reports.
    """
    offsets = _offsets(observation)
    plain = [
        _buffer(buffer, offsets.get(buffer.name), observation) for buffer in observation.buffers
    ]
    return tuple(_with_overlaps(buffer, plain) for buffer in plain)


def _offsets(observation: Observation) -> dict[str, int]:
    """Offsets in the merged arena.  With a single dynamic buffer there is no merge: it is at 0.

    Of buffers that share a name it is not told which is which: they have no offset here.
    """
    kernel = observation.kernel
    names = [slot.name for slot in kernel.arena]
    found = {s.name: s.offset_bytes for s in kernel.arena if names.count(s.name) == 1}
    for allocation in kernel.allocations:
        if allocation.scope == "shared.dyn" and not kernel.arena:
            found[allocation.name] = 0
    return found


def _buffer(seen: SeenBuffer, offset: int | None, observation: Observation) -> SharedBuffer:
    elements: int | None = 1
    for dim in seen.shape:
        elements = elements * dim if elements is not None and isinstance(dim, int) else None
    versions = math.prod(seen.leading)
    each = None if elements is None else (elements * seen.element_bits + 7) // 8
    return SharedBuffer(
        name=seen.name,
        scope=seen.scope,
        dtype=seen.dtype,
        shape=seen.shape,
        num_versions=versions,
        bytes_per_version=each,
        total_bytes=None if each is None else each * versions,
        offset_bytes=offset,
        alignment_bytes=observation.kernel.alignments.get(seen.name),
        overlaps=(),
        versioned_by=", ".join(seen.versioned_by) or None,
    )


def _with_overlaps(buffer: SharedBuffer, others: Sequence[SharedBuffer]) -> SharedBuffer:
    names = tuple(other.name for other in others if other is not buffer and _overlap(buffer, other))
    return msgspec.structs.replace(buffer, overlaps=names) if names else buffer


def _overlap(a: SharedBuffer, b: SharedBuffer) -> bool:
    if a.offset_bytes is None or b.offset_bytes is None or not a.total_bytes or not b.total_bytes:
        return False
    return (
        a.offset_bytes < b.offset_bytes + b.total_bytes
        and b.offset_bytes < a.offset_bytes + a.total_bytes
    )
