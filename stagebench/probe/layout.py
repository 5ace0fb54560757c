"""Where does each warp of which CTA write its records, and how many has it room for?

The layout that `stagebench.timing.probe_buffer` reads (it says what each field is): lane = sampled
CTA · warps of a CTA + warp, at lane · stride; a header of 64 bytes, then ``cap`` records of 16,
each of one wait or of two in a row.
"""

from __future__ import annotations

from math import prod

from stagebench.errors import UsageError
from stagebench.model.base import Record
from stagebench.model.facts import Launch

MAGIC = 0x32504253  # "SBP2"
HEADER_BYTES, RECORD_BYTES = 64, 16
TIMER_ENTRY, TIMER_EXIT, SM, COUNT, HARDWARE_WARP, EXIT = 0, 16, 32, 48, 52, 56
SYMBOL = "__sb_probe_base"
WARP_THREADS = 32
DEFAULT_MAX_CTAS = 64
DEFAULT_BUDGET_BYTES = 64 << 20
_MAX_BUFFER_BYTES = 1 << 32  # a lane's offset is a 32-bit register

Extents = tuple[int, int, int]


class Shape(Record, frozen=True, kw_only=True):
    """A launch whose extents are all known; x, y, z."""

    grid: Extents
    block: Extents

    @property
    def ctas(self) -> int:
        """How many CTAs the grid has."""
        return prod(self.grid)

    @property
    def warps(self) -> int:
        """How many warps a CTA has, the last one perhaps not full."""
        return -(-prod(self.block) // WARP_THREADS)

    def cta(self, linear: int) -> Extents:
        """The block index of a linear CTA id (x runs fastest)."""
        x, y, _ = self.grid
        return linear % x, linear // x % y, linear // (x * y)


class Layout(Record, frozen=True, kw_only=True):
    """Of the grid, CTA k · ``step`` is sampled CTA k, for k below ``sampled``; see `Shape`."""

    shape: Shape
    sampled: int
    step: int
    cap: int

    @property
    def stride(self) -> int:
        """Bytes of a lane."""
        return HEADER_BYTES + RECORD_BYTES * self.cap

    @property
    def buffer_bytes(self) -> int:
        """Bytes of all lanes."""
        return self.sampled * self.shape.warps * self.stride


def shape_of(launch: Launch) -> Shape:
    """The shape of a launch plan; `UsageError` where an extent is an expression."""
    extents = (*launch.grid, *launch.block)
    numbers = [extent for extent in extents if isinstance(extent, int) and extent > 0]
    if len(numbers) != len(extents):
        shown = " × ".join(str(extent) for extent in launch.grid)
        raise UsageError(
            f"{launch.function}: the launch isn't known (grid {shown})",
            hint="give every symbolic extent a value before probes are built",
        )
    x, y, z, block_x, block_y, block_z = numbers
    return Shape(grid=(x, y, z), block=(block_x, block_y, block_z))


def sample(shape: Shape, max_ctas: int = DEFAULT_MAX_CTAS) -> tuple[int, int]:
    """How many CTAs to sample and every which one: spread over the grid, and so over its waves."""
    if max_ctas < 1:
        raise UsageError(f"{max_ctas} CTAs can't be sampled", hint="sample one CTA or more")
    sampled = min(shape.ctas, max_ctas)
    return sampled, max(1, shape.ctas // sampled)


def ordinal_bits(sites: int) -> int:
    """How many of a tag's 32 bits are the record's index: those that no id of a site needs.

    Ids go from 0 to ``sites``, which is the calibration's.
    """
    return 32 - max(1, sites.bit_length())


def cap_within(budget_bytes: int, lanes: int, sites: int) -> int:
    """How many records a lane has room for if all lanes together may take ``budget_bytes``."""
    room = (min(budget_bytes, _MAX_BUFFER_BYTES - 1) // lanes - HEADER_BYTES) // RECORD_BYTES
    cap = min(room, 1 << ordinal_bits(sites))
    if cap < 1:
        raise UsageError(
            f"{lanes} probed warps don't fit into {budget_bytes} bytes",
            hint="sample fewer CTAs or allow a larger buffer",
        )
    return cap
