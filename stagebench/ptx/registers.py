"""Which slot of the walk is a register, and how is an operand's value found?

Registers are resolved in their scopes: the same name in two inline-asm blocks is two slots.
Addresses of symbols and of kernel parameters are made up (distinct, aligned to 4096 bytes, never
zero); no control flow of a compiler depends on more than that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from stagebench.ptx.integer_ops import Value
from stagebench.ptx.predicates import negated
from stagebench.ptx.records import (
    Address,
    Arguments,
    Function,
    Integer,
    Name,
    Negated,
    Offset,
    Operand,
    Pair,
    Real,
    Vector,
)
from stagebench.ptx.thread_class import ThreadClass

Getter = Callable[[ThreadClass], "Value | None"]
_SYMBOLS = 1 << 44
_SYMBOL_STEP = 1 << 24


class Registers:
    """Slots of one function's registers, and made-up addresses of what it names."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.slots: dict[tuple[int, str], int] = {}
        self.symbols: dict[str, int] = {}

    def slot(self, name: str, scope: int) -> int | None:
        """Slot of a register, seen from a scope; ``None``: no such register is declared."""
        found = self.function.find_register(name, scope)
        if found is None:
            return None
        return self.slots.setdefault(found, len(self.slots))

    def slots_in(self, operands: Sequence[Operand], scope: int) -> list[int]:
        """Slots of all registers that operands name."""
        slots = (self.slot(name, scope) for operand in operands for name in names_in(operand))
        return [slot for slot in slots if slot is not None]

    def symbol(self, name: str) -> int:
        """Made-up address of a variable or of a kernel parameter."""
        return self.symbols.setdefault(name, _SYMBOLS + _SYMBOL_STEP * (len(self.symbols) + 1))

    def symbol_at(self, address: int) -> str | None:
        """Name whose made-up address this is."""
        return next((name for name, at in self.symbols.items() if at == address), None)

    def getter(self, operand: Operand, scope: int) -> Getter:
        """Return a function from a class of threads to the operand's value."""
        if isinstance(operand, Integer):
            number = operand.value
            return _always(number)
        if isinstance(operand, Negated):
            inner = self.getter(operand.name, scope)
            return lambda state: negated(inner(state))
        if isinstance(operand, Offset) and self.slot(operand.name.text, scope) is None:
            address = self.symbol(operand.name.text) + operand.value
            return _always(address)
        if isinstance(operand, Name):
            return self._named(operand.text, scope)
        return _always(None)

    @staticmethod
    def constant(value: int) -> Getter:
        """Return a getter of a constant."""
        return _always(value)

    def _named(self, name: str, scope: int) -> Getter:
        slot = self.slot(name, scope)
        if slot is not None:
            at = slot
            return lambda state: state.registers[at]
        if name.startswith("%") or name == "WARP_SZ":
            return lambda state: state.special(name)
        if name == "_":
            return _always(None)
        address = self.symbol(name)
        return _always(address)


def _always(value: int | None) -> Getter:
    def get(state: ThreadClass) -> int | None:
        del state
        return value

    return get


def names_in(operand: Operand) -> Iterator[str]:
    """Every name in an operand."""
    if isinstance(operand, Name):
        yield operand.text
    elif isinstance(operand, Negated | Offset):
        yield operand.name.text
    elif isinstance(operand, Vector | Arguments):
        for item in operand.items:
            yield from names_in(item)
    elif isinstance(operand, Address):
        yield from names_in(operand.base)
        for item in operand.items:
            yield from names_in(item)
    elif isinstance(operand, Pair):
        yield from names_in(operand.first)
        yield from names_in(operand.second)
    else:
        assert isinstance(operand, Integer | Real)  # noqa: S101 - the union is closed
