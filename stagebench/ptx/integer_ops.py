"""What does an integer instruction compute?  On one value, or on one value for each thread.

A value is an ``int`` (unsigned, masked to its width), a ``bool``, or a numpy array of ``uint64`` or
``bool`` with one element a thread.  An operation that has no array form is applied element by
element.  Source: PTX ISA 9.0, "Integer Arithmetic Instructions", "Comparison and Selection
Instructions", "Logic and Shift Instructions", "Data Movement and Conversion Instructions: cvt".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Value = int | Array
"""``bool`` is an ``int``; what is not known is ``None`` and never comes here."""
Compute = Callable[..., "Value | None"]


def mask(value: Value, width: int) -> Value:
    """Reduce to ``width`` bits, unsigned."""
    if isinstance(value, np.ndarray):
        return value if width >= 64 else value & np.uint64((1 << width) - 1)
    return value & ((1 << width) - 1)


def signed(value: Value, width: int) -> Value:
    """Return the two's complement reading of ``width`` bits."""
    if isinstance(value, np.ndarray):
        wide: Array = (value << np.uint64(64 - width)).view(np.int64)
        found: Array = wide >> np.int64(64 - width)
        return found
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value


def unsigned(value: Value, width: int) -> Value:
    """Turn the result of signed arithmetic into ``width`` bits."""
    if isinstance(value, np.ndarray):
        return mask(value.view(np.uint64) if value.dtype == np.int64 else value, width)
    return value & ((1 << width) - 1)


def elementwise(compute: Compute) -> Compute:
    """Give an operation on integers its form on arrays; unknown for one thread is unknown."""

    def run(*values: Value) -> Value | None:
        size = next((len(one) for one in values if isinstance(one, np.ndarray)), None)
        if size is None:
            return compute(*values)
        columns = [one.tolist() if isinstance(one, np.ndarray) else [one] * size for one in values]
        found = [compute(*row) for row in zip(*columns, strict=True)]
        if any(one is None for one in found):
            return None
        kind = np.bool_ if isinstance(found[0], bool) else np.uint64
        return np.array(found, dtype=kind)

    return run


def arithmetic(parts: list[str], width: int, sign: bool) -> Compute | None:
    """Return what an opcode computes from its sources; ``None``: not one of ours."""
    makers = _MAKERS.get(parts[0])
    return None if makers is None else makers(parts, width, sign)


def _add(parts: list[str], width: int, sign: bool) -> Compute | None:
    del sign
    if {"cc", "sat"} & set(parts):
        return None
    if parts[0] == "sub":
        return lambda a, b: mask(a - b, width)
    return lambda a, b: mask(a + b, width)


def _product(parts: list[str], width: int, sign: bool) -> Callable[[Value, Value], Value]:
    """Multiply exactly enough; returns the part of the product that the opcode asks for."""
    if "wide" in parts:
        if sign:
            return lambda a, b: unsigned(signed(a, width) * signed(b, width), 2 * width)
        return lambda a, b: mask(a * b, 2 * width)
    if "hi" not in parts:
        return lambda a, b: mask(a * b, width)

    def high(a: Value, b: Value) -> Value:
        if sign:
            a, b = signed(a, width), signed(b, width)
        both: Any = a * b
        return unsigned(both >> width, width)

    if width < 64:
        return high

    def high_of_64(a: Value, b: Value) -> Value:
        found = elementwise(high)(a, b)
        return 0 if found is None else found

    return high_of_64


def _mul(parts: list[str], width: int, sign: bool) -> Compute | None:
    return _product(parts, width, sign)


def _mad(parts: list[str], width: int, sign: bool) -> Compute | None:
    if {"cc", "sat"} & set(parts):
        return None
    product = _product(parts, width, sign)
    wide = 2 * width if "wide" in parts else width
    return lambda a, b, c: mask(product(a, b) + mask(c, wide), wide)


def _div(parts: list[str], width: int, sign: bool) -> Compute | None:
    remainder = parts[0] == "rem"

    def compute(a: int, b: int) -> int | None:
        if sign:
            a, b = int(signed(a, width)), int(signed(b, width))
        if b == 0:
            return None
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return (a - b * quotient if remainder else quotient) & ((1 << width) - 1)

    return elementwise(compute)


def _extreme(parts: list[str], width: int, sign: bool) -> Compute | None:
    smaller = parts[0] == "min"
    if "relu" in parts or any(part.endswith("x2") for part in parts):
        return None

    def compute(a: Value, b: Value) -> Value:
        if sign:
            a, b = signed(a, width), signed(b, width)
        found: Value
        if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
            found = np.minimum(a, b) if smaller else np.maximum(a, b)
        else:
            found = min(a, b) if smaller else max(a, b)
        return unsigned(found, width)

    return compute


def _shift(parts: list[str], width: int, sign: bool) -> Compute | None:
    left = parts[0] == "shl"
    arithmetic_shift = sign and not left

    def compute(a: int, b: int) -> int:
        b = min(b & 0xFFFFFFFF, width)
        if left:
            return (a << b) & ((1 << width) - 1)
        return (int(signed(a, width)) >> b) & ((1 << width) - 1) if arithmetic_shift else a >> b

    slow = elementwise(compute)

    def run(a: Value, b: Value) -> Value | None:
        if not isinstance(a, np.ndarray) or isinstance(b, np.ndarray) or not 0 <= b < width:
            return slow(a, b)
        if left:
            return mask(a << np.uint64(b), width)
        if arithmetic_shift:
            return unsigned(np.asarray(signed(a, width)) >> np.int64(b), width)
        moved: Array = a >> np.uint64(b)
        return moved

    return run


