"""Which sites does one function have, under which loops and conditions?  Statement by statement.

Statements are walked in Python, what a statement contains comes from the index.  Fails closed: a
statement kind, callee, macro or instruction that nobody described is a site ``unknown:<name>``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec
from tree_sitter import Node

from stagebench.facts import cuda_asm, cuda_callees
from stagebench.facts.cuda_expressions import (
    constant,
    named,
    render,
    squeeze,
    value_of,
)
from stagebench.facts.cuda_index import CudaIndex, Event, base_identifier
from stagebench.facts.cuda_loops import for_loop, product
from stagebench.facts.cuda_records import CudaLoop, CudaSite, HiddenSync
from stagebench.facts.cuda_syntax import CudaSyntaxError
from stagebench.model.base import Extent

MAX_NESTING = 150
"""Deeper statements than this are refused; Python's stack is the limit, no compiler comes near."""
MAX_SITES = 200_000
"""Device functions that call each other can multiply sites without bound: nothing is counted."""

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

_ESCAPES = {"\\n": "\n", "\\t": "\t", "\\r": "\r"}


@dataclass
class Found:
    """Sites and hidden synchronisations of one function, relative to its entry."""

    sites: list[CudaSite] = field(default_factory=list)
    hidden: list[HiddenSync] = field(default_factory=list)


@dataclass(frozen=True)
class _Callee:
    """A callee's name without template arguments, and those of its last template."""

    name: str
    templates: tuple[Extent, ...]
    written: str


@dataclass(frozen=True)
class _Context:
    """Where the walk is: the loops and conditions around, and where findings go."""

    found: Found
    loops: tuple[CudaLoop, ...] = ()
    guards: tuple[str, ...] = ()
    depth: int = 0

    def within(self, loop: CudaLoop) -> _Context:
        return _Context(self.found, (*self.loops, loop), self.guards, self.depth + 1)

    def under(self, *guards: str) -> _Context:
        return _Context(self.found, self.loops, (*self.guards, *guards), self.depth + 1)


