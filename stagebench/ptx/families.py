"""Which instructions that synchronise nothing are worth counting?  Loads, stores, atomics.

Source: PTX ISA 9.0, "Data Movement and Conversion Instructions", "State Spaces" (an access without
a state space is generic), "Vectors" and "Fundamental Types" for the width of an access.
"""

from __future__ import annotations

import re

from stagebench.ptx.records import Instruction

_SPACES = ("global", "shared", "local", "param", "const")
_ACCESS = ("ld", "ldu", "st", "atom", "red")
_WHOLE = frozenset(("ldmatrix", "stmatrix", "movmatrix", "shfl", "vote", "redux", "elect", "match"))
_VECTOR = re.compile(r"v([248])\Z")
_TYPE = re.compile(r"(?:[busf]|bf|e\dm\d)(\d+)(?:x(\d))?\Z")


def family(instruction: Instruction) -> str | None:
    """Return ``ld_global``, ``st_shared``, ``ldmatrix`` and the like; ``None``: none of them."""
    parts = instruction.parts
    head = parts[0]
    if head in _WHOLE:
        return head
    if head == "tcgen05" and parts[1:2] in (["ld"], ["st"], ["cp"]):
        return f"tcgen05_{parts[1]}"
    if head not in _ACCESS:
        return None
    bare = [part.partition("::")[0] for part in parts[1:]]
    space = next((part for part in bare if part in _SPACES), "generic")
    if space in ("param", "const"):
        return None
    return f"{'ld' if head == 'ldu' else head}_{space}"


def access_bytes(instruction: Instruction) -> int | None:
    """Bytes that one thread moves with a load or store; ``None``: not known from the opcode."""
    parts = instruction.parts
    if parts[0] not in _ACCESS:
        return None
    count = 1
    width: int | None = None
    for part in parts[1:]:
        vector = _VECTOR.match(part)
        kind = _TYPE.match(part)
        if vector is not None:
            count = int(vector[1])
        elif kind is not None:
            width = int(kind[1]) * int(kind[2] or 1)
    return None if width is None else count * width // 8
