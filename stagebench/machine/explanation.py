"""What explains that counts of two levels differ, and what is left over?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from stagebench.facts.cuda_records import CudaSite
from stagebench.model import Extent

_NAME = re.compile(r"[A-Za-z_]\w*")
EXPANDS = frozenset(
    {
        "cp_async_copy", "mma_sync", "st_async", "tcgen05_cp", "tcgen05_mma", "tma_load",
        "tma_prefetch", "tma_store", "wgmma",
    }
)  # fmt: skip
"""Ops of which one call may be several instructions: copies and products, never a wait."""
_OF_A_THREAD = frozenset({"threadIdx", "x", "y", "z", "tl", "tl_shuffle_elect", "int"})
"""Names in conditions on the thread alone: some thread of every block fulfils them."""


@dataclass
class Explanation:
    """Reasons in words, each once; ``agreed`` while nothing is left over."""

    agreed: bool = True
    seen: dict[str, None] = field(default_factory=dict)

    def say(self, reason: str) -> None:
        """Add a reason."""
        self.seen[reason] = None

    def fail(self, reason: str) -> None:
        """Add what is not explained."""
        self.agreed = False
        self.seen[reason] = None

    @property
    def reasons(self) -> tuple[str, ...]:
        """All reasons, in the order in which they came up."""
        return tuple(self.seen)


def total(values: Sequence[int | None]) -> int | None:
    """The sum; ``None`` where one is not known."""
    return None if any(value is None for value in values) else sum(value or 0 for value in values)


def total_extent(values: Sequence[Extent | None]) -> Extent:
    """The sum; ``symbolic`` where one is, or is not known."""
    if all(isinstance(value, int) for value in values):
        return sum(value for value in values if isinstance(value, int))
    return "symbolic"


def guard_of_the_block(sites: Sequence[CudaSite]) -> str | None:
    """A condition that may differ between blocks: the counts above PTX take every branch."""
    guards = [guard for site in sites for guard in site.guards]
    return next((guard for guard in guards if set(_NAME.findall(guard)) - _OF_A_THREAD), None)
