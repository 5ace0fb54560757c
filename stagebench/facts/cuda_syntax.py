"""Is this text CUDA that was understood completely?  Parse it to a tree, or refuse it.

A syntax tree with an error node is worse than no tree: tree-sitter's recovery swallows what stands
next to the construct that it doesn't know, so that a statement vanishes and a count is too low
without a word.  So there is no partial result: a tree with an ``ERROR`` or ``MISSING`` node raises
``CudaSyntaxError`` with its line and text.

What tree-sitter-cuda (0.21.2) can't parse but is legal CUDA is blanked first: overwritten with as
many spaces, so that every byte offset and every line number stays what it was.  Each such construct
is one entry of ``BLANKED`` with its reason; bit-fields in one declaration, some of them without a
name (``uint16_t lo : 14, : 2;``), are another, and so is a macro before ``constexpr``: Apache TVM's
union of a matrix descriptor has both.
Evidence text is always taken from the source as it was given, never from the blanked copy.

Not handled: macros are not expanded (``cuda_sites`` reports a use of one that it can't look into),
and ``#if`` groups that split a statement are refused.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cache

import tree_sitter_cuda
from tree_sitter import Language, Node, Parser, Tree

from stagebench.errors import StagebenchError


class CudaSyntaxError(StagebenchError):
    """The text is not CUDA, is cut off, or uses syntax that the parser doesn't know."""


@dataclass(frozen=True)
class Blanked:
    """An attribute or macro ``name(…)`` that is overwritten with spaces before parsing."""

    name: str
    reason: str


BLANKED = (
    Blanked(
        "__align__",
        reason="`__shared__ __align__(16) uint64_t m[4];` is an error; recovery swallows the next"
        " statement. Emitted by codegen_cuda.cc, PrintStorageScope.",
    ),
    Blanked(
        "__cluster_dims__",
        reason="read as a declaration with a missing `;`; the kernel loses its attributes.",
    ),
    Blanked(
        "__block_size__",
        reason="as __cluster_dims__ (CUDA C++ Programming Guide, 'Execution Configuration').",
    ),
    Blanked(
        "__maxnreg__",
        reason="as __cluster_dims__ (CUDA C++ Programming Guide, 'Launch Bounds').",
    ),
    Blanked(
        "CUDA_UNSUPPORTED_HALF_MATH_BINARY",
        reason="a macro that defines a function, without `;`, at file scope. Printed by Apache TVM,"
        " src/target/cuda/literal/cuda_half_t.h: half arithmetic by way of float, e.g. `hpow`.",
    ),
    Blanked(
        "CUDA_UNSUPPORTED_HALF_MATH_UNARY",
        reason="as CUDA_UNSUPPORTED_HALF_MATH_BINARY.",
    ),
)

_GAP = rb"(?:\s|//[^\n]*)*"
_FIELD = rb"(?:[A-Za-z_]\w*)?" + _GAP + rb":\s*\d+" + _GAP
_FIELDS = rb"(?:u?int(?:8|16|32|64)_t|unsigned|int)\s" + _GAP + _FIELD
_FIELDS += rb"(?:," + _GAP + _FIELD + rb")*;"

# One pass that steps over comments, strings and directives: a name inside one is no hit.
_TOKEN = re.compile(
    rb"//[^\n]*"
    rb"|^[ \t]*#(?:[^\\\n]|\\.)*"
    rb"|/\*.*?(?:\*/|\Z)"
    rb'|R"(?P<delimiter>[^()\\\s]{0,16})\(.*?\)(?P=delimiter)"'
    rb'|"(?:\\.|[^"\\\n])*"'
    rb"|'(?:\\.|[^'\\\n])*'"
    rb"|(?P<bits>\bHOST_DEVICE(?=\s+constexpr\b)|\b" + _FIELDS + rb")"
    rb"|(?P<name>\b(?:" + b"|".join(rule.name.encode() for rule in BLANKED) + rb")\b)",
    re.DOTALL | re.MULTILINE,
)
_PARENTHESIS = re.compile(rb"[()]")

MAX_EXCERPT_CHARS = 120


