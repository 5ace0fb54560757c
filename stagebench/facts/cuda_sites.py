"""Where does the generated CUDA synchronise, and how often is each place executed?

This is the second oracle beside the IR: it reads only the text that will be compiled.  Every call,
``asm`` statement and control structure of a kernel is visited in the syntax tree; a call is looked
up in ``cuda_callees``, PTX in ``cuda_asm``.  It fails closed: a callee, macro, instruction or
statement that nobody described is a site with op ``unknown:<name>``, and text that the parser did
not understand raises ``CudaSyntaxError``.

How it counts (DESIGN, "The JSON that scripts rely on"): a site is a call in the text, a ``#pragma
unroll`` loop around it included; ``dynamic`` multiplies the trip counts of the enclosing loops, every
branch taken.  ``arrive_and_expect_tx`` has two effects and is two sites, ``mbarrier_arrive`` and
``mbarrier_expect_tx``.  A call of a device function that the file defines is replaced by that
function's sites (``via`` says so), as the compiler inlines it; sites of functions that no kernel calls
are not counted.  Library templates that synchronise inside (``tl::AllReduce``) are no sites; they are
listed in ``hidden_syncs``.

Not handled: macros are not expanded (a use of one that isn't a plain number is ``unknown``); a
lambda is counted where it is written, once; both sides of ``#if`` inside a kernel are counted, with
the condition as guard.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

import msgspec
from tree_sitter import Node, Query, QueryCursor

from stagebench.facts import cuda_asm, cuda_callees
from stagebench.facts.cuda_expressions import (
    constant,
    for_loop,
    join_product,
    named,
    product,
    render,
    split_product,
    squeeze,
    value_of,
)
from stagebench.facts.cuda_memory import read_arena_aliases, read_shared_arrays
from stagebench.facts.cuda_records import (
    ArenaAlias,
    CudaKernel,
    CudaLoop,
    CudaSite,
    HiddenSync,
    SharedArray,
)
from stagebench.facts.cuda_syntax import CudaSyntaxError, CudaTree, language, parse_cuda
from stagebench.model.base import Extent
from stagebench.model.facts import SyncTotal

__all__ = [
    "ArenaAlias",
    "CudaKernel",
    "CudaLoop",
    "CudaSite",
    "CudaSyntaxError",
    "HiddenSync",
    "SharedArray",
    "read_cuda",
    "sync_totals",
]

MAX_NESTING = 150
"""Deeper statements than this are refused; Python's stack is the limit, no compiler comes near."""
MAX_SITES = 200_000
"""Device functions that call each other can multiply sites without bound; then nothing is counted."""


def read_cuda(source: str) -> tuple[CudaKernel, ...]:
    """Every ``__global__`` function with a body, in source order.

    Empty for text without any kernel.  Raises ``CudaSyntaxError`` for text that can't be parsed
    completely, and for a kernel that is declared but has no body (a file that was cut off).
    """
    return _Reader(parse_cuda(source)).kernels()


def sync_totals(sites: Iterable[CudaSite]) -> dict[str, SyncTotal]:
    """Static and dynamic sums per op, ops sorted; symbolic terms follow the integer part."""
    static: dict[str, int] = {}
    terms: dict[str, dict[tuple[str, ...], int]] = {}
    for site in sites:
        static[site.op] = static.get(site.op, 0) + 1
        factor, symbols = split_product(loop.extent for loop in site.loops)
        sums = terms.setdefault(site.op, {})
        sums[symbols] = sums.get(symbols, 0) + factor
    return {
        op: SyncTotal(static=static[op], dynamic=_sum(terms[op])) for op in sorted(static)
    }


def _sum(terms: dict[tuple[str, ...], int]) -> Extent:
    known = terms.get((), 0)
    shown = [str(join_product(factor, symbols)) for symbols, factor in terms.items() if symbols]
    if not shown:
        return known
    return " + ".join(([str(known)] if known else []) + shown)


