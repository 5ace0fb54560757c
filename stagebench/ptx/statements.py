"""What does one PTX statement say?  The tree of its shape, filled in with its texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from lark import Token, Tree

from stagebench.ptx.grammar import shape
from stagebench.ptx.records import (
    Address,
    Arguments,
    Guard,
    Integer,
    Location,
    Name,
    Negated,
    Offset,
    Operand,
    Pair,
    Real,
    Variable,
    Vector,
)

Texts = Sequence[str]
_Build = Callable[[Texts], Operand]
_Parts = tuple[str, Guard | None, tuple[Operand, ...]]


def integer(text: str) -> int:
    """Value of an integer literal; a leading ``0`` is octal (PTX ISA, "Integer Constants")."""
    bare = text.rstrip("U")
    if len(bare) > 1 and bare.isdigit() and bare[0] == "0":
        return int(bare, 8)
    return int(bare, 0)


def read_instruction(kinds: str, texts: Texts) -> _Parts | None:
    """Return opcode, guard and operands; ``None``: not an instruction."""
    build = _instruction(kinds)
    return None if build is None else build(texts)


def read_variables(kinds: str, texts: Texts, line: int) -> tuple[Variable, ...] | None:
    """Return what a declaration declares; ``None``: not a declaration."""
    tree = shape("variable", kinds)
    if tree is None:
        return None
    qualifiers = _qualifiers(tree, texts)
    return tuple(_variable(one, qualifiers, texts, line) for one in _trees(tree, "declarator"))


def read_words(start: str, kinds: str, texts: Texts) -> tuple[str, ...] | None:
    """Return the plain tokens of a directive after its name, in order."""
    tree = shape(start, kinds)
    if tree is None:
        return None
    return tuple(_text(token, texts) for token in _tokens(tree))[1:]


def read_location(kinds: str, texts: Texts) -> Location | None:
    """Return a ``.loc``; ``None``: not one."""
    tree = shape("loc", kinds)
    if tree is None:
        return None
    words = [_text(token, texts) for token in _tokens(tree)]
    file, line, column = (integer(word) for word in words[1:4])
    inlined = _trees(tree, "inlined_at")
    if not inlined:
        return Location(file, line, column)
    if words[4] != "function_name" or words[-1] != "inlined_at":
        return None
    at = [integer(_text(token, texts)) for token in _tokens(inlined[0])]
    return Location(file, line, column, words[5], (at[0], at[1], at[2]))


class Header:
    """The header of a function or of a prototype."""

    def __init__(self, tree: Tree[Token], texts: Texts, line: int) -> None:
        self.linking = tuple(
            _text(token, texts) for part in _trees(tree, "linking") for token in _tokens(part)
        )
        self.name = next(_text(token, texts) for token in _tokens(tree))
        self.returns = self._parameters(tree, "returns", texts, line)
        self.params = self._parameters(tree, "params", texts, line)
        self.directives: dict[str, tuple[int, ...]] = {}
        for part in _trees(tree, "performance"):
            name, *values = (_text(token, texts) for token in _tokens(part))
            self.directives[name] = tuple(integer(value) for value in values)

    @staticmethod
    def _parameters(tree: Tree[Token], sort: str, texts: Texts, line: int) -> tuple[Variable, ...]:
        return tuple(
            _variable(one, _qualifiers(parameter, texts), texts, line)
            for part in _trees(tree, sort)
            for parameter in _trees(part, "parameter")
            for one in _trees(parameter, "declarator")
        )


def read_header(kinds: str, texts: Texts, line: int) -> Header | None:
    """Return a function's header; ``None``: not one."""
    tree = shape("header", kinds)
    return None if tree is None else Header(tree, texts, line)


def _trees(tree: Tree[Token], sort: str) -> list[Tree[Token]]:
    return [one for one in tree.children if isinstance(one, Tree) and one.data == sort]


def _tokens(tree: Tree[Token]) -> list[Token]:
    return [one for one in tree.children if isinstance(one, Token)]


def _text(token: Token, texts: Texts) -> str:
    return texts[int(token)]


def _qualifiers(tree: Tree[Token], texts: Texts) -> tuple[str, ...]:
    return tuple(
        " ".join(_text(token, texts) for token in _tokens(child))
        for child in tree.children
        if isinstance(child, Tree) and child.data in ("qualifier", "attribute")
    )


