"""Which sites does one function have, under which loops and conditions?  Statement by statement.

Statements are walked in Python, what a statement contains comes from the index.  Fails closed: a
statement kind or macro that nobody described is a site ``unknown:<name>``.
"""

from __future__ import annotations

from collections.abc import Callable

from tree_sitter import Node

from stagebench.facts.cuda_calls import CallReader
from stagebench.facts.cuda_context import Context, Found
from stagebench.facts.cuda_expressions import constant, named, render, squeeze
from stagebench.facts.cuda_index import CudaIndex, Event
from stagebench.facts.cuda_loops import for_header
from stagebench.facts.cuda_nest import Header, Nest
from stagebench.facts.cuda_records import CudaLoop
from stagebench.facts.cuda_syntax import CudaSyntaxError

MAX_NESTING = 150
"""Deeper statements than this are refused; Python's stack is the limit, no compiler comes near."""

# Statement kinds that hold no statement of their own (a lambda's body is an event of the index).
# Every other kind is in `FunctionReader.structures` or is reported as unknown; a test compares both
# with the grammar's list of statements.
LEAVES = frozenset(
    (
        "expression_statement", "declaration", "return_statement", "break_statement",
        "continue_statement", "throw_statement", "goto_statement", "co_return_statement",
        "co_yield_statement", "static_assert_declaration", "type_definition", "alias_declaration",
        "using_declaration", "namespace_alias_definition", "preproc_def", "preproc_function_def",
        "preproc_call", "preproc_include", "struct_specifier", "union_specifier",
        "class_specifier", "enum_specifier", "empty_declaration",
    )
)  # fmt: skip
BLOCKS = frozenset(("compound_statement", "attributed_statement", "labeled_statement"))
NOT_STATEMENTS = frozenset(("comment", "statement_identifier", "attribute_declaration"))


