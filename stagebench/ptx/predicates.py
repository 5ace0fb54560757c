"""What is known of a predicate, or of a choice by one, where operands may be unknown?

A predicate is a ``bool``, an array of ``bool`` with one element a thread, or ``None``: not known.
"""

from __future__ import annotations

import numpy as np

from stagebench.ptx.integer_ops import Value


def is_flag(value: Value | None) -> bool:
    """Whether a value is a predicate's."""
    return isinstance(value, bool) or (isinstance(value, np.ndarray) and value.dtype == np.bool_)


def negated(flag: Value | None) -> Value | None:
    """The opposite predicate."""
    if flag is None:
        return None
    return ~flag if isinstance(flag, np.ndarray) else not flag


def combined(how: str, flag: Value | None, other: Value | None) -> Value | None:
    """``and``, ``or`` or ``xor`` of two predicates, one of which may settle it alone."""
    settles = {"and": False, "or": True}.get(how)
    for one in (flag, other):
        if settles is not None and isinstance(one, bool) and one is settles:
            return settles
    if flag is None or other is None:
        return None
    return {"and": flag & other, "or": flag | other, "xor": flag ^ other}[how]


def choose(flag: Value, yes: Value | None, no: Value | None) -> Value | None:
    """Select by a known predicate, for each thread where it differs."""
    if not isinstance(flag, np.ndarray):
        return yes if flag else no
    if yes is None or no is None:
        return None
    kind = np.bool_ if is_flag(yes) and is_flag(no) else np.uint64
    return np.where(flag, np.asarray(yes, dtype=kind), np.asarray(no, dtype=kind))