def _variable(tree: Tree[Token], qualifiers: tuple[str, ...], texts: Texts, line: int) -> Variable:
    families = [integer(_text(_tokens(one)[0], texts)) for one in _trees(tree, "family")]
    shape_: list[int | None] = []
    for extent in _trees(tree, "extent"):
        tokens = _tokens(extent)
        shape_.append(integer(_text(tokens[0], texts)) if tokens else None)
    return Variable(
        name=_text(_tokens(tree)[0], texts),
        qualifiers=qualifiers,
        count=families[0] if families else None,
        shape=tuple(shape_),
        line=line,
    )


@lru_cache(maxsize=1 << 16)
def _instruction(kinds: str) -> Callable[[Texts], _Parts] | None:
    tree = shape("instruction", kinds)
    if tree is None:
        return None
    guard_at: tuple[int, bool] | None = None
    opcode: tuple[int, ...] = ()
    operands: list[_Build] = []
    for child in tree.children:
        assert isinstance(child, Tree)  # noqa: S101 - every token of the rule is in a sub-rule
        if child.data in ("guard", "guard_not"):
            guard_at = (int(_tokens(child)[0]), child.data == "guard_not")
        elif child.data == "opcode":
            opcode = tuple(int(token) for token in _tokens(child))
        else:
            operands.append(_operand(child))
    found = tuple(operands)

    def build(texts: Texts) -> _Parts:
        guard = None if guard_at is None else Guard(texts[guard_at[0]], guard_at[1])
        name = "".join([texts[at] for at in opcode])
        return name, guard, tuple([one(texts) for one in found])

    return build


def _operand(tree: Tree[Token]) -> _Build:
    sort = str(tree.data)
    tokens = [int(token) for token in _tokens(tree)]
    children = [_operand(one) for one in tree.children if isinstance(one, Tree)]
    return _BUILDERS[sort](tokens, children)


def _name_at(tokens: list[int], children: list[_Build]) -> _Build:
    del children
    at = tokens[0]
    return lambda texts: _name(texts[at])


@lru_cache(maxsize=1 << 16)
def _name(text: str) -> Name:
    return Name(text)


def _negated(tokens: list[int], children: list[_Build]) -> _Build:
    del children
    at = tokens[0]
    return lambda texts: Negated(_name(texts[at]))


def _integer(sign: int) -> Callable[[list[int], list[_Build]], _Build]:
    def builder(tokens: list[int], children: list[_Build]) -> _Build:
        del children
        at = tokens[0]
        return lambda texts: Integer(sign * integer(texts[at]))

    return builder


def _real(sign: str) -> Callable[[list[int], list[_Build]], _Build]:
    def builder(tokens: list[int], children: list[_Build]) -> _Build:
        del children
        at = tokens[0]
        return lambda texts: Real(sign + texts[at])

    return builder


def _offset(tokens: list[int], children: list[_Build]) -> _Build:
    at = tokens[0]

    def build(texts: Texts) -> Operand:
        total = 0
        for child in children:
            value = child(texts)
            if isinstance(value, Integer):
                total += value.value
        return Offset(_name(texts[at]), total)

    return build


def _element(tokens: list[int], children: list[_Build]) -> _Build:
    del children
    at, index = tokens
    return lambda texts: Offset(_name(texts[at]), integer(texts[index]))


def _vector(tokens: list[int], children: list[_Build]) -> _Build:
    del tokens
    return lambda texts: Vector(tuple([one(texts) for one in children]))


def _arguments(tokens: list[int], children: list[_Build]) -> _Build:
    del tokens
    return lambda texts: Arguments(tuple([one(texts) for one in children]))


def _address(tokens: list[int], children: list[_Build]) -> _Build:
    del tokens
    base, items = children[0], children[1:]
    return lambda texts: Address(base(texts), tuple([one(texts) for one in items]))


def _pair(tokens: list[int], children: list[_Build]) -> _Build:
    del tokens
    first, second = children
    return lambda texts: Pair(first(texts), second(texts))


_BUILDERS: dict[str, Callable[[list[int], list[_Build]], _Build]] = {
    "name": _name_at,
    "negated": _negated,
    "plus": _integer(1),
    "minus": _integer(-1),
    "real": _real(""),
    "minus_real": _real("-"),
    "offset": _offset,
    "element": _element,
    "vector": _vector,
    "arguments": _arguments,
    "address": _address,
    "pair": _pair,
}