# Every statement kind of the grammar is in exactly one of these (a test holds the partition), so a
# new kind in a newer grammar is reported instead of skipped.
_LEAVES = frozenset(
    "expression_statement declaration return_statement break_statement continue_statement throw_statement"
    " co_return_statement co_yield_statement static_assert_declaration type_definition"
    " alias_declaration using_declaration namespace_alias_definition preproc_def preproc_function_def"
    " preproc_call preproc_include comment init_statement struct_specifier union_specifier"
    " class_specifier enum_specifier function_definition empty_declaration".split()
)
_BLOCKS = frozenset(("compound_statement", "attributed_statement", "labeled_statement"))
_QUERY = """
(function_definition) @function
(declaration declarator: (function_declarator)) @prototype
(declaration declarator: (parenthesized_declarator)) @prototype
(call_expression) @call
(gnu_asm_expression) @asm
(lambda_expression body: (compound_statement) @block)
(parenthesized_expression (compound_statement) @block)
(new_expression) @odd
(delete_expression) @odd
(co_await_expression) @odd
(co_yield_statement) @odd
(co_return_statement) @odd
(goto_statement) @odd
(break_statement) @exit
(return_statement) @exit
(goto_statement) @exit
(binary_expression left: (qualified_identifier) operator: "<") @chain
(binary_expression
  left: (binary_expression operator: "<") operator: ">"
  right: (parenthesized_expression)) @chain
(argument_list
  (binary_expression operator: "<") @chain
  . (binary_expression operator: ">" right: (parenthesized_expression)))
(comma_expression
  left: (binary_expression operator: "<") @chain
  right: (binary_expression operator: ">" right: (parenthesized_expression)))
(preproc_def) @macro
(preproc_function_def) @macro
(init_declarator
  declarator: (identifier) @barrier
  value: (call_expression function: (template_function) @barrier.cast))
(parameter_declaration type: (type_identifier) @barrier.type) @barrier.parameter
(declaration type: (type_identifier) @barrier.type) @barrier.declaration
"""

_MENTIONED = frozenset(name.rpartition("::")[2].encode() for name in cuda_callees.SYNC)
_WORD = re.compile(rb"[A-Za-z_]\w*")
_HARMLESS_MACROS = frozenset(("alignas", "_tl_orig_alignas"))
_NUMBER = re.compile(r"[-+()\d.xXa-fA-FuUlL\s]*\Z")
_IN_TEXT = ("comment", "string", "raw_string", "char", "system_lib", "preproc")


@dataclass(frozen=True)
class _Callee:
    """A callee's name without template arguments, and those of its last template."""

    name: str
    templates: tuple[Extent, ...]
    written: str


@dataclass(frozen=True)
class _Event:
    """A node that a leaf statement must answer for; ``kind`` is its capture name."""

    start: int
    end: int
    kind: str
    node: Node


@dataclass(frozen=True)
class _Context:
    loops: tuple[CudaLoop, ...] = ()
    guards: tuple[str, ...] = ()
    depth: int = 0

    def within(self, loop: CudaLoop) -> _Context:
        return _Context((*self.loops, loop), self.guards, self.depth + 1)

    def under(self, guard: str) -> _Context:
        return _Context(self.loops, (*self.guards, guard), self.depth + 1)

    def deeper(self) -> _Context:
        return _Context(self.loops, self.guards, self.depth + 1)


@dataclass
class _Found:
    sites: list[CudaSite] = field(default_factory=list)
    hidden: list[HiddenSync] = field(default_factory=list)


@cache
def _query() -> Query:
    return Query(language(), _QUERY)


