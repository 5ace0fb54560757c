"""Which instruction of TIRx's PTX table is a call?  Apache TVM 0.27 and later.

There ``T.ptx`` is a table of instructions: a call of ``tirx.ptx.<entry>`` holds the operands, then
the text of each modifier that the entry can have (empty where it is left out), then a marker.
Which operand lies where is asked of the table itself; what the words mean is
`stagebench.worker.tvm.ptx_words`.

Source: ``_emit`` of ``tvm/backend/cuda/ptx/engine.py`` (Apache TVM 0.27).
"""

from __future__ import annotations

import importlib
from typing import Any

from stagebench.worker.tir import nodes as ir
from stagebench.worker.tvm.ptx_words import Instruction

_PREFIX = "tirx.ptx."
_SUNK = "s"
"""What a marker's flag begins with for an operand that is written ``_`` and is not in the call."""


def _load_table() -> Any:
    try:
        return importlib.import_module("tvm.backend.cuda.ptx.table")
    except ImportError:  # 0.26 and earlier: an op for each operation (`intrinsics.SYNC`)
        return None


_table = _load_table()
_entries: dict[str, Any] = {} if _table is None else _table.TABLE


def instruction_of(call: Any) -> Instruction | None:
    """The instruction that a call is; ``None`` where it is none of the table's."""
    name = ir.op_name(call)
    entry = _entries.get(name.removeprefix(_PREFIX)) if name.startswith(_PREFIX) else None
    if entry is None:
        return None
    args = list(call.args)
    first = len(args) - len(entry.slots) - 1
    tokens = [str(ir.extent_of(arg)) for arg in args[first:-1]]
    flags = str(ir.extent_of(args[-1])).split(",")
    sunk = {int(flag[1:]) for flag in flags if flag.startswith(_SUNK) and flag[1:].isdigit()}
    layout = _table.operand_layout(entry, _table.mods(entry, tokens))
    operands = {
        str(slot.name): index - sum(1 for other in sunk if other < index)
        for slot, index, _ in layout
        if index not in sunk
    }
    words = (str(entry.family), *(token for token in tokens if token))
    barrier = operands.get("a")
    is_barrier_0 = barrier is not None and ir.constant(args[barrier]) == 0
    return Instruction(words, operands, is_barrier_0)
