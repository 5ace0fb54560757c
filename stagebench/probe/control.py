"""What does a kernel cost that can't be unrolled, but has no probes?  The control to compare with.

A clock read keeps ptxas from unrolling the loop around it.  So every loop with a probe gets
``.pragma "nounroll"``, here and in the text with probes; what that alone costs is base → control,
what the probes cost is control → probed.
Source: PTX ISA 9.0, "Pragma Strings", "nounroll": it stands in the loop's header block, before any
instruction.
"""

from __future__ import annotations

from stagebench.errors import UsageError
from stagebench.probe.line_insertion import Insertion, Lines, Rank
from stagebench.probe.waits import Waits, find_waits
from stagebench.ptx.read import read_module
from stagebench.ptx.records import Function

PRAGMA = '.pragma "nounroll";'


def control_text(ptx: str, kernel: str, ops: frozenset[str] | None = None) -> Lines:
    """The PTX of one kernel with its loops kept as they are, and no probe."""
    module = read_module(ptx)
    function = next((one for one in module.entries if one.name == kernel), None)
    if function is None or function.body_line is None:
        raise UsageError(f"the PTX has no kernel {kernel}")
    insertion = Insertion()
    put_pragmas(insertion, function, find_waits(module, function, ops))
    return insertion.apply(module.lines)


def put_pragmas(insertion: Insertion, function: Function, waits: Waits) -> None:
    """Put the pragma into the header of every loop that holds a wait, its own spin left out."""
    for header in sorted({loop.header for loop in waits.loops()}):
        first = waits.flow.blocks[header].first
        instruction = function.instructions[first]
        line = instruction.span.line
        if instruction.asm is not None:
            line = function.asm_blocks[instruction.asm].line
        labels = [one.span.line for one in function.labels if one.index == first]
        if line in labels:
            continue  # the label and its instruction share a line: nothing fits between
        insertion.before(line, Rank.PRAGMA, [PRAGMA])