class FunctionReader:
    """Reads the functions of one translation unit, each once."""

    def __init__(self, index: CudaIndex) -> None:
        self._index = index
        self._text = index.tree.text
        self._callees: dict[bytes, _Callee | None] = {}
        self._read: dict[int, Found] = {}
        self._reading: list[int] = []
        self.structures: dict[str, Callable[[Node, _Context], None]] = {
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
            self._statement(body, _Context(found))
        self._reading.pop()
        self._read[function.id] = found
        return found

    # -- statements -------------------------------------------------------------------------------

    def _statement(self, node: Node, context: _Context) -> None:
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
            self._add(f"unknown:{kind}", kind, {}, node, context)
            self._leaf(node, context)

    def _for(self, node: Node, context: _Context) -> None:
        early = self._index.exits_early(node, None)
        loop = for_loop(node, self._text, self._index.line(node), exits_early=early)
        inside = context.within(loop)
        self._part(node, "initializer", context)
        self._part(node, "condition", inside)
        self._part(node, "update", inside)
        self._body(node, inside)

    def _while(self, node: Node, context: _Context) -> None:
        condition = node.child_by_field_name("condition")
        endless = bool(self._constant(condition))
        own_test = self._leading_test(node) if endless else None
        if own_test is None:
            tested = self._shown(condition)
        else:
            tested = _negated(self._shown(own_test.child_by_field_name("condition")))
        self._repeat(node, f"while {tested}", own_test, context)

    def _do(self, node: Node, context: _Context) -> None:
        condition = node.child_by_field_name("condition")
        if self._constant(condition) == 0:  # `do { … } while (0)` runs once
            self._body(node, context)
        else:
            self._repeat(node, f"do while {self._shown(condition)}", None, context)

    def _for_each(self, node: Node, context: _Context) -> None:
        self._part(node, "right", context)
        right = self._shown(node.child_by_field_name("right"))
        self._repeat(node, f"for each of {right}", None, context)

    def _repeat(self, node: Node, header: str, own_test: Node | None, context: _Context) -> None:
        """Walk a loop whose header gives no count: the extent says what it depends on."""
        loop = CudaLoop(
            var="",
            extent=f"trips({header})",
            line=self._index.line(node),
            exits_early=self._index.exits_early(node, own_test),
        )
        inside = context.within(loop)
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

    def _if(self, node: Node, context: _Context) -> None:
        """Walk an ``if`` and its ``else if`` chain, in a loop so that long chains don't nest."""
        current: Node | None = node
        while current is not None:
            condition = self._shown(current.child_by_field_name("condition"))
            self._part(current, "condition", context)
            consequence = current.child_by_field_name("consequence")
            if consequence is not None:
                self._statement(consequence, context.under(condition))
            alternative = current.child_by_field_name("alternative")
            guards = (*context.guards, f"!({condition})")
            context = _Context(context.found, context.loops, guards, context.depth)
            current = None
            for child in named(alternative) if alternative is not None else ():
                if child.type == "if_statement":
                    current = child
                else:
                    self._statement(child, context.under())

    def _switch(self, node: Node, context: _Context) -> None:
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

    def _preprocessor(self, node: Node, context: _Context) -> None:
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

    def _part(self, node: Node, name: str, context: _Context) -> None:
        for part in node.children_by_field_name(name):
            self._leaf(part, context)

    def _body(self, node: Node, context: _Context) -> None:
        body = node.child_by_field_name("body")
        if body is not None:
            self._statement(body, context)

    # -- what a statement without statements inside does ------------------------------------------

    def _leaf(self, node: Node, context: _Context) -> None:
        if node.type == "expression_statement" and node.named_child_count == 1:
            only = node.named_children[0]
            if only.type == "identifier" and self._text(only) not in self._index.hiding_macros:
                # A name alone does nothing in C++: this is a macro of some header.
                self._add(f"unknown:{self._text(only)}", self._text(only), {}, node, context)
        for event in self._index.events(node):
            if event.kind == "call":
                self._call(event.node, node, context)
            elif event.kind == "asm":
                self._asm(event.node, node, context)
            elif event.kind == "block":
                self._statement(event.node, context.under())
            elif event.kind != "function":  # a local class's method is counted where it is called
                name = self._odd_name(event)
                self._add(f"unknown:{name}", name, {}, event.node, context)

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

    def _call(self, call: Node, leaf: Node, context: _Context) -> None:
        function = call.child_by_field_name("function")
        if function is None or function.type == "lambda_expression":
            return  # a lambda that is called at once: its body is an event of its own
        if function.type == "field_expression":
            self._method(call, function, leaf, context)
            return
        callee = self._callee(function)
        launch = any(child.type == "kernel_call_syntax" for child in call.children)
        if callee is None or launch or callee.name in self._index.hiding_macros:
            shown = squeeze(self._text(function))
            name = shown if callee is None else callee.name
            self._add(f"unknown:{name}", shown, {}, call, context)
        elif callee.name in self._index.plain_macros:
            return
        elif definitions := self._index.definitions(callee.name):
            self._inline(definitions, callee, call, leaf, context)
        elif callee.name in cuda_callees.SYNC:
            guarded = self._guarded(call, leaf, context)
            reader = cuda_callees.SYNC[callee.name]
            for op, args in reader(callee.templates, self._arguments(call)):
                self._add(op, callee.written, args, call, guarded)
            self._hide(callee, call, guarded)
        elif cuda_callees.is_plain(callee.name):
            self._hide(callee, call, context)
        else:
            guarded = self._guarded(call, leaf, context)
            self._add(f"unknown:{callee.name}", callee.written, {}, call, guarded)

    def _hide(self, callee: _Callee, call: Node, context: _Context) -> None:
        for op, per_call, args in cuda_callees.hidden_syncs(callee.name, callee.templates):
            context.found.hidden.append(
                HiddenSync(
                    op=op,
                    callee=callee.written,
                    args=args,
                    per_call=per_call,
                    line=self._index.line(call),
                    dynamic=product([per_call, *(loop.extent for loop in context.loops)]),
                )
            )

    def _inline(
        self, definitions: list[Node], callee: _Callee, call: Node, leaf: Node, context: _Context
    ) -> None:
        """Put the sites of a function that the file defines in the place of its call."""
        name = callee.name
        if any(definition.id in self._reading for definition in definitions):
            self._add(f"unknown:{name}", f"recursive {callee.written}", {}, call, context)
            return
        bodies = [self.read(definition) for definition in definitions]
        if not any(body.sites or body.hidden for body in bodies):
            return
        guarded = self._guarded(call, leaf, context)
        if len(definitions) > 1:  # overloads, some of which synchronise: which one, we can't tell
            self._add(f"unknown:{name}", callee.written, {}, call, guarded)
            return
        line = self._index.line(call)
        names = self._index.parameters(definitions[0])
        given = dict(zip(names, self._arguments(call), strict=False))
        for site in bodies[0].sites:
            loops = guarded.loops + site.loops
            moved = msgspec.structs.replace(
                site,
                args={name: _passed(value, given) for name, value in site.args.items()},
                line=line,
                loops=loops,
                guards=guarded.guards + site.guards,
                dynamic=product(loop.extent for loop in loops),
                via=(name, *site.via),
            )
            self._append(moved, context)
        for hidden in bodies[0].hidden:
            count = product([*(loop.extent for loop in guarded.loops), hidden.dynamic])
            context.found.hidden.append(msgspec.structs.replace(hidden, line=line, dynamic=count))

    def _method(self, call: Node, function: Node, leaf: Node, context: _Context) -> None:
        receiver = function.child_by_field_name("argument")
        method = function.child_by_field_name("field")
        if receiver is None or method is None:
            return
        callee = self._callee(method)
        name = callee.name if callee is not None else squeeze(self._text(method))
        base = base_identifier(receiver)
        base_name = self._text(base) if base is not None else ""
        reader = cuda_callees.BARRIER_METHODS.get(name)
        op = cuda_callees.GROUP_METHODS.get((self._group(receiver), name))
        if reader is not None and base_name in self._index.barriers:
            guarded = self._guarded(call, leaf, context)
            barrier = render(receiver, self._text)
            element = "[]" if "subscript" in receiver.type else ""
            for op, args in reader((), self._arguments(call)):
                written = f"{base_name}{element}.{name}"
                self._add(op, written, {"barrier": barrier, **args}, call, guarded)
        elif op is not None:
            written = f"{self._group(receiver)}().{name}"
            self._add(op, written, {}, call, self._guarded(call, leaf, context))
        elif callee is not None and (definitions := self._index.definitions(name)):
            self._inline(definitions, callee, call, leaf, context)
        elif name not in cuda_callees.PLAIN_METHODS:
            guarded = self._guarded(call, leaf, context)
            self._add(f"unknown:.{name}", f"{base_name}.{name}", {}, call, guarded)

    def _group(self, receiver: Node) -> str:
        """Return ``this_grid`` for ``cooperative_groups::this_grid()``, else an empty string."""
        function = receiver.child_by_field_name("function")
        callee = self._callee(function) if function is not None else None
        if callee is None or receiver.type != "call_expression":
            return ""
        scope, _, name = callee.name.rpartition("::")
        return name if scope in ("cooperative_groups", "cg") else ""

    def _asm(self, node: Node, leaf: Node, context: _Context) -> None:
        code = node.child_by_field_name("assembly_code")
        operands: list[Extent] = []
        for name in ("output_operands", "input_operands"):
            group = node.child_by_field_name(name)
            for operand in group.named_children if group is not None else ():
                value = operand.child_by_field_name("value")
                operands.append("?" if value is None else value_of(value, self._text))
        guarded = self._guarded(node, leaf, context)
        template = self._string(code) if code is not None else ""
        for site in cuda_asm.read_asm(template, tuple(operands)):
            self._add(site.op, f"asm {site.opcode}", dict(site.args), node, guarded)

    def _string(self, node: Node) -> str:
        """Return the value of a string literal, concatenations joined."""
        if node.type == "concatenated_string":
            return "".join(self._string(child) for child in named(node))
        if not node.type.endswith("string") and not node.type.endswith("string_literal"):
            return f"\n; {self._text(node)} ;"  # a macro between strings: an instruction unknown
        parts = []
        for child in node.named_children:
            shown = self._text(child)
            if child.type in ("string_content", "raw_string_content"):
                parts.append(shown)
            elif child.type == "escape_sequence":
                parts.append(_ESCAPES.get(shown, shown[1:]))
        return "".join(parts)

    # -- names, arguments, guards -----------------------------------------------------------------

    def _callee(self, function: Node) -> _Callee | None:
        key = self._index.tree.source[function.start_byte : function.end_byte]
        if key not in self._callees:
            templates: list[tuple[Extent, ...]] = []
            name = self._name(function, templates)
            last = templates[-1] if templates else ()
            written = squeeze(self._text(function))
            self._callees[key] = None if name is None else _Callee(name, last, written)
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

    def _arguments(self, call: Node) -> tuple[Extent, ...]:
        arguments = call.child_by_field_name("arguments")
        children = named(arguments) if arguments is not None else []
        return tuple(value_of(child, self._text) for child in children)

    def _guarded(self, node: Node, leaf: Node, context: _Context) -> _Context:
        """Return the context with the conditions inside the statement (``?:``, ``&&``, ``||``)."""
        guards: list[str] = []
        child, parent = node, node.parent
        while parent is not None and child.id != leaf.id:
            if parent.type == "conditional_expression":
                condition = parent.child_by_field_name("condition")
                if condition != child:
                    shown = self._shown(condition)
                    otherwise = parent.child_by_field_name("alternative") == child
                    guards.append(f"!({shown})" if otherwise else shown)
            elif (
                parent.type == "binary_expression" and parent.child_by_field_name("right") == child
            ):
                operator = parent.child_by_field_name("operator")
                if operator is not None and operator.type in ("&&", "||"):
                    shown = self._shown(parent.child_by_field_name("left"))
                    guards.append(shown if operator.type == "&&" else f"!({shown})")
            child, parent = parent, parent.parent
        return context.under(*reversed(guards)) if guards else context

    def _constant(self, condition: Node | None) -> int | None:
        if condition is not None and condition.type == "condition_clause":
            condition = condition.child_by_field_name("value")
        return constant(condition, self._text)

    def _shown(self, node: Node | None) -> str:
        return "" if node is None else render(node, self._text)

    def _add(
        self, op: str, callee: str, args: dict[str, Extent], node: Node, context: _Context
    ) -> None:
        site = CudaSite(
            op=op,
            callee=callee,
            args=args,
            line=self._index.line(node),
            loops=context.loops,
            guards=context.guards,
            dynamic=product(loop.extent for loop in context.loops),
        )
        self._append(site, context)

    def _append(self, site: CudaSite, context: _Context) -> None:
        context.found.sites.append(site)
        if len(context.found.sites) > MAX_SITES:
            raise CudaSyntaxError(
                f"CUDA source, line {site.line}: more than {MAX_SITES} sites in one function"
            )


def _passed(value: Extent, given: dict[str, Extent]) -> Extent:
    """Replace a value that is just a parameter's name by what the call passes for it."""
    return given.get(value, value) if isinstance(value, str) else value


def _negated(condition: str) -> str:
    """Return the opposite of a rendered condition: of ``!(i < n)``, ``i < n``."""
    if not condition.startswith("!"):
        return f"!({condition})"
    inner = condition[1:]
    return inner[1:-1] if inner.startswith("(") and inner.endswith(")") else inner
