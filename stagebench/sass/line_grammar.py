"""Which shapes can a line of ``nvdisasm -c -gi -gp`` have?  Anything else is refused.

nvdisasm's text has no nesting across lines and bounded nesting inside one (brackets hold sums,
braces hold lists), so that its grammar is regular.  It is written down here as regular expressions
that are built from named parts and must match whole lines.  A context-free parser adds nothing:
lark (LALR, contextual lexer) on the same operand grammar took 17 times as long.

Source: nvdisasm 13.2 on code for sm_80, sm_86, sm_89, sm_90a, sm_100a and sm_120a; CUDA Binary
Utilities, "nvdisasm".  Not handled: two instructions on a line in braces (Maxwell), ``-json``,
``-hex`` encodings on lines of their own, ``-plr`` columns.
"""

from __future__ import annotations

import re
from functools import lru_cache

_SYMBOL = r"[A-Za-z_.$][\w.$@]*"
_NAME = r"[A-Za-z_][\w.]*"
_NUMBER = r"(?:0x[0-9a-f]+|\d+\.?\d*(?:e[+-]?\d+)?)"
_SIGNS = r"[-+!~]{0,3}"
_TERM = rf"{_SIGNS}(?:{_NAME}|{_NUMBER})"
_ADDRESS = rf"\[{_TERM}(?:\+{_TERM})*\]"
_LABEL = rf"`\((?P<label>{_SYMBOL})\)"
_RELOCATED = r"\d+@(?:lo|hi)\(\(?[\w.$@+\- ]+\)?\)"
_OPERAND = re.compile(
    rf"{_LABEL}"
    rf"|{_RELOCATED}"
    rf"|{_SIGNS}\|{_NAME}(?:{_ADDRESS})*\|(?:\.\w+)*"  # absolute value: |R4|, |c[0x0][0x1d0]|
    rf"|{_SIGNS}{_NAME}(?:{_ADDRESS})+(?:\.\w+)*"  # c[0x0][0x28], gdesc[UR8].tnspB
    rf"|(?:{_ADDRESS})+(?:\.\w+)*"
    rf"|\{{{_TERM}(?:, ?{_TERM})*\}}"
    rf"|{_TERM}"
)
_SEPARATOR = re.compile(r"\s*,\s*|\s+")

BLANK = re.compile(r"\s*")
RULE = re.compile(r"//-{5,}\s+\S+\s+-{5,}")
DIRECTIVE = re.compile(r"\s+\.(?P<name>[a-z_]+)(?:\s+(?P<rest>\S.*))?")
LABEL = re.compile(rf"(?P<name>{_SYMBOL}):")
LINE_INFO = re.compile(
    r'\s*//## File "(?P<file>[^"]+)", line (?P<line>\d+)'
    r'(?: inlined at "(?P<at_file>[^"]+)", line (?P<at_line>\d+))?'
)
INSTRUCTION = re.compile(
    r"\s+/\*(?P<pc>[0-9a-f]{4,})\*/\s+"
    r"(?:@(?P<predicate>!?U?P(?:\d|T))\s+)?"
    r"(?P<opcode>[A-Z][A-Z0-9_]*(?:\.[A-Za-z0-9_]+)*)"
    r"(?:\s+(?P<operands>[^;\s][^;]*?))?"
    r'(?:\s+\(\*"(?P<annotation>[^"]*)"\*\))?'
    r"\s*;\s*"
)
SIZE_END = re.compile(rf"{_SYMBOL},\((?P<end>{_SYMBOL}) - {_SYMBOL}\)")

DIRECTIVES = frozenset(
    {
        "align",
        "elftype",
        "extern",
        "global",
        "headerflags",
        "local",
        "other",
        "section",
        "sectionentsize",
        "sectionflags",
        "sectioninfo",
        "size",
        "target",
        "type",
        "weak",
    }
)
"""Assembler directives that carry no code."""

PTX_FILE = ".nv_debug_ptx_txt"
"""The name under which ``.nv_debug_line_sass`` refers to the PTX (``nvdisasm -gp``)."""


@lru_cache(maxsize=65536)
def operands(text: str) -> tuple[str, ...] | None:
    """Split an operand list; ``None`` where a part of it is no operand that we know."""
    found: list[str] = []
    at = 0
    while True:
        operand = _OPERAND.match(text, at)
        if operand is None:
            return None
        found.append(operand[0])
        at = operand.end()
        if at == len(text):
            return tuple(found)
        separator = _SEPARATOR.match(text, at)
        if separator is None:
            return None
        at = separator.end()


def label_of(operand: str) -> str | None:
    """The label or symbol that an operand names: ``.L_x_1`` of `` `(.L_x_1) ``."""
    return operand[2:-1] if operand.startswith("`(") else None
