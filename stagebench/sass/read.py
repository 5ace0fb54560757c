"""Which instructions does a kernel consist of, and from which lines?  Read nvdisasm's text.

Fails closed: a line of a shape that we don't know, an address that doesn't follow the one before
it, a branch to a label that isn't there, a section that ends before its ``.size`` label: each
raises `SassSyntaxError` with line and text.  So no instruction is dropped in silence.  An opcode
that is in no table of ours is kept, and its head is listed.

Line comments stay in force until the next one of the same kind: the PTX line (``-gp``) and the CUDA
inline chain (``-gi``, innermost frame first) change independently of each other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from stagebench.errors import StagebenchError
from stagebench.sass import line_grammar
from stagebench.sass.opcodes import KNOWN_HEADS
from stagebench.sass.program import INSTRUCTION_BYTES, Instruction, SassFunction, SourceLine

_MAX_EXCERPT_CHARS = 120
_TARGET = re.compile(r"(sm_\d+[af]?)")


class SassSyntaxError(StagebenchError):
    """The text isn't nvdisasm's, is damaged, or has a shape that the reader doesn't know."""


@dataclass
class _Section:
    """What has been read of the section that was asked for."""

    instructions: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    ends: list[tuple[str, int, str]] = field(default_factory=list)
    ptx_line: int | None = None
    chain: tuple[SourceLine, ...] = ()
    new_chain: list[SourceLine] = field(default_factory=list)


def read_sass(text: str, function: str) -> SassFunction:
    """Read the section of ``function``.  Other sections are recognised and left out."""
    wanted = f".text.{function}"
    section: _Section | None = None
    inside = False
    arch = None
    others: list[str] = []
    for number, line in enumerate(text.split("\n"), start=1):
        directive = line_grammar.DIRECTIVE.fullmatch(line)
        name, rest = (directive["name"], directive["rest"] or "") if directive else (None, "")
        if name == "target":
            target = _TARGET.match(rest)
            if target is None:
                raise _error(number, line, "a target that isn't an arch")
            arch = target[1]
        elif name == "section":
            title = rest.split(",", 1)[0]
            others.append(title)
            inside = title == wanted
            if inside and section is not None:
                raise _error(number, line, "a second section of the same name")
            section = _Section() if inside else section
        elif inside and section is not None:
            _read_line(section, number, line)
        elif line.startswith("        /*") and not others:
            raise _error(number, line, "an instruction before the first section")
    if section is None or arch is None:
        found = ", ".join(title for title in others if title.startswith(".text.")) or "none"
        missing = "no target" if arch is None else f"no section {wanted}"
        raise SassSyntaxError(
            f"{missing} in the disassembly (code sections: {found})",
            hint="disassemble with `nvdisasm -c -gi -gp`",
        )
    return _finish(section, function, arch)


def _read_line(section: _Section, number: int, line: str) -> None:
    info = line_grammar.LINE_INFO.fullmatch(line)
    if info is not None:
        _read_line_info(section, info)
        return
    if section.new_chain:
        section.chain = tuple(section.new_chain)
        section.new_chain = []
    instruction = line_grammar.INSTRUCTION.fullmatch(line)
    if instruction is not None:
        section.instructions.append(_instruction(section, number, line, instruction))
        return
    label = line_grammar.LABEL.fullmatch(line)
    if label is not None:
        if label["name"] in section.labels:
            raise _error(number, line, "a label that stands twice")
        section.labels[label["name"]] = len(section.instructions)
        return
    directive = line_grammar.DIRECTIVE.fullmatch(line)
    if directive is not None and directive["name"] in line_grammar.DIRECTIVES:
        end = line_grammar.SIZE_END.fullmatch(directive["rest"] or "")
        if directive["name"] == "size" and end is not None:
            section.ends.append((end["end"], number, line))
        return
    if line_grammar.BLANK.fullmatch(line) is None and line_grammar.RULE.fullmatch(line) is None:
        raise _error(number, line, "not a shape that nvdisasm is known to print")


def _read_line_info(section: _Section, info: re.Match[str]) -> None:
    place = SourceLine(file=info["file"], line=int(info["line"]))
    if place.file.startswith(line_grammar.PTX_FILE):
        section.ptx_line = place.line
    else:
        section.new_chain.append(place)


def _instruction(section: _Section, number: int, line: str, found: re.Match[str]) -> Instruction:
    index = len(section.instructions)
    pc = int(found["pc"], 16)
    if pc != index * INSTRUCTION_BYTES:
        raise _error(number, line, f"address {index * INSTRUCTION_BYTES:#06x} is missing before")
    operands = line_grammar.operands(found["operands"]) if found["operands"] else ()
    if operands is None:
        raise _error(number, line, "an operand of unknown shape")
    return Instruction(
        index=index,
        pc=pc,
        predicate=found["predicate"],
        opcode=found["opcode"],
        operands=operands,
        ptx_line=section.ptx_line,
        inline_chain=section.chain,
        text_line=number,
    )


def _finish(section: _Section, function: str, arch: str) -> SassFunction:
    for end, number, line in section.ends:
        if end not in section.labels:
            raise _error(number, line, f"the section ends before {end}")
    if not section.ends or not section.instructions:
        raise SassSyntaxError(f"section .text.{function} has no `.size` or no instruction")
    for instruction in section.instructions:
        for operand in instruction.operands:
            label = line_grammar.label_of(operand)
            if label is not None and label.startswith(".L") and label not in section.labels:
                raise SassSyntaxError(
                    f"line {instruction.text_line}: {instruction.opcode} goes to {label},"
                    " which isn't in the section"
                )
    heads = {instruction.head for instruction in section.instructions}
    return SassFunction(
        name=function,
        arch=arch,
        instructions=tuple(section.instructions),
        labels=section.labels,
        unknown_opcodes=tuple(sorted(heads - KNOWN_HEADS)),
    )


def _error(number: int, line: str, what: str) -> SassSyntaxError:
    excerpt = line.strip()[:_MAX_EXCERPT_CHARS]
    return SassSyntaxError(f"line {number}: {what}: {excerpt!r}")
