"""What is there to compute and to move?  What `stagebench.machine.arithmetic` starts from."""

from __future__ import annotations

import re
from collections.abc import Iterable

from stagebench.machine.arithmetic import Traffic, UnknownMmaError, mma_kind
from stagebench.model import Launch
from stagebench.model.facts import LaunchTensor
from stagebench.ptx.by_statement import Executed
from stagebench.ptx.executed import Execution

_ISSUING_THREADS = {"mma_sync": 32, "wgmma": 128, "tcgen05_mma": 1}
"""How many threads execute one matrix instruction together (PTX ISA, per instruction)."""

_BITS = re.compile(r"\D+(\d+)(?:_\w+)?(?:x(\d+))?\Z")


def has_matrix_work(executed: Iterable[Executed]) -> bool:
    """Whether any matrix instruction is in the PTX."""
    return any(one.op in _ISSUING_THREADS for one in executed)


def matrix_work(execution: Execution) -> dict[str, int] | None:
    """Executions in one CTA, all warps together, by PTX opcode; ``None``: not known.

    Not known too where an instruction does not say its shape (``tcgen05.mma``, ``wmma``).
    """
    sites = {s.index for s in execution.program.sites if s.op in _ISSUING_THREADS}
    if execution.stops or sites & execution.uncounted:
        return None
    found: dict[str, int] = {}
    for site in execution.program.sites:
        together = _ISSUING_THREADS.get(site.op)
        if together is None:
            continue
        threads = sum(group.counts[site.index] * len(group.threads) for group in execution.groups)
        found[site.opcode] = found.get(site.opcode, 0) + threads // together
    try:
        for opcode in found:
            mma_kind(opcode)
    except UnknownMmaError:
        return None
    return found


def traffic(launch: Launch, moved_bytes: int | None) -> Traffic:
    """What the grid moves, and the size of each tensor; packed types by their bits."""
    sizes = None if launch.tensors is None else [_tensor_bytes(one) for one in launch.tensors]
    known = None if sizes is None else [size for size in sizes if size is not None]
    return Traffic(
        moved_bytes=moved_bytes,
        tensor_bytes=known if known is not None and len(known) == len(sizes or ()) else None,
    )


def integer_grid(launch: Launch) -> tuple[int, ...] | None:
    """The grid; ``None`` where an extent is symbolic."""
    known = tuple(extent for extent in launch.grid if isinstance(extent, int))
    return known if len(known) == len(launch.grid) else None


def _tensor_bytes(tensor: LaunchTensor) -> int | None:
    """Compact size; ``None`` where an extent is symbolic or the type has no width in its name."""
    bits = 8 if tensor.dtype == "bool" else _element_bits(tensor.dtype)
    if bits is None:
        return None
    for extent in tensor.shape:
        if not isinstance(extent, int):
            return None
        bits *= extent
    return (bits + 7) // 8


def _element_bits(dtype: str) -> int | None:
    found = _BITS.match(dtype)
    return None if found is None else int(found[1]) * int(found[2] or 1)
