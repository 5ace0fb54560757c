"""What has been seen of a shared buffer in the course of one lowering?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from stagebench.model import Extent
from stagebench.model.observation import SeenBuffer


@dataclass
class SharedBufferSeen:
    """Its declaration, and the leading dimensions that it gained or was declared with."""

    scope: str
    dtype: str
    bits: int
    shape: tuple[Extent, ...]
    leading: tuple[int, ...] = ()
    versioned_by: list[str] = field(default_factory=list)


def seen_buffers(found: Mapping[str, SharedBufferSeen]) -> tuple[SeenBuffer, ...]:
    """What was seen of each buffer, by name and in order."""
    return tuple(
        SeenBuffer(
            name=name,
            scope=buffer.scope,
            dtype=buffer.dtype,
            element_bits=buffer.bits,
            shape=buffer.shape,
            leading=buffer.leading,
            versioned_by=tuple(buffer.versioned_by),
        )
        for name, buffer in found.items()
    )
