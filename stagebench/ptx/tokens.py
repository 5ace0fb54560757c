"""Into which tokens does a PTX text fall?  One regular expression, each token one letter.

A kind is a single character, so that the kinds of a statement are a string that can be a key:
``w`` word (opcode, register, symbol, label), ``d`` dotted word (``.reg``), ``i`` integer, ``f``
floating point, ``s`` string, ``S`` a whole debug section, ``A`` and ``Z`` the comments around
inline asm; punctuation is its own kind.  Source: PTX ISA 9.0, "Syntax" (identifiers, constants).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from stagebench.ptx.syntax_error import PtxSyntaxError

_TOKEN = re.compile(
    r"""
    (?P<skip>[ \t\r\n\f\v]+)
  | (?P<comment>//[^\n]*|/\*.*?\*/)
  | (?P<S>\.section[ \t]+\.?[\w.]+\s*\{[^{}]*\})
  | (?P<w>[A-Za-z_$%][\w$]*(?:(?:\.|::)\w+)*)
  | (?P<d>\.[A-Za-z_]\w*(?:(?:\.|::)\w+)*)
  | (?P<f>0[fF][0-9a-fA-F]{8}(?!\w)|0[dD][0-9a-fA-F]{16}(?!\w)
        |\d+\.\d*(?:[eE][-+]?\d+)?(?!\w)|\d+[eE][-+]?\d+(?!\w))
  | (?P<i>(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[0-7]*|[1-9]\d*)U?(?!\w))
  | (?P<s>"[^"\n]*")
  | (?P<p>[{}()\[\],;:@!|+\-<>=])
""",
    re.VERBOSE | re.DOTALL,
)
_ASM = re.compile(r"//\s*(begin|end) inline asm\s*\Z")
_SECTION_VALUE = r"[-+]?[\w$.]+(?:\s*[-+]\s*[\w$.]+)*"
_SECTION_LINE = re.compile(
    rf"""\s*(?:[A-Za-z_$%][\w$]*:\s*)?
    (?:\.b(?:8|16|32|64)\s+{_SECTION_VALUE}(?:\s*,\s*{_SECTION_VALUE})*)?
    \s*(?://.*)?\Z""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens of a text in order: their kinds as one string, their texts and offsets."""

    text: str
    kinds: str
    texts: list[str]
    starts: list[int]
    line_starts: list[int]

    def position(self, offset: int) -> tuple[int, int]:
        """The 1-based line and column of an offset."""
        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def line_end(self, start: int) -> int:
        """Index of the first token that is not on the line of token ``start``."""
        newline = self.text.find("\n", self.starts[start])
        limit = len(self.text) if newline < 0 else newline
        end = start + 1
        while end < len(self.starts) and self.starts[end] < limit:
            end += 1
        return end

    def error(self, reason: str, offset: int) -> PtxSyntaxError:
        """Name what is wrong at an offset."""
        return _error(self.text, self.line_starts, reason, offset)


def tokenise(text: str) -> Tokens:
    """Cut a text into tokens; raises `PtxSyntaxError` on a character that starts none."""
    line_starts = [0, *(match.end() for match in re.finditer("\n", text))]
    kinds: list[str] = []
    texts: list[str] = []
    starts: list[int] = []
    offset = 0
    scan = _TOKEN.match
    while offset < len(text):
        match = scan(text, offset)
        if match is None:
            raise _error(text, line_starts, "no token of PTX starts here", offset)
        kind = match.lastgroup
        if kind == "comment":
            marker = _ASM.match(match[0])
            kind = ("A" if marker[1] == "begin" else "Z") if marker else "skip"
        if kind != "skip":
            shown = match[0]
            kinds.append(shown if kind == "p" else str(kind))
            texts.append(shown)
            starts.append(offset)
            if kind == "S":
                _check_section(text, line_starts, offset, shown)
        offset = match.end()
    return Tokens(text, "".join(kinds), texts, starts, line_starts)


def _check_section(text: str, line_starts: list[int], offset: int, section: str) -> None:
    start = offset + section.index("{") + 1
    for line in section[section.index("{") + 1 : -1].split("\n"):
        if not _SECTION_LINE.match(line):
            raise _error(text, line_starts, "not a line of a debug section", start)
        start += len(line) + 1


def _error(text: str, line_starts: list[int], reason: str, offset: int) -> PtxSyntaxError:
    line = bisect_right(line_starts, min(offset, max(len(text) - 1, 0)))
    end = text.find("\n", line_starts[line - 1])
    shown = text[line_starts[line - 1] : len(text) if end < 0 else end]
    return PtxSyntaxError(reason, line=line, text=shown)
