"""What is in the body of one PTX function?  Its statements in order, with scopes and ``.loc``.

Names and labels are local to the ``{ }`` they stand in (PTX ISA, "Variables": "Identifiers",
"Statements"): inline asm relies on it, so that the same label can occur in many blocks.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from stagebench.ptx.records import (
    AsmBlock,
    Function,
    Instruction,
    Label,
    Location,
    Scope,
    Span,
    Variable,
)
from stagebench.ptx.statements import (
    Header,
    read_header,
    read_instruction,
    read_location,
    read_variables,
    read_words,
)
from stagebench.ptx.tokens import Tokens

_LISTS = (".branchtargets", ".calltargets")


@dataclass
class _OpenScope:
    """A scope while it is being read."""

    parent: int | None
    variables: list[Variable] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    targets: dict[str, tuple[str, ...]] = field(default_factory=dict)


def declaration(header: Header, line: int) -> Function:
    """Return a function that has no body, or none yet."""
    return Function(
        name=header.name,
        kind="entry" if ".entry" in header.linking else "func",
        linking=header.linking,
        params=header.params,
        returns=header.returns,
        directives=header.directives,
        line=line,
        body_line=None,
        body_last_line=None,
    )


class BodyReader:
    """Reads from a body's opening brace to its closing one; ``at`` is then behind it."""

    def __init__(self, tokens: Tokens, at: int) -> None:
        self.tokens = tokens
        self.at = at
        self.scopes: list[_OpenScope] = []
        self.scope = 0
        self.instructions: list[Instruction] = []
        self.labels: list[Label] = []
        self.asm_blocks: list[AsmBlock] = []
        self.locations: list[Location] = []
        self.location: Location | None = None
        self.pragmas: list[tuple[int, str]] = []
        self.asm: tuple[int, int] | None = None  # first instruction and line of the open block
        self.fresh = False  # no instruction since the last .loc
        self.pending: str | None = None  # the label just read: a list of targets may follow

    def read(self, header: Header, line: int) -> Function:
        """Read the body that belongs to a header."""
        body_line, _ = self._position(self.at)
        self.scopes.append(_OpenScope(None))
        self.at += 1
        depth = 1
        while depth:
            if self.at >= len(self.tokens.kinds):
                raise self.tokens.error("a body without its closing brace", self._last_offset())
            depth += self._statement()
        if self.asm is not None:
            raise self._error("inline asm without its end", self.at - 1)
        last_line, _ = self._position(self.at - 1)
        return replace(
            declaration(header, line),
            body_line=body_line,
            body_last_line=last_line,
            instructions=tuple(self.instructions),
            labels=tuple(self.labels),
            scopes=tuple(
                Scope(one.parent, tuple(one.variables), one.labels, one.targets)
                for one in self.scopes
            ),
            asm_blocks=tuple(self.asm_blocks),
            locations=tuple(self.locations),
            pragmas=tuple(self.pragmas),
        )

    def _statement(self) -> int:
        """Read one statement; returns by how much the depth of braces changed."""
        kinds, at = self.tokens.kinds, self.at
        kind = kinds[at]
        change = 0
        if kind == "w" and kinds[at + 1 : at + 2] == ":":
            self._label()
        elif kind in "w@":
            self._instruction()
        elif kind == "d":
            self._directive(self.tokens.texts[at])
        elif kind in "AZ":
            self._asm_marker(kind)
        elif kind == "{":
            self.scopes.append(_OpenScope(self.scope))
            self.scope = len(self.scopes) - 1
            self.at += 1
            change = 1
        elif kind == "}":
            self.scope = self.scopes[self.scope].parent or 0
            self.at += 1
            change = -1
        elif kind == ";":
            self.at += 1
        else:
            raise self._error("no statement starts so", at)
        return change

    def _instruction(self) -> None:
        start = self.at
        end = self._semicolon("an instruction without its semicolon")
        found = read_instruction(self.tokens.kinds[start:end], self.tokens.texts[start:end])
        if found is None or not "a" <= found[0][0] <= "z":
            raise self._error("not an instruction", start)
        opcode, guard, operands = found
        self.instructions.append(
            Instruction(
                opcode=opcode,
                guard=guard,
                operands=operands,
                span=self._span(start, end),
                scope=self.scope,
                location=self.location,
                asm=None if self.asm is None else len(self.asm_blocks),
            )
        )
        self.pending = None
        self.fresh = False
        self.at = end + 1

    def _label(self) -> None:
        name = self.tokens.texts[self.at]
        scope = self.scopes[self.scope]
        if name in scope.labels:
            raise self._error(f"label {name} is already in this scope", self.at)
        index = len(self.instructions)
        scope.labels[name] = index
        self.labels.append(Label(name, self._span(self.at, self.at + 1), self.scope, index))
        self.pending = name
        self.at += 2

    def _directive(self, name: str) -> None:
        start = self.at
        if name == ".loc":
            self._loc()
            return
        end = self._semicolon(f"a {name} without its semicolon")
        kinds, texts = self.tokens.kinds[start:end], self.tokens.texts[start:end]
        line, _ = self._position(start)
        scope = self.scopes[self.scope]
        if name in _LISTS or name == ".callprototype":
            self._list(name, kinds, texts)
        elif name == ".pragma":
            words = read_words("pragma", kinds, texts)
            if words is None:
                raise self._error("not a .pragma", start)
            self.pragmas.extend((line, word.strip('"')) for word in words)
        else:
            variables = read_variables(kinds, texts, line)
            if variables is None:
                raise self._error("not a declaration", start)
            scope.variables.extend(variables)
        self.at = end + 1

    def _list(self, name: str, kinds: str, texts: list[str]) -> None:
        """Read a list of targets or a prototype; the label before it is its name, not code."""
        words: tuple[str, ...] | None = ()
        if name in _LISTS:
            words = read_words("targets", kinds, texts)
        elif read_header(kinds, texts, 1) is None:
            words = None
        if words is None or self.pending is None:
            raise self._error(f"not a {name} after its label", self.at)
        scope = self.scopes[self.scope]
        scope.targets[self.pending] = words
        del scope.labels[self.pending]
        self.labels.pop()
        self.pending = None

    def _loc(self) -> None:
        start = self.at
        end = self.tokens.line_end(start)
        location = read_location(self.tokens.kinds[start:end], self.tokens.texts[start:end])
        if location is None:
            raise self._error("not a .loc", start)
        before = self.location
        if self.fresh and before is not None and before.place == location.inlined_at:
            location = replace(location, above=before)
        self.fresh = True
        self.location = location
        self.locations.append(location)
        self.at = end

    def _asm_marker(self, kind: str) -> None:
        line, _ = self._position(self.at)
        if (kind == "A") == (self.asm is not None):
            raise self._error("inline asm begins or ends twice", self.at)
        if kind == "A":
            self.asm = (len(self.instructions), line)
        elif self.asm is not None:
            first, first_line = self.asm
            self.asm_blocks.append(AsmBlock(first_line, line, first, len(self.instructions)))
            self.asm = None
        self.at += 1

    def _semicolon(self, reason: str) -> int:
        end = self.tokens.kinds.find(";", self.at)
        if end < 0:
            raise self._error(reason, self.at)
        return end

    def _span(self, start: int, end: int) -> Span:
        line, column = self._position(start)
        last_line, last_column = self._position(end)
        return Span(line, column, last_line, last_column)

    def _position(self, index: int) -> tuple[int, int]:
        return self.tokens.position(self.tokens.starts[index])

    def _last_offset(self) -> int:
        return self.tokens.starts[-1]

    def _error(self, reason: str, index: int) -> Exception:
        return self.tokens.error(reason, self.tokens.starts[index])
