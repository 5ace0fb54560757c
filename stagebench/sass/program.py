"""What is in a kernel's machine code?  The records that the SASS reader fills."""

from __future__ import annotations

from dataclasses import dataclass

INSTRUCTION_BYTES = 16
"""Since Volta an instruction is 128 bits (the addresses that nvdisasm prints)."""


@dataclass(frozen=True)
class SourceLine:
    """A 1-based line of a source file, as ``.debug_line`` names the file."""

    file: str
    line: int


@dataclass(frozen=True)
class Instruction:
    """One machine instruction.

    ``index`` is its place in the function (0-based), ``pc`` its byte address in the section.
    ``predicate`` is the guard without ``@`` (``!P0``).  ``inline_chain`` holds the CUDA lines that
    it stands for, innermost frame first; ``ptx_line`` is the 1-based physical line of the PTX.
    """

    index: int
    pc: int
    predicate: str | None
    opcode: str
    operands: tuple[str, ...]
    ptx_line: int | None
    inline_chain: tuple[SourceLine, ...]
    text_line: int

    @property
    def head(self) -> str:
        """The opcode without its modifiers: ``SYNCS`` of ``SYNCS.ARRIVE.TRANS64``."""
        return self.opcode.split(".", 1)[0]

    @property
    def modifiers(self) -> tuple[str, ...]:
        """What follows the head: ``("ARRIVE", "TRANS64")`` of ``SYNCS.ARRIVE.TRANS64``."""
        return tuple(self.opcode.split(".")[1:])

    @property
    def cuda_line(self) -> int | None:
        """The line of the outermost frame: the kernel's own source, not a header's."""
        return self.inline_chain[-1].line if self.inline_chain else None


@dataclass(frozen=True)
class SassFunction:
    """One ``.text.NAME`` section: the kernel and the subroutines that were put behind it.

    ``labels`` maps a label to the index of the instruction that it stands before (the number of
    instructions for one at the end).  ``unknown_opcodes`` are opcode heads in no table of ours,
    sorted.
    """

    name: str
    arch: str
    instructions: tuple[Instruction, ...]
    labels: dict[str, int]
    unknown_opcodes: tuple[str, ...]

    @property
    def code_bytes(self) -> int:
        """The size of the section's code, padding included."""
        return len(self.instructions) * INSTRUCTION_BYTES
