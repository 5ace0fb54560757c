"""In which order do people read sync ops?"""

from __future__ import annotations

from stagebench.model.facts import SYNC_OPS


def sync_rank(op: str) -> tuple[bool, int, str]:
    """Sort key: the taxonomy in its order, then ops of machine code alone, unknown ones last."""
    known = SYNC_OPS.index(op) if op in SYNC_OPS else len(SYNC_OPS)
    return (op.startswith("unknown:"), known, op)
