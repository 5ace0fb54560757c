"""What statements does an IR text (TVMScript) hold, and in which loops does each stand?

TVMScript is Python, one statement a line, nested by indentation, and neighbouring snapshots share
most of their lines: each distinct line is parsed once, by Python's own parser, and kept.  A line
that can't be parsed is reported, never skipped in silence.

One printer's slip is repaired: ``f(x, tl.flag=1)``, a keyword with dots in it (TileLang 0.1.15,
annotations of ``T.tma_copy`` and ``T.gemm``), is read as ``tl_flag``; `tests/diffing/passes` shows
one.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from stagebench.model import Extent

_DEVICE_NAMESPACES = ("ptx", "cuda")
_LONGEST_STATEMENT = 200
_LEAVES = (ast.Constant, ast.Name, ast.expr_context, ast.operator, ast.unaryop)
_HEADERS = ("for", "with", "if", "while", "def", "class", "elif", "else", "try", "match", "case")


@dataclass(frozen=True)
class Loop:
    """A loop around a statement: its variable and trip count (an expression where symbolic)."""

    var: str
    extent: Extent


@dataclass(frozen=True)
class Parsed:
    """A line's statement (a header with an empty body) and its text."""

    node: ast.stmt
    text: str

    @cached_property
    def calls(self) -> Mapping[str, tuple[ast.Call, ...]]:
        """The calls in it by bare name (looked for once: walking a long line is the cost)."""
        return _calls(self.node)


class Statement(NamedTuple):
    """One statement: ``line`` is 1-based, ``loops`` outermost first; a header has its own line."""

    parsed: Parsed
    line: int
    loops: tuple[Loop, ...]


@dataclass(frozen=True)
class Function:
    """A function of the module, in text order."""

    name: str
    parameters: tuple[str, ...]
    line: int
    statements: tuple[Statement, ...]


@dataclass(frozen=True)
class Script:
    """A whole text; ``unread`` are the 1-based lines that are no statement we can parse."""

    functions: tuple[Function, ...]
    unread: tuple[int, ...]


def read_script(text: str) -> Script:
    """Read every function of a module's text."""
    functions: list[Function] = []
    unread: list[int] = []
    head: tuple[str, tuple[str, ...], int] | None = None
    statements: list[Statement] = []
    nest: list[tuple[int, tuple[Loop, ...]]] = []
    for line, indent, parsed in _statements(text):
        if parsed is None:
            unread.append(line)
            continue
        node = parsed.node
        if isinstance(node, ast.ClassDef):
            continue
        if isinstance(node, ast.FunctionDef):
            if head is not None:
                functions.append(Function(*head, statements=tuple(statements)))
            head = (node.name, tuple(arg.arg for arg in node.args.args), line)
            statements, nest = [], []
            continue
        while nest and nest[-1][0] >= indent:
            nest.pop()
        loops = nest[-1][1] if nest else ()
        statements.append(Statement(parsed, line, loops))
        if isinstance(node, ast.For | ast.While):
            nest.append((indent, loops + loops_of(node)))
    if head is not None:
        functions.append(Function(*head, statements=tuple(statements)))
    return Script(functions=tuple(functions), unread=tuple(unread))


def _statements(text: str) -> Iterator[tuple[int, int, Parsed | None]]:
    """Line, indentation and content of each statement; comments and decorators are none."""
    lines = text.split("\n")
    position = 0
    while position < len(lines):
        raw = lines[position]
        source = raw.strip()
        first = position
        position += 1
        if not source or source[0] in "#@":
            continue
        parsed = parse_line(source)
        if parsed is None:
            length = _lines_of_statement(lines[first : first + _LONGEST_STATEMENT])
            if length > 1:  # a list over several lines
                position = first + length
                parsed = parse_line("\n".join([source, *lines[first + 1 : position]]))
        yield first + 1, len(raw) - len(raw.lstrip()), parsed


def _lines_of_statement(lines: Sequence[str]) -> int:
    """How many lines the first statement has, as Python's tokenizer sees it; 0: no end found."""
    reader = iter([f"{line}\n" for line in (lines[0].lstrip(), *lines[1:])])
    try:
        for token in tokenize.generate_tokens(lambda: next(reader, "")):
            if token.type == tokenize.NEWLINE:
                return token.end[0]
    except (tokenize.TokenError, SyntaxError):
        return 0
    return 0


