"""What has been seen of a shared buffer in the course of one lowering?"""

from __future__ import annotations

from dataclasses import dataclass, field

from stagebench.model import Extent


@dataclass
class SharedBufferSeen:
    """Its declaration, and the leading dimensions that it gained or was declared with."""

    scope: str
    dtype: str
    bits: int
    shape: tuple[Extent, ...]
    leading: tuple[int, ...] = ()
    versioned_by: list[str] = field(default_factory=list)
