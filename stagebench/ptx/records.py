"""What is a PTX module made of?  Frozen records; every line and column is 1-based.

Line numbers are those of the text as it was read, so that a tool may insert lines between them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True, slots=True)
class Name:
    """A register, special register (``%tid.x``), symbol, label or ``_``."""

    text: str


@dataclass(frozen=True, slots=True)
class Negated:
    """``!%p1``: the negation of a predicate operand."""

    name: Name


@dataclass(frozen=True, slots=True)
class Integer:
    """An integer literal with its sign; ``0x``, ``0b``, octal and ``U`` are read."""

    value: int


@dataclass(frozen=True, slots=True)
class Real:
    """A floating-point literal as it is written (``0f3F800000``, ``0.5``)."""

    text: str


@dataclass(frozen=True, slots=True)
class Offset:
    """``symbol+8`` outside brackets, or ``array[8]`` (the index is in elements)."""

    name: Name
    value: int


@dataclass(frozen=True, slots=True)
class Vector:
    """``{%r1, %r2}``."""

    items: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Address:
    """``[base+8]``; ``items`` are what follows the base: TMA coordinates, samplers."""

    base: Operand
    items: tuple[Operand, ...] = ()


@dataclass(frozen=True, slots=True)
class Pair:
    """``%r1|%p1``: two destinations."""

    first: Operand
    second: Operand


@dataclass(frozen=True, slots=True)
class Arguments:
    """``(param0, param1)`` of a call."""

    items: tuple[Operand, ...]


Operand = Name | Negated | Integer | Real | Offset | Vector | Address | Pair | Arguments


@dataclass(frozen=True, slots=True)
class Span:
    """Where a statement stands: from its first character to its last, both inclusive."""

    line: int
    column: int
    last_line: int
    last_column: int


@dataclass(frozen=True, slots=True)
class Location:
    """A ``.loc``: file index, line and column; where it was inlined into (PTX ISA, ".loc").

    ``above`` is the ``.loc`` of that place where it stands directly before.
    """

    file: int
    line: int
    column: int
    function: str | None = None
    inlined_at: tuple[int, int, int] | None = None
    above: Location | None = None

    @property
    def place(self) -> tuple[int, int, int]:
        """File index, line and column."""
        return self.file, self.line, self.column


@dataclass(frozen=True, slots=True)
class Guard:
    """``@%p1`` or ``@!%p1``."""

    register: str
    negated: bool


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction statement.

    ``opcode`` is whole, with its modifiers; ``scope`` indexes `Function.scopes`; ``location`` is
    the ``.loc`` in force; ``asm`` indexes `Function.asm_blocks` (``None``: not in inline asm).
    """

    opcode: str
    guard: Guard | None
    operands: tuple[Operand, ...]
    span: Span
    scope: int
    location: Location | None
    asm: int | None

    @property
    def parts(self) -> list[str]:
        """The opcode's components."""
        return self.opcode.split(".")

    @property
    def head(self) -> str:
        """The opcode's first component."""
        return self.opcode.partition(".")[0]


@dataclass(frozen=True, slots=True)
class Label:
    """A label; ``index`` is that of the instruction it stands before (one past the last: end)."""

    name: str
    span: Span
    scope: int
    index: int


@dataclass(frozen=True, slots=True)
class AsmBlock:
    """``// begin inline asm`` to ``// end inline asm``: one unit for anyone who inserts lines.

    ``line`` and ``last_line`` are those of the two comments; ``first`` and ``end`` the half-open
    range of its instructions.
    """

    line: int
    last_line: int
    first: int
    end: int