@lru_cache(maxsize=1 << 15)
def parse_line(source: str) -> Parsed | None:
    """The statement on one line, a header with an empty body; ``None`` where it is none."""
    code = source
    word = source.split(None, 1)[0].rstrip(":(")
    if word in _HEADERS and source.endswith(":"):
        code = "if True: pass" if word in ("else", "try") else source + " pass"
        code = code[2:] if word == "elif" else code
    for attempt in (code, None):
        try:
            body = ast.parse(attempt if attempt is not None else _repaired(code)).body
        except (SyntaxError, tokenize.TokenError, ValueError, RecursionError):
            continue
        return Parsed(body[0], source) if len(body) == 1 else None
    return None


def _calls(node: ast.AST) -> dict[str, tuple[ast.Call, ...]]:
    """As `ast.walk` finds them, level by level; leaves hold none and are no step."""
    found: dict[str, tuple[ast.Call, ...]] = {}
    nodes = [node]
    for one in nodes:  # grows while it is walked
        if isinstance(one, ast.Call):
            name = called(one)
            found[name] = (*found.get(name, ()), one)
        for field in one._fields:
            value = getattr(one, field, None)
            if isinstance(value, list):
                nodes += [item for item in value if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST) and not isinstance(value, _LEAVES):
                nodes.append(value)
    return found


def _repaired(code: str) -> str:
    """The code with dotted keywords (``tl.flag=1``) written with underscores."""
    tokens = list(tokenize.generate_tokens(io.StringIO(code).readline))
    dots: list[tuple[int, int]] = []
    for index, token in enumerate(tokens):
        if token.string != "=" or index < 2:
            continue
        start = index - 1
        while tokens[start - 1].string == "." and tokens[start - 2].type == tokenize.NAME:
            start -= 2
        if tokens[start - 1].string in (",", "("):
            dots += [tokens[at].start for at in range(start + 1, index, 2)]
    lines = code.split("\n")
    for row, column in dots:
        line = lines[row - 1]
        lines[row - 1] = line[:column] + "_" + line[column + 1 :]
    return "\n".join(lines)


def loops_of(node: ast.For | ast.While) -> tuple[Loop, ...]:
    """The loops that a header opens; threads and blocks are no loops of one thread."""
    if isinstance(node, ast.While):
        return (Loop("while", f"while({ast.unparse(node.test)})"),)
    call = node.iter
    names = [n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)]
    if not isinstance(call, ast.Call):
        return tuple(Loop(name, ast.unparse(call)) for name in names)
    kind = called(call)
    if kind == "thread_binding":
        return ()
    if kind == "grid":
        return tuple(
            Loop(name, extent_of(arg)) for name, arg in zip(names, call.args, strict=False)
        )
    return (Loop(names[0] if names else "", _trips(call)),)


def _trips(call: ast.Call) -> Extent:
    """``range(n)``, ``T.serial(n)`` or with a start before it."""
    bounds = [extent_of(arg) for arg in call.args[:2]]
    if len(bounds) == 1:
        return bounds[0]
    if len(bounds) == 2:
        first, last = bounds
        if isinstance(first, int) and isinstance(last, int):
            return last - first
        stop = call.args[1]  # the printer writes a symbolic one as start + extent
        added = isinstance(stop, ast.BinOp) and isinstance(stop.op, ast.Add)
        if added and isinstance(stop, ast.BinOp) and ast.unparse(stop.left) == str(first):
            return extent_of(stop.right)
        return ast.unparse(call.args[1]) if first == 0 else f"{last} - {first}"
    return ast.unparse(call)


def called(call: ast.Call) -> str:
    """The bare name of what is called: ``T.serial`` and ``range`` alike.

    Apache TVM prints the device ops in namespaces: ``ptx_cp_async`` is ``T.ptx.cp_async`` there.
    """
    func = call.func
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Attribute):
        spaces = []
        inner: ast.expr = func.value
        while isinstance(inner, ast.Attribute):
            spaces.append(inner.attr)
            inner = inner.value
        if spaces[-1] in _DEVICE_NAMESPACES:
            return "_".join((*reversed(spaces), func.attr))
    return func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")


def extent_of(node: ast.expr) -> Extent:
    """An integer where the expression is one (``16``, ``T.int64(16)``), else its text."""
    value = integer(node)
    return ast.unparse(node) if value is None else value


def integer(node: ast.expr) -> int | None:
    """The value of a constant integer expression."""
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = integer(node.operand)
        return None if inner is None else -inner
    typed = isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords
    if typed and isinstance(node, ast.Call) and called(node).startswith(("int", "uint", "bool")):
        return integer(node.args[0])
    return None


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    """The argument that is passed by that name."""
    return next((item.value for item in call.keywords if item.arg == name), None)


def string(node: ast.expr | None) -> str | None:
    """The value of a string constant."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def root_name(node: ast.expr | None) -> str | None:
    """The variable at the bottom of ``A.data``, ``A[0, 1]`` or ``A``."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None