class _Reader:
    """Reads one translation unit."""

    def __init__(self, tree: CudaTree) -> None:
        self.tree = tree
        cursor = QueryCursor(_query())
        captures = cursor.captures(tree.root)
        if cursor.did_exceed_match_limit:
            raise CudaSyntaxError("the CUDA source has more syntax than can be searched at once")
        self.captures = captures
        self.exits = sorted(captures.get("exit", ()), key=lambda node: node.start_byte)
        self.exit_starts = [node.start_byte for node in self.exits]
        self.macros = self._macros(captures.get("macro", ()))
        self.barriers = self._barrier_names()
        self.functions = [
            node for node in captures.get("function", ()) if node.child_by_field_name("body")
        ]
        self.functions.sort(key=lambda node: node.start_byte)
        self.by_name: dict[str, list[Node]] = {}
        for function in self.functions:
            name = self._function_name(function).rpartition("::")[2]
            self.by_name.setdefault(name, []).append(function)
        self.events = self._events()
        self.event_starts = [event.start for event in self.events]
        self.callees: dict[bytes, _Callee | None] = {}
        self.read: dict[int, _Found] = {}
        self.reading: list[int] = []

    def kernels(self) -> tuple[CudaKernel, ...]:
        kernels = tuple(
            self._kernel(function) for function in self.functions if _is_kernel(function)
        )
        self._refuse_bodyless({kernel.function for kernel in kernels})
        return kernels

    def _kernel(self, function: Node) -> CudaKernel:
        found = self._function(function)
        body = function.child_by_field_name("body")
        declarator = function.child_by_field_name("declarator")
        assert body is not None  # noqa: S101  `functions` holds only those with one
        return CudaKernel(
            function=self._function_name(function),
            launch_bounds=self._launch_bounds(function),
            sites=tuple(found.sites),
            hidden_syncs=tuple(found.hidden),
            shared_arrays=read_shared_arrays(self.tree, body),
            arena_aliases=read_arena_aliases(self.tree, body),
            line=self._line(declarator or function),
        )

    def _refuse_bodyless(self, defined: set[str]) -> None:
        for declaration in self.captures.get("prototype", ()):
            if _is_kernel(declaration):
                name = self._function_name(declaration)
                if name not in defined:
                    raise CudaSyntaxError(
                        f"CUDA source, line {self._line(declaration)}: kernel {name!r} is declared"
                        " but has no body",
                        hint="the file looks cut off; nothing was counted",
                    )

    # -- functions and statements ------------------------------------------------------------

    def _function(self, function: Node) -> _Found:
        """The sites of a function, relative to its entry; each function is read once."""
        known = self.read.get(function.id)
        if known is not None:
            return known
        found = _Found()
        body = function.child_by_field_name("body")
        self.reading.append(function.id)
        if body is not None:
            self._statement(body, _Context(), found)
        self.reading.pop()
        self.read[function.id] = found
        return found

    def _statement(self, node: Node, context: _Context, found: _Found) -> None:  # noqa: C901, PLR0912  one arm per kind of statement
        if context.depth > MAX_NESTING:
            raise CudaSyntaxError(
                f"CUDA source, line {self._line(node)}: nested deeper than {MAX_NESTING} levels"
            )
        kind = node.type
        if kind in _LEAVES:
            self._leaf(node, context, found)
        elif kind in _BLOCKS:
            for child in node.named_children:
                self._statement(child, context.deeper(), found)
        elif kind == "for_statement":
            self._for(node, context, found)
        elif kind in ("while_statement", "do_statement", "for_range_loop"):
            self._other_loop(node, context, found)
        elif kind == "if_statement":
            self._if(node, context, found)
        elif kind == "switch_statement":
            self._switch(node, context, found)
        elif kind in ("preproc_if", "preproc_ifdef"):
            self._preprocessor(node, context, found)
        elif kind in ("statement_identifier", "attribute_declaration"):
            pass
        elif kind == "goto_statement":
            self._leaf(node, context, found)
        else:
            self._add(found, f"unknown:{kind}", kind, {}, node, context)
            self._leaf(node, context, found)

    def _for(self, node: Node, context: _Context, found: _Found) -> None:
        loop = for_loop(
            node, self.tree.text, self._line(node), exits_early=self._exits_early(node)
        )
        inside = context.within(loop)
        self._part(node, "initializer", context, found)
        self._part(node, "condition", inside, found)
        self._part(node, "update", inside, found)
        self._body(node, inside, found)

    def _other_loop(self, node: Node, context: _Context, found: _Found) -> None:
        """Loops whose header gives no count: the extent says what it depends on."""
        condition = node.child_by_field_name("condition")
        own_test = None
        if node.type == "for_range_loop":
            right = node.child_by_field_name("right")
            header = f"for each of {self._shown(right)}"
        else:
            own_test = self._leading_test(node) if _is_true(condition, self.tree.text) else None
            tested = self._shown(condition) if own_test is None else self._negated(own_test)
            header = ("do while " if node.type == "do_statement" else "while ") + tested
            if node.type == "do_statement" and constant(_clause(condition), self.tree.text) == 0:
                self._body(node, context, found)  # `do { } while (0)` runs once
                return
        loop = CudaLoop(
            var="",
            extent=f"trips({header})",
            line=self._line(node),
            exits_early=self._exits_early(node, own_test),
        )
        inside = context.within(loop)
        self._part(node, "condition", inside, found)
        self._part(node, "right", context, found)
        self._body(node, inside, found)

    def _leading_test(self, node: Node) -> Node | None:
        """The ``if (!(c)) { break; }`` that starts a ``while (1)``: TVM's spelling of ``while (c)``."""
        body = node.child_by_field_name("body")
        if body is None or body.type != "compound_statement" or not named(body):
            return None
        first = named(body)[0]
        if first.type != "if_statement" or first.child_by_field_name("alternative") is not None:
            return None
        consequence = first.child_by_field_name("consequence")
        if consequence is None:
            return None
        inner = named(consequence) if consequence.type == "compound_statement" else [consequence]
        return first if [child.type for child in inner] == ["break_statement"] else None

    def _negated(self, test: Node) -> str:
        condition = self._shown(test.child_by_field_name("condition"))
        return condition[1:] if condition.startswith("!") else f"!({condition})"

    def _if(self, node: Node, context: _Context, found: _Found) -> None:
        """An ``if`` and its ``else if`` chain, walked in a loop so that long chains don't nest."""
        current: Node | None = node
        depth = context.depth
        while current is not None:
            condition = self._shown(current.child_by_field_name("condition"))
            self._part(current, "condition", context, found)
            consequence = current.child_by_field_name("consequence")
            if consequence is not None:
                self._statement(consequence, context.under(condition), found)
            alternative = current.child_by_field_name("alternative")
            current = None
            if alternative is None:
                return
            context = _Context(context.loops, (*context.guards, f"!({condition})"), depth)
            for child in named(alternative):
                if child.type == "if_statement":
                    current = child
                else:
                    self._statement(child, context.deeper(), found)

    def _switch(self, node: Node, context: _Context, found: _Found) -> None:
        condition = self._shown(node.child_by_field_name("condition"))
        self._part(node, "condition", context, found)
        body = node.child_by_field_name("body")
        for case in named(body) if body is not None else []:
            if case.type != "case_statement":
                self._statement(case, context.under(f"switch {condition}"), found)
                continue
            value = case.child_by_field_name("value")
            label = "default" if value is None else f"case {self._shown(value)}"
            inside = context.under(f"switch {condition}: {label}")
            for child in named(case):
                if value is None or child.id != value.id:
                    self._statement(child, inside, found)

    def _preprocessor(self, node: Node, context: _Context, found: _Found) -> None:
        """Both sides of ``#if`` … ``#else``: which one is compiled is not ours to know."""
        if node.type in ("preproc_else",):
            guard, skipped = "", None
        else:
            skipped = node.child_by_field_name("condition") or node.child_by_field_name("name")
            directive = node.children[0].type
            guard = f"{directive} {self._shown(skipped)}"
        alternative = node.child_by_field_name("alternative")
        inside = context.under(guard) if guard else context.deeper()
        for child in named(node):
            if skipped is not None and child.id == skipped.id:
                continue
            if alternative is not None and child.id == alternative.id:
                self._preprocessor(child, context.under(f"!({guard})"), found)
            else:
                self._statement(child, inside, found)

    def _part(self, node: Node, name: str, context: _Context, found: _Found) -> None:
        for part in node.children_by_field_name(name):
            self._leaf(part, context, found)

    def _body(self, node: Node, context: _Context, found: _Found) -> None:
        body = node.child_by_field_name("body")
        if body is not None:
            self._statement(body, context, found)

    def _exits_early(self, loop: Node, own_test: Node | None = None) -> bool:
        first = bisect_left(self.exit_starts, loop.start_byte)
        last = bisect_left(self.exit_starts, loop.end_byte)
        for node in self.exits[first:last]:
            if own_test is not None and own_test.start_byte <= node.start_byte < own_test.end_byte:
                continue
            if node.type != "break_statement" or _broken(node) == loop:
                return True
        return False

    # -- leaves: what a statement without statements inside does ----------------------------------

    def _leaf(self, node: Node, context: _Context, found: _Found) -> None:
        end = node.end_byte
        index = bisect_left(self.event_starts, node.start_byte)
        while index < len(self.events) and self.events[index].start < end:
            event = self.events[index]
            index += 1
            if event.kind == "call":
                self._call(event.node, node, context, found)
            elif event.kind == "asm":
                self._asm(event.node, node, context, found)
            elif event.kind == "block":
                self._statement(event.node, context.deeper(), found)
                index = bisect_left(self.event_starts, event.end)
            elif event.kind == "function":  # a method of a local class: counted when it is called
                index = bisect_left(self.event_starts, event.end)
            else:
                name = self._odd_name(event)
                self._add(found, f"unknown:{name}", name, {}, event.node, context)

    def _odd_name(self, event: _Event) -> str:
        if event.kind == "mention":
            return self.tree.source[event.start : event.end].decode()
        if event.kind == "chain":
            left = event.node
            while left.type == "binary_expression":
                inner = left.child_by_field_name("left")
                if inner is None:
                    break
                left = inner
            return squeeze(self.tree.text(left))
        if event.kind == "prototype":
            kind = event.node.child_by_field_name("type")
            return self._shown(kind)
        return event.node.type.removesuffix("_statement").removesuffix("_expression")

    def _call(self, call: Node, leaf: Node, context: _Context, found: _Found) -> None:
        function = call.child_by_field_name("function")
        if function is None:
            self._add(found, "unknown:call", squeeze(self.tree.text(call)), {}, call, context)
            return
        if function.type == "field_expression":
            self._method(call, function, leaf, context, found)
            return
        callee = self._callee(function)
        if callee is None:
            if function.type != "lambda_expression":  # its body is an event of its own
                shown = squeeze(self.tree.text(function))
                self._add(found, f"unknown:{shown}", shown, {}, call, context)
            return
        name = callee.name
        launch = any(child.type == "kernel_call_syntax" for child in call.children)
        definitions = self.by_name.get(name.rpartition("::")[2], [])
        if name in self.macros or launch:
            self._add(found, f"unknown:{name}", callee.written, {}, call, context)
        elif definitions:
            self._inline(definitions, callee, call, leaf, context, found)
        elif name in cuda_callees.SYNC:
            guarded = self._guarded(call, leaf, context)
            for op, args in cuda_callees.SYNC[name](callee.templates, self._arguments(call)):
                self._add(found, op, callee.written, args, call, guarded)
            self._hide(callee, call, guarded, found)
        elif cuda_callees.is_plain(name):
            self._hide(callee, call, context, found)
        else:
            guarded = self._guarded(call, leaf, context)
            self._add(found, f"unknown:{name}", callee.written, {}, call, guarded)

    def _hide(self, callee: _Callee, call: Node, context: _Context, found: _Found) -> None:
        for hidden in cuda_callees.hidden_syncs(
            callee.name, callee.written, callee.templates, self._line(call)
        ):
            count = product([hidden.per_call, *(loop.extent for loop in context.loops)])
            found.hidden.append(msgspec.structs.replace(hidden, dynamic=count))

    def _inline(
        self,
        definitions: list[Node],
        callee: _Callee,
        call: Node,
        leaf: Node,
        context: _Context,
        found: _Found,
    ) -> None:
        """Put the sites of a function that the file defines in the place of its call."""
        name = callee.name
        if any(definition.id in self.reading for definition in definitions):
            self._add(found, f"unknown:{name}", f"recursive {callee.written}", {}, call, context)
            return
        bodies = [self._function(definition) for definition in definitions]
        bodies = [body for body in bodies if body.sites or body.hidden]
        if not bodies:
            return
        guarded = self._guarded(call, leaf, context)
        if len(definitions) > 1:  # overloads of which some synchronise: which one is not ours to know
            self._add(found, f"unknown:{name}", callee.written, {}, call, guarded)
            return
        line = self._line(call)
        for site in bodies[0].sites:
            self._append(
                found,
                msgspec.structs.replace(
                    site,
                    line=line,
                    loops=guarded.loops + site.loops,
                    guards=guarded.guards + site.guards,
                    dynamic=product(loop.extent for loop in guarded.loops + site.loops),
                    via=(name, *site.via),
                ),
            )
        for hidden in bodies[0].hidden:
            count = product([*(loop.extent for loop in guarded.loops), hidden.dynamic])
            found.hidden.append(msgspec.structs.replace(hidden, line=line, dynamic=count))

    def _method(
        self, call: Node, function: Node, leaf: Node, context: _Context, found: _Found
    ) -> None:
        receiver = function.child_by_field_name("argument")
        method = function.child_by_field_name("field")
        if receiver is None or method is None:
            return
        callee = self._callee(method)
        name = callee.name if callee is not None else squeeze(self.tree.text(method))
        base = _base(receiver)
        base_name = self.tree.text(base) if base is not None else ""
        reader = cuda_callees.BARRIER_METHODS.get(name)
        guarded = self._guarded(call, leaf, context)
        if reader is not None and base_name in self.barriers:
            barrier = render(receiver, self.tree.text)
            written = f"{base_name}{'[]' if receiver.type == 'subscript_expression' else ''}.{name}"
            for op, args in reader((), self._arguments(call)):
                self._add(found, op, written, {"barrier": barrier, **args}, call, guarded)
            return
        group = self._group(receiver)
        op_or_none = cuda_callees.GROUP_METHODS.get((group, name))
        if op_or_none is not None:
            self._add(found, op_or_none, f"{group}().{name}", {}, call, guarded)
        elif self.by_name.get(name) and callee is not None:
            self._inline(self.by_name[name], callee, call, leaf, context, found)
        elif name not in cuda_callees.PLAIN_METHODS:
            shown = f".{name}"
            self._add(found, f"unknown:{shown}", f"{base_name}{shown}", {}, call, guarded)

    def _group(self, receiver: Node) -> str:
        """``this_grid`` of ``cooperative_groups::this_grid()``, else empty."""
        function = receiver.child_by_field_name("function")
        if receiver.type != "call_expression" or function is None:
            return ""
        callee = self._callee(function)
        if callee is None:
            return ""
        scope, _, name = callee.name.rpartition("::")
        return name if scope in ("cooperative_groups", "cg") else ""

    def _asm(self, node: Node, leaf: Node, context: _Context, found: _Found) -> None:
        code = node.child_by_field_name("assembly_code")
        template = self._string(code) if code is not None else ""
        operands: list[Extent] = []
        for name in ("output_operands", "input_operands"):
            group = node.child_by_field_name(name)
            for operand in group.named_children if group is not None else ():
                value = operand.child_by_field_name("value")
                if value is not None:
                    operands.append(value_of(value, self.tree.text))
        guarded = self._guarded(node, leaf, context)
        for site in cuda_asm.read_asm(template, tuple(operands)):
            self._add(found, site.op, f"asm {site.opcode}", dict(site.args), node, guarded)

    def _string(self, node: Node) -> str:
        """The value of a string literal, concatenations joined, escapes resolved to spaces."""
        if node.type == "concatenated_string":
            return "".join(self._string(child) for child in named(node))
        parts = []
        for child in node.named_children:
            if child.type in ("string_content", "raw_string_content"):
                parts.append(self.tree.text(child))
            elif child.type == "escape_sequence":
                escape = self.tree.text(child)
                parts.append({"\\n": "\n", "\\t": "\t", "\\r": "\r"}.get(escape, escape[1:]))
        return "".join(parts)

    # -- names, arguments, guards -----------------------------------------------------------------

    def _callee(self, function: Node) -> _Callee | None:
        key = self.tree.source[function.start_byte : function.end_byte]
        if key not in self.callees:
            templates: list[tuple[Extent, ...]] = []
            name = self._name(function, templates)
            written = squeeze(self.tree.text(function))
            self.callees[key] = (
                None if name is None else _Callee(name, templates[-1] if templates else (), written)
            )
        return self.callees[key]

    def _name(self, node: Node, templates: list[tuple[Extent, ...]]) -> str | None:
        kind = node.type
        if kind in ("template_function", "template_type", "template_method"):
            arguments = node.child_by_field_name("arguments")
            if arguments is not None:
                templates.append(
                    tuple(value_of(child, self.tree.text) for child in named(arguments))
                )
            inner = node.child_by_field_name("name")
            return self._name(inner, templates) if inner is not None else None
        if kind == "qualified_identifier":
            scope = node.child_by_field_name("scope")
            inner = node.child_by_field_name("name")
            last = self._name(inner, templates) if inner is not None else None
            if scope is None or last is None:
                return last
            first = self._name(scope, templates)
            return None if first is None else f"{first}::{last}"
        if kind in ("parenthesized_expression", "dependent_name"):
            children = named(node)
            return self._name(children[0], templates) if len(children) == 1 else None
        if kind.endswith("identifier") or kind in ("primitive_type", "sized_type_specifier"):
            return squeeze(self.tree.text(node))
        return None

    def _arguments(self, call: Node) -> tuple[Extent, ...]:
        arguments = call.child_by_field_name("arguments")
        if arguments is None:
            return ()
        return tuple(value_of(child, self.tree.text) for child in named(arguments))

    def _guarded(self, node: Node, leaf: Node, context: _Context) -> _Context:
        """The context of a node, with the conditions inside its own statement (``?:``, ``&&``)."""
        guards: list[str] = []
        child, parent = node, node.parent
        while parent is not None and child.id != leaf.id:
            if parent.type == "conditional_expression":
                condition = parent.child_by_field_name("condition")
                alternative = parent.child_by_field_name("alternative")
                if condition is not None and condition.id != child.id:
                    shown = self._shown(condition)
                    taken = alternative is None or alternative.id != child.id
                    guards.append(shown if taken else f"!({shown})")
            elif parent.type == "binary_expression":
                operator = parent.child_by_field_name("operator")
                left = parent.child_by_field_name("left")
                if operator is not None and left is not None and left.id != child.id:
                    shown = self._shown(left)
                    if operator.type == "&&":
                        guards.append(shown)
                    elif operator.type == "||":
                        guards.append(f"!({shown})")
            child, parent = parent, parent.parent
        if not guards:
            return context
        return _Context(context.loops, (*context.guards, *reversed(guards)), context.depth)

    def _add(
        self,
        found: _Found,
        op: str,
        callee: str,
        args: dict[str, Extent],
        node: Node,
        context: _Context,
    ) -> None:
        site = CudaSite(
            op=op,
            callee=callee,
            args=args,
            line=self._line(node),
            loops=context.loops,
            guards=context.guards,
            dynamic=product(loop.extent for loop in context.loops),
        )
        self._append(found, site)

    def _append(self, found: _Found, site: CudaSite) -> None:
        found.sites.append(site)
        if len(found.sites) > MAX_SITES:
            raise CudaSyntaxError(
                f"CUDA source, line {site.line}: more than {MAX_SITES} synchronisation sites in one"
                " function"
            )

    def _shown(self, node: Node | None) -> str:
        return "" if node is None else render(node, self.tree.text)

    def _line(self, node: Node) -> int:
        return node.start_point[0] + 1

    # -- the translation unit ---------------------------------------------------------------------

    def _events(self) -> list[_Event]:
        """Everything a statement must answer for, in source order."""
        events = [
            _Event(node.start_byte, node.end_byte, kind, node)
            for kind in ("call", "asm", "block", "odd", "chain", "prototype", "function")
            for node in self.captures.get(kind, ())
        ]
        events.extend(self._mentions())
        events.sort(key=lambda event: (event.start, -event.end))
        return events

    def _mentions(self) -> Iterator[_Event]:
        """Names of synchronising functions and macros that stand anywhere but in a call.

        This does not trust the parser: were a call ever read as something else, its name would show
        up here, and become an ``unknown`` site instead of a missing one.
        """
        calls = sorted(
            (function.start_byte, function.end_byte)
            for call in self.captures.get("call", ())
            if (function := call.child_by_field_name("function")) is not None
        )
        starts = [start for start, _ in calls]
        names = _MENTIONED | {name.encode() for name in self.macros}
        for function in self.functions:
            body = function.child_by_field_name("body")
            assert body is not None  # noqa: S101  `functions` holds only those with one
            for match in _WORD.finditer(self.tree.source, body.start_byte, body.end_byte):
                if match[0] not in names:
                    continue
                index = bisect_right(starts, match.start()) - 1
                if index >= 0 and match.end() <= calls[index][1]:
                    continue
                node = self.tree.root.descendant_for_byte_range(match.start(), match.end())
                if node is not None and not node.type.startswith(_IN_TEXT):
                    yield _Event(match.start(), match.end(), "mention", node)

    def _macros(self, nodes: Sequence[Node]) -> frozenset[str]:
        """Macros that are more than a number: a use of one can hide anything."""
        names = set()
        for node in nodes:
            name = node.child_by_field_name("name")
            value = node.child_by_field_name("value")
            if name is None or self.tree.text(name) in _HARMLESS_MACROS:
                continue
            body = "" if value is None else self.tree.text(value)
            if node.type == "preproc_function_def" or _NUMBER.match(body) is None:
                names.add(self.tree.text(name))
        return frozenset(names)

    def _barrier_names(self) -> frozenset[str]:
        """Names of ``Barrier`` arrays: declared so, or cast so (codegen_cuda.cc, create_barriers)."""
        names = set()
        for cast in self.captures.get("barrier.cast", ()):
            declarator = cast.parent.parent if cast.parent is not None else None
            target = cast.child_by_field_name("arguments")
            if declarator is None or target is None:
                continue
            name = declarator.child_by_field_name("declarator")
            if name is not None and squeeze(self.tree.text(target)).strip("<> *") == "Barrier":
                names.add(self.tree.text(name))
        for kind in self.captures.get("barrier.type", ()):
            if self.tree.text(kind) == "Barrier" and kind.parent is not None:
                for declarator in kind.parent.children_by_field_name("declarator"):
                    base = _base(declarator)
                    if base is not None:
                        names.add(self.tree.text(base))
        return frozenset(names)

    def _function_name(self, function: Node) -> str:
        node = function.child_by_field_name("declarator")
        while node is not None and node.type != "function_declarator":
            node = node.child_by_field_name("declarator") or (
                node.named_children[-1] if node.named_children else None
            )
        name = node.child_by_field_name("declarator") if node is not None else None
        return squeeze(self.tree.text(name)) if name is not None else "(unnamed)"

    def _launch_bounds(self, function: Node) -> tuple[Extent, ...]:
        for child in function.children:
            if child.type == "launch_bounds":
                return tuple(value_of(value, self.tree.text) for value in named(child))
        return ()


