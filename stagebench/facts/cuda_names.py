"""Which function does an expression name, and with which template arguments?"""

from __future__ import annotations

from dataclasses import dataclass

from tree_sitter import Node

from stagebench.facts.cuda_expressions import named, squeeze, value_of
from stagebench.facts.cuda_syntax import CudaTree
from stagebench.model.base import Extent


@dataclass(frozen=True)
class Callee:
    """A callee's name without template arguments, and those of its last template."""

    name: str
    templates: tuple[Extent, ...]
    written: str


class CalleeNames:
    """The callees of one translation unit; each spelling is read once."""

    def __init__(self, tree: CudaTree) -> None:
        self._source = tree.source
        self._text = tree.text
        self._callees: dict[bytes, Callee | None] = {}

    def read(self, function: Node) -> Callee | None:
        """Read what stands before a call's arguments; ``None``: no name."""
        key = self._source[function.start_byte : function.end_byte]
        if key not in self._callees:
            templates: list[tuple[Extent, ...]] = []
            name = self._name(function, templates)
            last = templates[-1] if templates else ()
            written = squeeze(self._text(function))
            self._callees[key] = None if name is None else Callee(name, last, written)
        return self._callees[key]

    def _name(self, node: Node, templates: list[tuple[Extent, ...]]) -> str | None:
        """Return a name without template arguments, and append those to ``templates``."""
        kind = node.type
        parts: list[Node | None]
        if kind.startswith("template_"):
            arguments = node.child_by_field_name("arguments")
            if arguments is not None:
                templates.append(tuple(value_of(child, self._text) for child in named(arguments)))
            parts = [node.child_by_field_name("name")]
        elif kind == "qualified_identifier":
            scope = node.child_by_field_name("scope")
            parts = [scope] if scope is not None else []
            parts.append(node.child_by_field_name("name"))
        elif kind in ("parenthesized_expression", "dependent_name"):
            parts = list(named(node))
        elif kind.endswith("identifier") or kind in ("primitive_type", "sized_type_specifier"):
            return squeeze(self._text(node))
        else:
            return None
        names = [None if part is None else self._name(part, templates) for part in parts]
        known = [name for name in names if name is not None]
        return "::".join(known) if known and len(known) == len(names) else None