class FunctionReader:
    """Reads the functions of one translation unit, each once."""

    def __init__(self, index: CudaIndex) -> None:
        self._index = index
        self._text = index.tree.text
        self._read: dict[int, Found] = {}
        self._reading: list[int] = []
        self._calls = CallReader(index, self.read, self._reading)
        self.structures: dict[str, Callable[[Node, Context], None]] = {
            "for_statement": self._for,
            "while_statement": self._while,
            "do_statement": self._do,
            "for_range_loop": self._for_each,
            "if_statement": self._if,
            "switch_statement": self._switch,
            "preproc_if": self._preprocessor,
            "preproc_ifdef": self._preprocessor,
        }

    def read(self, function: Node) -> Found:
        """Return the sites of a function; loops and guards are relative to its entry."""
        known = self._read.get(function.id)
        if known is not None:
            return known
        found = Found()
        body = function.child_by_field_name("body")
        self._reading.append(function.id)
        if body is not None:
            parameters = frozenset(self._index.parameters(function))
            self._statement(body, Context(found, Nest(self._index, parameters)))
        self._reading.pop()
        self._read[function.id] = found
        return found

    # -- statements -------------------------------------------------------------------------------

    def _statement(self, node: Node, context: Context) -> None:
        if context.depth > MAX_NESTING:
            raise CudaSyntaxError(
                f"CUDA source, line {self._index.line(node)}:"
                f" nested deeper than {MAX_NESTING} levels"
            )
        kind = node.type
        if kind in LEAVES:
            self._leaf(node, context)
        elif kind in BLOCKS:
            inside = context.under()
            for child in node.named_children:
                self._statement(child, inside)
        elif kind in self.structures:
            self.structures[kind](node, context)
        elif kind not in NOT_STATEMENTS:
            context.add(f"unknown:{kind}", kind, {}, self._index.line(node))
            self._leaf(node, context)

    def _for(self, node: Node, context: Context) -> None:
        early = self._index.exits_early(node, None)
        name, values, extent = for_header(node, self._text)
        loop = CudaLoop(var=name, extent=extent, line=self._index.line(node), exits_early=early)
        inside = context.within(loop, Header(node, name, values, extent))
        self._part(node, "initializer", context)
        self._part(node, "condition", inside)
        self._part(node, "update", inside)
        self._body(node, inside)

    def _while(self, node: Node, context: Context) -> None:
        condition = node.child_by_field_name("condition")
        endless = bool(self._constant(condition))
        own_test = self._leading_test(node) if endless else None
        if own_test is None:
            tested = self._shown(condition)
        else:
            tested = _negated(self._shown(own_test.child_by_field_name("condition")))
        self._repeat(node, f"while {tested}", own_test, context)

    def _do(self, node: Node, context: Context) -> None:
        condition = node.child_by_field_name("condition")
        if self._constant(condition) == 0:  # `do { … } while (0)` runs once
            self._body(node, context)
        else:
            self._repeat(node, f"do while {self._shown(condition)}", None, context)

    def _for_each(self, node: Node, context: Context) -> None:
        self._part(node, "right", context)
        right = self._shown(node.child_by_field_name("right"))
        self._repeat(node, f"for each of {right}", None, context)

    def _repeat(self, node: Node, header: str, own_test: Node | None, context: Context) -> None:
        """Walk a loop whose header gives no count: the extent says what it depends on."""
        loop = CudaLoop(
            var="",
            extent=f"trips({header})",
            line=self._index.line(node),
            exits_early=self._index.exits_early(node, own_test),
        )
        inside = context.within(loop, Header(node, "", None, loop.extent))
        self._part(node, "condition", inside)
        self._body(node, inside)

    def _leading_test(self, node: Node) -> Node | None:
        """Find the ``if (!(c)) { break; }`` that starts a ``while (1)``: TVM's ``while (c)``.

        Source: TVM, src/target/source/codegen_c.cc, ``VisitStmt_(WhileNode)``.
        """
        body = node.child_by_field_name("body")
        statements = named(body) if body is not None and body.type == "compound_statement" else []
        if not statements or statements[0].type != "if_statement":
            return None
        first = statements[0]
        consequence = first.child_by_field_name("consequence")
        if consequence is None or first.child_by_field_name("alternative") is not None:
            return None
        inner = named(consequence) if consequence.type == "compound_statement" else [consequence]
        return first if [child.type for child in inner] == ["break_statement"] else None

    def _if(self, node: Node, context: Context) -> None:
        """Walk an ``if`` and its ``else if`` chain, in a loop so that long chains don't nest."""
        current: Node | None = node
        while current is not None:
            condition = self._shown(current.child_by_field_name("condition"))
            self._part(current, "condition", context)
            consequence = current.child_by_field_name("consequence")
            if consequence is not None:
                self._statement(consequence, context.under(condition))
            alternative = current.child_by_field_name("alternative")
            context = context.behind(f"!({condition})")
            current = None
            for child in named(alternative) if alternative is not None else ():
                if child.type == "if_statement":
                    current = child
                else:
                    self._statement(child, context.under())

    def _switch(self, node: Node, context: Context) -> None:
        condition = self._shown(node.child_by_field_name("condition"))
        self._part(node, "condition", context)
        body = node.child_by_field_name("body")
        for case in named(body) if body is not None else ():
            if case.type != "case_statement":
                self._statement(case, context.under(f"switch {condition}"))
                continue
            value = case.child_by_field_name("value")
            label = "default" if value is None else f"case {self._shown(value)}"
            inside = context.under(f"switch {condition}: {label}")
            for child in named(case):
                if child != value:
                    self._statement(child, inside)

    def _preprocessor(self, node: Node, context: Context) -> None:
        """Walk both sides of ``#if`` … ``#else``: which one is compiled is not ours to know."""
        test = node.child_by_field_name("condition") or node.child_by_field_name("name")
        alternative = node.child_by_field_name("alternative")
        guards = () if test is None else (f"{node.children[0].type} {self._shown(test)}",)
        inside = context.under(*guards)
        for child in named(node):
            if child == alternative:
                self._preprocessor(child, context.under(*(f"!({guard})" for guard in guards)))
            elif child != test:
                self._statement(child, inside)

    def _part(self, node: Node, name: str, context: Context) -> None:
        for part in node.children_by_field_name(name):
            self._leaf(part, context)

    def _body(self, node: Node, context: Context) -> None:
        body = node.child_by_field_name("body")
        if body is not None:
            self._statement(body, context)

    # -- what a statement without statements inside does ------------------------------------------

    def _leaf(self, node: Node, context: Context) -> None:
        if node.type == "expression_statement" and node.named_child_count == 1:
            only = node.named_children[0]
            if (
                only.type == "identifier"
                and self._text(only) not in self._index.hiding_macros
                and self._text(only) not in self._index.variables
            ):  # A name alone does nothing in C++: this is a macro of some header.
                context.add(
                    f"unknown:{self._text(only)}", self._text(only), {}, self._index.line(node)
                )
        for event in self._index.events(node):
            if event.kind == "call":
                self._calls.read_call(event.node, node, context)
            elif event.kind == "asm":
                self._calls.read_asm(event.node, node, context)
            elif event.kind == "block":
                self._statement(event.node, context.under())
            elif event.kind != "function":  # a local class's method is counted where it is called
                name = self._odd_name(event)
                context.add(f"unknown:{name}", name, {}, self._index.line(event.node))

    def _odd_name(self, event: Event) -> str:
        if event.kind == "mention":
            return self._index.tree.source[event.start : event.end].decode()
        if event.kind == "chain":
            left = event.node
            while left.type == "binary_expression":
                left = left.child_by_field_name("left") or left.children[0]
            return squeeze(self._text(left))
        if event.kind == "prototype":
            return self._shown(event.node.child_by_field_name("type"))
        return event.node.type.removesuffix("_statement").removesuffix("_expression")

    def _constant(self, condition: Node | None) -> int | None:
        if condition is not None and condition.type == "condition_clause":
            condition = condition.child_by_field_name("value")
        return constant(condition, self._text)

    def _shown(self, node: Node | None) -> str:
        return "" if node is None else render(node, self._text)


def _negated(condition: str) -> str:
    """Return the opposite of a rendered condition: of ``!(i < n)``, ``i < n``."""
    if not condition.startswith("!"):
        return f"!({condition})"
    inner = condition[1:]
    return inner[1:-1] if inner.startswith("(") and inner.endswith(")") else inner