@dataclass(frozen=True, slots=True)
class Variable:
    """A declaration: ``qualifiers`` as written (``.shared``, ``.align 16``, ``.b8``).

    ``count`` is that of ``%p<55>``; ``shape`` the array extents (``None``: open).
    """

    name: str
    qualifiers: tuple[str, ...]
    count: int | None
    shape: tuple[int | None, ...]
    line: int

    @property
    def bits(self) -> int | None:
        """Width of one element, from its type; ``None``: it has none (``.pred``, ``.texref``)."""
        for qualifier in self.qualifiers:
            kind, digits = qualifier[1:2], qualifier[2:]
            if kind in ("b", "s", "u", "f") and digits.isdigit():
                return int(digits)
        return None


@dataclass(frozen=True, slots=True)
class Scope:
    """A ``{ … }`` of a body, or the body itself (``parent`` is ``None``); names are local to it."""

    parent: int | None
    variables: tuple[Variable, ...]
    labels: dict[str, int]
    targets: dict[str, tuple[str, ...]]
    """``.branchtargets`` and ``.calltargets`` by their label."""


@dataclass(frozen=True)
class Function:
    """An ``.entry`` or ``.func``.

    ``line`` is where its header starts; ``body_line`` and ``body_last_line`` hold its braces
    (``None``: a declaration).  ``directives`` are performance-tuning directives with their values.
    ``by_hand``: people wrote its source, inlined functions too (`stagebench.ptx.source_frames`).
    """

    name: str
    kind: str
    linking: tuple[str, ...]
    params: tuple[Variable, ...]
    returns: tuple[Variable, ...]
    directives: dict[str, tuple[int, ...]]
    line: int
    body_line: int | None
    body_last_line: int | None
    instructions: tuple[Instruction, ...] = ()
    labels: tuple[Label, ...] = ()
    scopes: tuple[Scope, ...] = ()
    asm_blocks: tuple[AsmBlock, ...] = ()
    locations: tuple[Location, ...] = ()
    pragmas: tuple[tuple[int, str], ...] = ()
    by_hand: bool = False

    def scope_chain(self, scope: int | None) -> Iterator[tuple[int, Scope]]:
        """From a scope outwards to the body."""
        while scope is not None:
            found = self.scopes[scope]
            yield scope, found
            scope = found.parent

    def find_label(self, name: str, scope: int) -> int | None:
        """Index of the instruction that a label names, seen from a scope."""
        for _, found in self.scope_chain(scope):
            if name in found.labels:
                return found.labels[name]
        return None

    def find_targets(self, name: str, scope: int) -> tuple[str, ...] | None:
        """Look up a list of branch targets, seen from a scope."""
        for _, found in self.scope_chain(scope):
            if name in found.targets:
                return found.targets[name]
        return None

    def find_register(self, name: str, scope: int) -> tuple[int, str] | None:
        """Where a register is declared: its scope's index and its name there."""
        for index, _ in self.scope_chain(scope):
            if self._declares(index, name):
                return index, name
        return None

    def _declares(self, scope: int, name: str) -> bool:
        names, families = self._registers[scope]
        if name in names:
            return True
        stem = name.rstrip("0123456789")
        digits = name[len(stem) :]
        return bool(digits) and int(digits) < families.get(stem, 0)

    @cached_property
    def _registers(self) -> list[tuple[set[str], dict[str, int]]]:
        found = []
        for scope in self.scopes:
            registers = [one for one in scope.variables if ".reg" in one.qualifiers]
            names = {one.name for one in registers if one.count is None}
            families = {one.name: one.count for one in registers if one.count is not None}
            found.append((names, families))
        return found


@dataclass(frozen=True)
class Module:
    """A PTX text; ``lines`` are its physical lines, without their ends."""

    lines: tuple[str, ...]
    version: str | None
    targets: tuple[str, ...]
    address_size: int | None
    files: dict[int, str]
    variables: tuple[Variable, ...]
    functions: tuple[Function, ...]
    unknown_opcodes: tuple[str, ...] = field(default=())

    @property
    def entries(self) -> tuple[Function, ...]:
        """The kernels, in the order of the text."""
        return tuple(one for one in self.functions if one.kind == "entry")