def _logic(parts: list[str], width: int, sign: bool) -> Compute | None:
    del sign
    if parts[-1] == "pred":
        flags: dict[str, Compute] = {
            "and": lambda a, b: a & b,
            "or": lambda a, b: a | b,
            "xor": lambda a, b: a ^ b,
            "not": lambda a: np.logical_not(a) if isinstance(a, np.ndarray) else not a,
        }
        return flags[parts[0]]
    bits: dict[str, Compute] = {
        "and": lambda a, b: a & b,
        "or": lambda a, b: a | b,
        "xor": lambda a, b: a ^ b,
        "not": lambda a: (
            a ^ np.uint64((1 << width) - 1) if isinstance(a, np.ndarray) else a ^ ((1 << width) - 1)
        ),
    }
    return bits[parts[0]]


def _unary(parts: list[str], width: int, sign: bool) -> Compute | None:
    del sign
    limit = (1 << width) - 1
    head = parts[0]

    def compute(a: int) -> int | None:
        value = int(signed(a, width))
        found: dict[str, Callable[[], int]] = {
            "neg": lambda: -value & limit,
            "abs": lambda: abs(value) & limit,
            "cnot": lambda: int(a == 0),
            "clz": lambda: width - a.bit_length(),
            "popc": a.bit_count,
            "brev": lambda: int(f"{a:0{width}b}"[::-1], 2),
        }
        return found[head]()

    return elementwise(compute)


def _bfe(parts: list[str], width: int, sign: bool) -> Compute | None:
    del parts

    def compute(a: int, start: int, length: int) -> int:
        start, length = start & 0xFF, length & 0xFF
        limit = (1 << width) - 1
        if not sign or length == 0:
            return (a >> start) & ((1 << length) - 1) & limit
        value = int(signed(a, width)) >> start
        return int(signed(value & ((1 << length) - 1), length)) & limit

    return elementwise(compute)


def _bfi(parts: list[str], width: int, sign: bool) -> Compute | None:
    del parts, sign

    def compute(a: int, b: int, start: int, length: int) -> int:
        field = ((1 << (length & 0xFF)) - 1) << (start & 0xFF)
        limit = (1 << width) - 1
        return ((b & ~field) | ((a << (start & 0xFF)) & field)) & limit

    return elementwise(compute)


def _lop3(parts: list[str], width: int, sign: bool) -> Compute | None:
    del sign
    if len(parts) > 2:  # lop3.or.b32 d|p
        return None

    def compute(a: int, b: int, c: int, table: int) -> int:
        found = 0
        for row in range(8):
            if table >> row & 1:
                x = a if row & 4 else ~a
                y = b if row & 2 else ~b
                z = c if row & 1 else ~c
                found |= x & y & z
        return found & ((1 << width) - 1)

    return elementwise(compute)


def _shf(parts: list[str], width: int, sign: bool) -> Compute | None:
    del width, sign
    left, clamp = "l" in parts, "clamp" in parts

    def compute(low: int, high: int, amount: int) -> int:
        amount = min(amount, 32) if clamp else amount & 31
        both = high << 32 | low
        return (both << amount >> 32 if left else both >> amount) & 0xFFFFFFFF

    return elementwise(compute)


def _prmt(parts: list[str], width: int, sign: bool) -> Compute | None:
    del width, sign
    if len(parts) > 2:
        return None

    def compute(a: int, b: int, control: int) -> int:
        both = (b << 32 | a).to_bytes(8, "little")
        found = 0
        for position in range(4):
            selector = control >> (4 * position) & 0xF
            byte = both[selector & 7]
            if selector & 8:
                byte = 0xFF if byte & 0x80 else 0
            found |= byte << (8 * position)
        return found

    return elementwise(compute)


_MAKERS: dict[str, Callable[[list[str], int, bool], Compute | None]] = {
    "add": _add, "sub": _add, "mul": _mul, "mad": _mad, "div": _div, "rem": _div,
    "min": _extreme, "max": _extreme, "shl": _shift, "shr": _shift,
    "and": _logic, "or": _logic, "xor": _logic, "not": _logic,
    "neg": _unary, "abs": _unary, "cnot": _unary, "clz": _unary, "popc": _unary, "brev": _unary,
    "bfe": _bfe, "bfi": _bfi, "lop3": _lop3, "shf": _shf, "prmt": _prmt,
}  # fmt: skip

_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "lo": lambda a, b: a < b,
    "ls": lambda a, b: a <= b,
    "hi": lambda a, b: a > b,
    "hs": lambda a, b: a >= b,
}


def comparison(name: str, width: int, sign: bool) -> Compute | None:
    """Compare as ``setp`` does; ``None``: a comparison of floating point."""
    compare = _COMPARE.get(name)
    if compare is None:
        return None
    if not sign:
        return lambda a, b: compare(mask(a, width), mask(b, width))
    return lambda a, b: compare(signed(a, width), signed(b, width))


def conversion(target: str, source: str, *, saturate: bool) -> Compute | None:
    """Convert between integer types; ``None``: one of them is not an integer."""
    if target[0] not in "usb" or source[0] not in "usb":
        return None
    to_width, from_width = int(target[1:]), int(source[1:])
    if saturate:
        low = -(1 << (to_width - 1)) if target[0] == "s" else 0
        high = (1 << (to_width - (target[0] == "s"))) - 1

        def clamp(a: int) -> int:
            value = int(signed(a, from_width)) if source[0] == "s" else a
            return min(max(value, low), high) & ((1 << to_width) - 1)

        return elementwise(clamp)
    if source[0] == "s":
        return lambda a: unsigned(signed(a, from_width), to_width)
    return lambda a: mask(mask(a, from_width), to_width)
