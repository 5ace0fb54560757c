"""How is a PTX statement built?  A grammar over kinds of tokens, parsed once for each shape.

Lark reads a statement in a fraction of a millisecond, too slow for a module of 5,000 of them.  So
the grammar reads *kinds* (`stagebench.ptx.tokens`): ``add.s32 %r1, %r2, 8`` has the shape
``ww,w,i``, and a module has a few hundred shapes.  What comes back for a shape is a tree whose
leaves are token positions; `stagebench.ptx.statements` fills in the texts.
Source: PTX ISA 9.0, "Syntax", "Operands", "State Spaces, Types, and Variables", "Directives".
Not handled: constant expressions other than ``symbol+offset``; ``.attribute`` of functions.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache

from lark import Lark, Token, Tree
from lark.common import LexerConf
from lark.exceptions import LarkError
from lark.lexer import Lexer

_NAMES = {
    "w": "WORD", "d": "DOTTED", "i": "INT", "f": "FLOAT", "s": "STRING",
    "{": "_LBRACE", "}": "_RBRACE", "(": "_LPAR", ")": "_RPAR", "[": "_LSQB", "]": "_RSQB",
    ",": "_COMMA", ":": "_COLON", "@": "_AT", "!": "_BANG", "|": "_BAR", "+": "_PLUS",
    "-": "_MINUS", "<": "_LESS", ">": "_MORE", "=": "_EQUAL",
}  # fmt: skip

_GRAMMAR = """
instruction: guard? opcode (operand (_COMMA operand)*)?
guard: _AT WORD | _AT _BANG WORD -> guard_not
opcode: WORD DOTTED*
?operand: value | pair | vector | address | arguments
pair: value _BAR value
vector: _LBRACE operand (_COMMA operand)* _RBRACE
address: _LSQB value (_COMMA operand)* _RSQB
arguments: _LPAR (operand (_COMMA operand)*)? _RPAR
?value: WORD -> name
    | _BANG WORD -> negated
    | _signed
    | FLOAT -> real
    | _MINUS FLOAT -> minus_real
    | WORD (_PLUS _signed | minus)+ -> offset
    | WORD _LSQB INT _RSQB -> element
_signed: plus | minus
plus: INT
minus: _MINUS INT

variable: _qualifier+ declarator (_COMMA declarator)*
_qualifier: qualifier | attribute
qualifier: DOTTED INT?
attribute: DOTTED _LPAR (DOTTED | INT | WORD) (_COMMA (DOTTED | INT | WORD))* _RPAR
declarator: WORD family? extent* (_EQUAL _initial)?
family: _LESS INT _MORE
extent: _LSQB INT? _RSQB
_initial: _LBRACE (_initial (_COMMA _initial)*)? _RBRACE | value | STRING
    | (INT | WORD) _LPAR value _RPAR

header: linking returns? WORD params? performance*
linking: DOTTED+
returns: _parameters
params: _parameters
_parameters: _LPAR (parameter (_COMMA parameter)*)? _RPAR
parameter: qualifier+ declarator
performance: DOTTED (INT (_COMMA INT)*)?

targets: DOTTED WORD (_COMMA WORD)*
pragma: DOTTED STRING (_COMMA STRING)*
version: DOTTED FLOAT
target: DOTTED WORD (_COMMA WORD)*
address_size: DOTTED INT
file: DOTTED INT STRING (_COMMA INT _COMMA INT)?
loc: DOTTED INT INT INT (_COMMA WORD WORD (_PLUS INT)? _COMMA WORD inlined_at)?
inlined_at: INT INT INT
%declare WORD DOTTED INT FLOAT STRING _LBRACE _RBRACE _LPAR _RPAR _LSQB _RSQB _COMMA _COLON
%declare _AT _BANG _BAR _PLUS _MINUS _LESS _MORE _EQUAL
"""
STARTS = (
    "instruction", "variable", "header", "targets", "pragma", "version", "target",
    "address_size", "file", "loc",
)  # fmt: skip


class _KindLexer(Lexer):
    """Hands the parser one token for each kind; its value is the token's position."""

    def __init__(self, lexer_conf: LexerConf) -> None:
        del lexer_conf

    def lex(self, data: str) -> Iterator[Token]:  # type: ignore[override]
        for position, kind in enumerate(data):
            yield Token(_NAMES[kind], str(position))


@cache
def _parser() -> Lark:
    return Lark(_GRAMMAR, parser="lalr", lexer=_KindLexer, start=list(STARTS))


@lru_cache(maxsize=1 << 16)
def shape(start: str, kinds: str) -> Tree[Token] | None:
    """Return the tree of a statement's kinds; ``None``: no statement of that sort."""
    if any(kind not in _NAMES for kind in kinds):
        return None
    try:
        return _parser().parse(kinds, start=start)
    except LarkError:
        return None