def _is_kernel(node: Node) -> bool:
    return any(child.type == "__global__" for child in node.children)


def _is_true(condition: Node | None, text: object) -> bool:
    clause = _clause(condition)
    value = constant(clause, text) if clause is not None else None  # type: ignore[arg-type]
    return bool(value)


def _clause(condition: Node | None) -> Node | None:
    """The expression inside a ``condition_clause``."""
    if condition is not None and condition.type == "condition_clause":
        return condition.child_by_field_name("value")
    return condition


def _base(node: Node) -> Node | None:
    """The identifier that an element, member or pointer expression starts from."""
    current: Node | None = node
    while current is not None:
        if current.type in ("identifier", "field_identifier"):
            return current
        if current.type == "parenthesized_expression":
            children = named(current)
            current = children[0] if len(children) == 1 else None
        elif current.type in ("subscript_expression", "pointer_expression"):
            current = current.child_by_field_name("argument")
        elif current.type.endswith("_declarator"):
            current = current.child_by_field_name("declarator") or (
                current.named_children[-1] if current.named_children else None
            )
        else:
            return None
    return None


def _broken(node: Node) -> Node | None:
    """The loop or ``switch`` that a ``break`` leaves."""
    current = node.parent
    while current is not None and not current.type.startswith(("for_", "while_", "do_", "switch_")):
        current = current.parent
    return current
