"""What are the tokens of each line of this text?  C, C++ and CUDA, and TVMScript.

One compiled expression per language reads the whole text, so that comments and strings that span
lines are read as what they are; every character ends up in exactly one token of one line.  Nothing
is refused: what is no token of the language is an operator of one character.  A text need not
parse, and need not be whole.

Why not pygments or tree-sitter's leaves here: both are 10 to 20 times slower per token, and
tree-sitter refuses what it can't parse (`tests/diffing/text/test_tokens.py` checks this lexer
against tree-sitter's leaves).

Not handled: trigraphs, and a token that a backslash at a line's end splits in two.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

Language = Literal["cuda", "tvmscript"]

Kind = Literal["blank", "comment", "name", "number", "string", "operator"]


@dataclass(frozen=True, slots=True)
class TokenLine:
    """One physical line: ``number`` is 1-based, ``text`` as it was without its line feed.

    ``words`` joined are ``text``; ``kinds`` says what each is.  ``directive`` is true for a
    preprocessor line and for the lines that continue it.
    """

    number: int
    text: str
    words: tuple[str, ...]
    kinds: tuple[Kind, ...]
    directive: bool


_STRINGS = r""""(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?"""
_CUDA = (
    r"""[ \t\r\f\v]+|\n|//(?:[^\\\n]|\\(?s:.))*|/\*(?s:.)*?(?:\*/|\Z)%s|(?:u8|[uUL])?(?:{})|\
[^\W\d][\w$]*|\.?\d(?:[eEpP][+-]|'?[\w.])*|<<<|>>>|<<=|>>=|<=>|\.\.\.|->|::|\+\+|--|<<|>>|<=|>=|==|\
!=|&&|\|\||[-+*/%%&|^]=|\#\#|.""".replace("\\\n", "")
    .replace("\\#", "#")
    .format(_STRINGS)
)
_RAW_STRING = r'|(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\((?s:.)*?\)(?P=mark)"'
_CUDA_TOKEN = re.compile(_CUDA % "")
_CUDA_TOKEN_RAW = re.compile(_CUDA % _RAW_STRING)
_SCRIPT_TOKEN = re.compile(
    r'[ \t\r\f\v]+|\n|#[^\n]*|[rbfuRBFU]{0,2}(?:"""(?s:.)*?(?:"""|\Z)|'
    r"'''(?s:.)*?(?:'''|\Z)|" + _STRINGS + r")|[^\W\d]\w*|\.?\d(?:[eE][+-]|[\w.])*"
    r"|->|:=|\*\*=?|//=?|<<=?|>>=?|<=|>=|==|!=|[-+*/%&|^@]=|\.\.\.|."
)


def lex(text: str, language: Language) -> list[TokenLine]:
    """Every line of ``text`` as tokens; a last line without a line feed is a line too."""
    if language == "tvmscript":
        words, kinds = _SCRIPT_TOKEN.findall(text), _Kinds("#")
    elif 'R"' in text:
        words = [found.group() for found in _CUDA_TOKEN_RAW.finditer(text)]
        kinds = _Kinds("/")
    else:
        words, kinds = _CUDA_TOKEN.findall(text), _Kinds("/")
    lines = _split(words, kinds, directives=language == "cuda")
    if text[:1] == _BYTE_ORDER_MARK:  # at the start of a text it is no character of the program
        lines[0] = replace(lines[0], kinds=("blank", *lines[0].kinds[1:]))
    return lines


_BYTE_ORDER_MARK = "\ufeff"


class _Kinds(dict[str, Kind]):
    """The kind of a word by its first characters, remembered."""

    def __init__(self, comment: str) -> None:
        super().__init__()
        self._comment = comment

    def __missing__(self, word: str) -> Kind:
        kind = self[word] = self._classify(word)
        return kind

    def _classify(self, word: str) -> Kind:
        first = word[0]
        if first in " \t\r\f\v":
            return "blank"
        if first == self._comment and (first == "#" or word[1:2] in ("/", "*")):
            return "comment"
        if word[-1] in "\"'" or first in "\"'":
            return "string"
        if first.isalpha() or first == "_":
            return "name"
        if first.isdigit() or (first == "." and word[1:2].isdigit()):
            return "number"
        return "operator"


def _split(words: Sequence[str], kinds: _Kinds, *, directives: bool) -> list[TokenLine]:
    lines: list[TokenLine] = []
    start = 0
    carried: list[tuple[str, Kind]] = []
    continued = False
    words = [*words, ""]
    for index, word in enumerate(words):
        if word and "\n" not in word:
            continue
        of_line = tuple(words[start:index])
        of_kinds = tuple([kinds[each] for each in of_line])
        if carried:
            of_line = (carried[0][0], *of_line)
            of_kinds = (carried[0][1], *of_kinds)
            carried = []
        start = index + 1
        if not word and not of_line:
            break  # the text ended in a line feed
        if len(word) > 1:  # a comment or string that spans lines: a piece of it on each
            kind = kinds[word]
            first, *middle, last = word.split("\n")
            pieces = [(*of_line, first), *((piece,) for piece in middle)]
            piece_kinds = [(*of_kinds, kind)] + [(kind,)] * len(middle)
            carried = [(last, kind)] if last else []
        else:
            pieces, piece_kinds = [of_line], [of_kinds]
        for piece, piece_kind in zip(pieces, piece_kinds, strict=True):
            directive = directives and (continued or _opens_directive(piece, piece_kind))
            lines.append(TokenLine(len(lines) + 1, "".join(piece), piece, piece_kind, directive))
            continued = directive and "".join(piece[-2:]).rstrip().endswith("\\")
    return lines


def _opens_directive(words: Sequence[str], kinds: Sequence[Kind]) -> bool:
    """Is the first word a ``#``?  A piece of a string that begins with one is text."""
    for word, kind in zip(words, kinds, strict=True):
        if kind not in ("blank", "comment") and word != _BYTE_ORDER_MARK:
            return kind == "operator" and word[:1] == "#"
    return False