@dataclass(frozen=True)
class CudaTree:
    """A checked tree: no error, no missing node.  Byte offsets index ``source``.

    ``alignments`` holds what was blanked of ``__align__(N)``: byte offset of the attribute to the
    text ``N``, in source order.
    """

    source: bytes
    tree: Tree
    alignments: tuple[tuple[int, str], ...]
    line_starts: tuple[int, ...]

    @property
    def root(self) -> Node:
        """The translation unit."""
        return self.tree.root_node

    def text(self, node: Node) -> str:
        """Return the source of a node as it was given, blanked attributes included."""
        return self.source[node.start_byte : node.end_byte].decode()

    def line(self, offset: int) -> int:
        """Return the 1-based physical line of a byte offset; ``#line`` directives are ignored."""
        return bisect_right(self.line_starts, offset)


def parse_cuda(source: str) -> CudaTree:
    """Parse CUDA source.  Raises ``CudaSyntaxError`` when any part of it was not understood."""
    try:
        original = source.encode()
    except UnicodeEncodeError as exc:
        raise CudaSyntaxError(f"not CUDA source: {exc}") from exc
    starts = (0, *(match.end() for match in re.finditer(rb"\n", original)))
    if b"\0" in original:
        offset = original.index(b"\0")
        raise CudaSyntaxError(
            f"line {bisect_right(starts, offset)}: a NUL byte: this is not CUDA source"
        )
    text, alignments = _blank(original)
    tree = Parser(language()).parse(text)
    checked = CudaTree(source=original, tree=tree, alignments=alignments, line_starts=starts)
    if tree.root_node.has_error:
        raise _error_at(checked, _first_error(tree.root_node))
    return checked


@cache
def language() -> Language:
    """Return the CUDA grammar, loaded once."""
    return Language(tree_sitter_cuda.language())


def _blank(source: bytes) -> tuple[bytes, tuple[tuple[int, str], ...]]:
    blanked = bytearray(source)
    alignments: list[tuple[int, str]] = []
    position = 0
    while match := _TOKEN.search(source, position):
        position = match.end()
        if match["bits"] is not None:
            _overwrite(blanked, match.start(), match.end())
        if match["name"] is None:
            continue
        arguments = _arguments(source, match.end())
        if arguments is None:  # not the attribute: leave it to the parser to accept or refuse
            continue
        opening, position = arguments
        if match["name"] == b"__align__":
            alignments.append((match.start(), source[opening + 1 : position - 1].decode().strip()))
        _overwrite(blanked, match.start(), position)
    return bytes(blanked), tuple(alignments)


def _overwrite(text: bytearray, start: int, end: int) -> None:
    for index in range(start, end):
        if text[index] not in b"\r\n":
            text[index] = ord(" ")


def _arguments(source: bytes, position: int) -> tuple[int, int] | None:
    """Find the parenthesised arguments that follow: offset of ``(``, offset after ``)``."""
    while source[position : position + 1].isspace():
        position += 1
    opening, depth = position, 0
    if source[position : position + 1] != b"(":
        return None
    for match in _PARENTHESIS.finditer(source, position):
        depth += 1 if match[0] == b"(" else -1
        if depth == 0:
            return opening, match.end()
    return None


def _first_error(root: Node) -> Node:
    """Find the first ``ERROR`` or ``MISSING`` node in source order; else the root."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node.is_error or node.is_missing:
            return node
        stack.extend(child for child in reversed(node.children) if child.has_error)
    return root


def _error_at(tree: CudaTree, node: Node) -> CudaSyntaxError:
    line = tree.line(node.start_byte)
    start = tree.line_starts[line - 1]
    end = tree.line_starts[line] if line < len(tree.line_starts) else len(tree.source)
    excerpt = tree.source[start:end].decode().strip()
    if len(excerpt) > MAX_EXCERPT_CHARS:
        excerpt = excerpt[: MAX_EXCERPT_CHARS - 1] + "…"
    what = f"{node.type!r} is missing" if node.is_missing else "can't be parsed"
    return CudaSyntaxError(
        f"CUDA source, line {line}: {what}: {excerpt}",
        hint="if this is legal CUDA, the construct needs an entry in"
        " stagebench/facts/cuda_syntax.py (BLANKED); nothing was counted",
    )
