"""What is in a PTX text?  The reader: it understands a statement or says which it does not.

`read_module` cuts the tokens into statements, gives each to the grammar, and keeps scopes, labels
and ``.loc`` as it goes.  ``.version``, ``.target``, ``.address_size``, ``.file`` and ``.loc`` end
with their line, as every compiler prints them; everything else ends with ``;`` or a brace.
Source: PTX ISA 9.0, "Syntax", "Directives", "Kernel and Function Directives".
Not handled: texts with preprocessor lines; ``@@DWARF`` lines of ISA 1.x.
"""

from __future__ import annotations

from functools import lru_cache

from stagebench.ptx.body import BodyReader, declaration
from stagebench.ptx.opcodes import is_known
from stagebench.ptx.records import Function, Module, Variable
from stagebench.ptx.statements import integer, read_header, read_variables, read_words
from stagebench.ptx.tokens import Tokens, tokenise

LINE_DIRECTIVES = {
    ".version": "version",
    ".target": "target",
    ".address_size": "address_size",
    ".file": "file",
}


@lru_cache(maxsize=8)
def read_module(text: str) -> Module:
    """Read a whole text; raises `PtxSyntaxError` at what it does not understand.

    The last texts are kept: probes and their audit ask for one again and again.
    """
    return _Reader(tokenise(text)).read()


class _Reader:
    """Reads the module's level: directives, variables, functions."""

    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self.at = 0
        self.version: str | None = None
        self.targets: tuple[str, ...] = ()
        self.address_size: int | None = None
        self.files: dict[int, str] = {}
        self.variables: list[Variable] = []
        self.functions: list[Function] = []

    def read(self) -> Module:
        kinds = self.tokens.kinds
        while self.at < len(kinds):
            kind = kinds[self.at]
            if kind in "S;":
                self.at += 1
            elif kind == "d":
                self._directive(self.tokens.texts[self.at])
            else:
                raise self._error("not a directive of a module")
        opcodes = {one.opcode for function in self.functions for one in function.instructions}
        return Module(
            lines=tuple(self.tokens.text.split("\n")),
            version=self.version,
            targets=self.targets,
            address_size=self.address_size,
            files=self.files,
            variables=tuple(self.variables),
            functions=tuple(self.functions),
            unknown_opcodes=tuple(sorted(one for one in opcodes if not is_known(one))),
        )

    def _directive(self, name: str) -> None:
        if name in LINE_DIRECTIVES:
            self._line_directive(name)
            return
        if name == ".loc":
            raise self._error("a .loc outside a function")
        end = self._statement_end()
        kinds = self.tokens.kinds[self.at : end]
        texts = self.tokens.texts[self.at : end]
        if ".entry" in texts or ".func" in texts:
            self._function(kinds, texts, end)
            return
        sort = {".pragma": "pragma", ".alias": "targets"}.get(name)
        line, _ = self.tokens.position(self.tokens.starts[self.at])
        if self.tokens.kinds[end : end + 1] != ";":
            raise self._error("a declaration without its semicolon")
        if sort is not None:
            if read_words(sort, kinds, texts) is None:
                raise self._error(f"not a {name} directive")
        else:
            variables = read_variables(kinds, texts, line)
            if variables is None:
                raise self._error("not a declaration")
            self.variables.extend(variables)
        self.at = end + 1

    def _line_directive(self, name: str) -> None:
        start = self.at
        end = self.tokens.line_end(start)
        words = read_words(
            LINE_DIRECTIVES[name], self.tokens.kinds[start:end], self.tokens.texts[start:end]
        )
        if words is None:
            raise self._error(f"not a {name} directive")
        if name == ".version":
            self.version = words[0]
        elif name == ".target":
            self.targets = words
        elif name == ".address_size":
            self.address_size = integer(words[0])
        else:
            self.files[integer(words[0])] = words[1].strip('"')
        self.at = end

    def _statement_end(self) -> int:
        """Index of the ``;`` that ends a statement, or of the brace that opens a body."""
        kinds, at, depth = self.tokens.kinds, self.at, 0
        assigned = False
        while at < len(kinds):
            kind = kinds[at]
            assigned |= kind == "="
            if kind in "([":
                depth += 1
            elif kind in ")]":
                depth -= 1
            elif depth == 0 and (kind == ";" or (kind == "{" and not assigned)):
                return at
            at += 1
        raise self._error("a statement without an end")

    def _function(self, kinds: str, texts: list[str], end: int) -> None:
        line, _ = self.tokens.position(self.tokens.starts[self.at])
        header = read_header(kinds, texts, line)
        if header is None:
            raise self._error("not a function header")
        if self.tokens.kinds[end] == ";":
            self.functions.append(declaration(header, line))
            self.at = end + 1
            return
        body = BodyReader(self.tokens, end)
        self.functions.append(body.read(header, line))
        self.at = body.at

    def _error(self, reason: str) -> Exception:
        return self.tokens.error(reason, self.tokens.starts[self.at])
