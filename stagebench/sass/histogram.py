"""Of which instructions does the machine code consist?  How often each opcode head stands in it."""

from __future__ import annotations

from collections import Counter

from stagebench.sass.program import SassFunction


def opcode_histogram(function: SassFunction) -> dict[str, int]:
    """Static instructions by opcode head, sorted by head; padding (``NOP``) is counted as well."""
    counts = Counter(instruction.head for instruction in function.instructions)
    return dict(sorted(counts.items()))
