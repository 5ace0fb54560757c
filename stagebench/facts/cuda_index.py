"""What stands where in a translation unit?  Found once with one tree query, then sliced by offset.

A statement of generated code is mostly index arithmetic.  The query picks out, in C, the few nodes
that a reader of synchronisation must answer for (*events*: calls, ``asm``, lambdas and so on), and
Python never visits the rest.

Not handled: scopes (a name that is a barrier array anywhere in the file is one everywhere).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from tree_sitter import Node, Query, QueryCursor

from stagebench.facts import cuda_callees
from stagebench.facts.cuda_expressions import named, squeeze
from stagebench.facts.cuda_syntax import CudaSyntaxError, CudaTree, language

# Simple patterns only: compiling a query costs 15 ms, each nested pattern several more.
_QUERY = """
(function_definition) @function
(declaration) @declaration
(parameter_declaration) @declaration
(call_expression) @call
(gnu_asm_expression) @asm
(lambda_expression) @lambda
(parenthesized_expression (compound_statement) @block)
(binary_expression operator: "<") @less
(new_expression) @odd
(delete_expression) @odd
(co_await_expression) @odd
(co_yield_statement) @odd
(co_return_statement) @odd
(goto_statement) @odd
(goto_statement) @exit
(break_statement) @exit
(return_statement) @exit
(preproc_def) @macro
(preproc_function_def) @macro
"""

_WORD = re.compile(rb"[A-Za-z_]\w*")
_CALLED = re.compile(r"[A-Za-z_][\w:]*(?=\s*\()")
_HARMLESS_BODY = re.compile(
    r"[-+()\d.xXa-fA-FuUlL\s]*\Z"
    r"|(?:(?:unsigned|signed|int|char|short|long|float|double|const|asm|volatile|inline)\b\s*)+\Z"
)
"""A macro's body that can't call anything: a number, or a type or keyword by another name."""
_HARMLESS_MACROS = frozenset(("alignas", "_tl_orig_alignas"))
"""Macros that TileLang's header block defines (codegen_cuda.cc, ``Finish``): alignment only."""
_TEXT_KINDS = ("comment", "string", "raw_string", "char", "system_lib", "preproc")
_MENTIONED = frozenset(name.rpartition("::")[2].encode() for name in cuda_callees.SYNC)


@dataclass(frozen=True)
class Event:
    """A node that the statement around it must answer for.  Offsets are bytes.

    ``kind`` is ``call``, ``asm``, ``block`` (a lambda's body or ``({ … })``), ``function`` (a
    method of a local class), ``odd`` (syntax that hides control flow), ``chain`` (a comparison that
    may be a template call), ``prototype`` (a declaration that may be a call) or ``mention`` (the
    name of a synchronising function or a macro outside a call).
    """

    start: int
    end: int
    kind: str
    node: Node


class CudaIndex:
    """The functions, events, macros and barrier names of one translation unit."""

    def __init__(self, tree: CudaTree) -> None:
        self.tree = tree
        cursor = QueryCursor(_query())
        self._captures = cursor.captures(tree.root)
        if cursor.did_exceed_match_limit:
            raise CudaSyntaxError("the CUDA source has more syntax than can be searched at once")
        self._exits = self._sorted("exit")
        self._exit_starts = [node.start_byte for node in self._exits]
        self._declarations = self._sorted("declaration")
        self._declaration_starts = [node.start_byte for node in self._declarations]
        macros = self._find_macros()
        self.hiding_macros = frozenset(name for name, hides in macros.items() if hides)
        self.plain_macros = frozenset(macros) - self.hiding_macros
        self.barriers = self._find_barriers()
        self.variables = frozenset(self._initialised())
        self.functions = [
            node for node in self._sorted("function") if node.child_by_field_name("body")
        ]
        self._by_name: dict[str, list[tuple[str, Node]]] = {}
        for function in self.functions:
            name = self._qualified_name(function)
            self._by_name.setdefault(name.rpartition("::")[2], []).append((name, function))
        self._events = sorted(self._find_events(), key=lambda event: (event.start, -event.end))
        self._event_starts = [event.start for event in self._events]

    def events(self, node: Node) -> Iterator[Event]:
        """Yield the events inside a node in source order, outermost first.

        What lies inside a ``block`` or ``function`` event is left to whoever handles that event.
        """
        index = bisect_left(self._event_starts, node.start_byte)
        while index < len(self._events) and self._events[index].start < node.end_byte:
            event = self._events[index]
            yield event
            if event.kind in ("block", "function"):
                index = bisect_left(self._event_starts, event.end)
            else:
                index += 1

    def declarations(self, node: Node) -> list[Node]:
        """Return the declarations inside a node, in source order."""
        first = bisect_left(self._declaration_starts, node.start_byte)
        last = bisect_left(self._declaration_starts, node.end_byte)
        return [found for found in self._declarations[first:last] if found.type == "declaration"]

    def exits_early(self, loop: Node, own_test: Node | None) -> bool:
        """Whether ``break``, ``return`` or ``goto`` can leave a loop, ``own_test`` apart."""
        first = bisect_left(self._exit_starts, loop.start_byte)
        last = bisect_left(self._exit_starts, loop.end_byte)
        return any(
            node.type != "break_statement" or _left_by(node) == loop
            for node in self._exits[first:last]
            if own_test is None or not own_test.start_byte <= node.start_byte < own_test.end_byte
        )

    def function_name(self, function: Node) -> str:
        """Return a function's name as its definition or declaration writes it."""
        node = function.child_by_field_name("declarator")
        while node is not None and node.type != "function_declarator":
            node = inner_declarator(node)
        name = node.child_by_field_name("declarator") if node is not None else None
        return squeeze(self.tree.text(name)) if name is not None else "(unnamed)"

    def definitions(self, callee: str) -> list[Node]:
        """Return the functions of this file that a callee (without template arguments) may mean.

        A qualified callee must match the end of the definition's own scopes; a plain name or a
        method matches any definition of that name.
        """
        return [
            function
            for name, function in self._by_name.get(callee.rpartition("::")[2], ())
            if name == callee or name.endswith(f"::{callee}")
        ]

    def parameters(self, function: Node) -> list[str]:
        """Return the names of a function's parameters; an empty string for one without a name."""
        node = function.child_by_field_name("declarator")
        while node is not None and node.type != "function_declarator":
            node = inner_declarator(node)
        group = node.child_by_field_name("parameters") if node is not None else None
        found = []
        for parameter in named(group) if group is not None else ():
            declarator = parameter.child_by_field_name("declarator")
            base = base_identifier(declarator) if declarator is not None else None
            found.append(self.tree.text(base) if base is not None else "")
        return found

    def bodyless_kernels(self) -> list[tuple[str, int]]:
        """Return name and line of each kernel that is declared and nowhere defined."""
        defined = {self.function_name(node) for node in self.functions if is_kernel(node)}
        return [
            (name, self.line(node))
            for node in self._declarations
            if is_kernel(node) and (name := self.function_name(node)) not in defined
        ]

    def line(self, node: Node) -> int:
        """Return the 1-based physical line that a node starts on."""
        return node.start_point[0] + 1

    def _qualified_name(self, function: Node) -> str:
        """Return a function's name with the namespaces and classes around it."""
        scopes = [self.function_name(function)]
        parent = function.parent
        while parent is not None:
            name = parent.child_by_field_name("name")
            if name is not None and parent.type.endswith(("_specifier", "namespace_definition")):
                scopes.append(self.tree.text(name))
            parent = parent.parent
        return "::".join(reversed(scopes))

    def _sorted(self, capture: str) -> list[Node]:
        return sorted(self._captures.get(capture, ()), key=lambda node: node.start_byte)

    def _find_events(self) -> Iterator[Event]:
        for kind in ("call", "asm", "block", "odd", "function"):
            for node in self._captures.get(kind, ()):
                yield Event(node.start_byte, node.end_byte, kind, node)
        for node in self._captures.get("lambda", ()):
            body = node.child_by_field_name("body")
            if body is not None:
                yield Event(body.start_byte, body.end_byte, "block", body)
        for node in self._captures.get("less", ()):
            if _may_be_template(node):
                yield Event(node.start_byte, node.end_byte, "chain", node)
        for node in self._declarations:
            declarators = node.children_by_field_name("declarator")
            if node.type == "declaration" and any(
                declarator.type in ("function_declarator", "parenthesized_declarator")
                for declarator in declarators
            ):
                yield Event(node.start_byte, node.end_byte, "prototype", node)
        yield from self._find_mentions()

    def _find_mentions(self) -> Iterator[Event]:
        """Yield names of synchronising functions and macros that stand anywhere but in a call.

        This does not trust the parser: were a call ever read as something else, its name would show
        up here, and become an ``unknown`` site instead of a missing one.
        """
        calls = sorted(
            (function.start_byte, function.end_byte)
            for call in self._captures.get("call", ())
            if (function := call.child_by_field_name("function")) is not None
        )
        starts = [start for start, _ in calls]
        names = _MENTIONED | {name.encode() for name in self.hiding_macros}
        for function in self.functions:
            body = function.child_by_field_name("body") or function
            for match in _WORD.finditer(self.tree.source, body.start_byte, body.end_byte):
                if match[0] not in names:
                    continue
                index = bisect_right(starts, match.start()) - 1
                if index >= 0 and match.end() <= calls[index][1]:
                    continue
                node = self.tree.root.descendant_for_byte_range(match.start(), match.end())
                if node is not None and not node.type.startswith(_TEXT_KINDS):
                    yield Event(match.start(), match.end(), "mention", node)

    def _find_macros(self) -> dict[str, bool]:
        """Find the macros, and whether each can hide something: a call that isn't known plain.

        A body is not parsed, only its words are looked at: a macro is let off only if every word
        before a parenthesis is a plain function and no word is a synchronising one.
        """
        macros: dict[str, bool] = {}
        for node in self._captures.get("macro", ()):
            name = node.child_by_field_name("name")
            value = node.child_by_field_name("value")
            if name is None or self.tree.text(name) in _HARMLESS_MACROS:
                continue
            body = "" if value is None else self.tree.text(value)
            words = {word.encode() for word in re.findall(r"\w+", body)}
            hides = _HARMLESS_BODY.match(body) is None and (
                node.type == "preproc_def"
                or bool(words & (_MENTIONED | {b"asm", b"__asm__", b"Barrier"}))
                or not all(cuda_callees.is_plain(called) for called in _CALLED.findall(body))
            )
            shown = self.tree.text(name)
            macros[shown] = hides or macros.get(shown, False)
        return macros

    def _find_barriers(self) -> frozenset[str]:
        """Find the names of ``Barrier`` arrays: declared with that type, or cast to it.

        Source: codegen_cuda.cc, ``create_barriers`` and ``VisitStmt_(AllocBufferNode)``:
        ``auto name = reinterpret_cast<Barrier*>(name_mem);``.
        """
        names = set()
        for declaration in self._declarations:
            shown = self.tree.source[declaration.start_byte : declaration.end_byte]
            if b"Barrier" not in shown:
                continue
            kind = declaration.child_by_field_name("type")
            typed = kind is not None and self.tree.text(kind) == "Barrier"
            for declarator in declaration.children_by_field_name("declarator"):
                base = base_identifier(declarator)
                if base is not None and (typed or self._casts_to_barrier(declarator)):
                    names.add(self.tree.text(base))
        return frozenset(names)

    def _initialised(self) -> Iterator[str]:
        """Yield the names of variables that are given a value where they are declared."""
        for declaration in self._declarations:
            for declarator in declaration.children_by_field_name("declarator"):
                base = base_identifier(declarator)
                if declarator.type == "init_declarator" and base is not None:
                    yield self.tree.text(base)

    def _casts_to_barrier(self, declarator: Node) -> bool:
        value = declarator.child_by_field_name("value")
        if value is None:
            return False
        function = value.child_by_field_name("function")
        if value.type == "cast_expression":
            target = value.child_by_field_name("type")
        elif function is not None and function.type == "template_function":
            target = function.child_by_field_name("arguments")
        else:
            return False
        shown = "" if target is None else squeeze(self.tree.text(target))
        return shown.strip("<> *").removeprefix("const ") == "Barrier"


@cache
def _query() -> Query:
    query: Query = Query(language(), _QUERY)
    return query


def is_kernel(node: Node) -> bool:
    """Whether a function definition or declaration is a ``__global__`` one."""
    return any(child.type == "__global__" for child in node.children)


def inner_declarator(node: Node) -> Node | None:
    """Return the declarator inside a declarator (some of the grammar's rules don't name it)."""
    inner = node.child_by_field_name("declarator")
    if inner is None and node.type.endswith("_declarator") and node.named_children:
        return node.named_children[-1]
    return inner


def base_identifier(node: Node) -> Node | None:
    """Return the identifier that an element, pointer or declarator is about, if there is one."""
    current: Node | None = node
    while current is not None and current.type not in ("identifier", "field_identifier"):
        if current.type == "parenthesized_expression":
            children = named(current)
            current = children[0] if len(children) == 1 else None
        elif current.type in ("subscript_expression", "pointer_expression"):
            current = current.child_by_field_name("argument")
        else:
            current = inner_declarator(current)
    return current


def _left_by(node: Node) -> Node | None:
    """Return the loop or ``switch`` that a ``break`` leaves."""
    current = node.parent
    while current is not None and not current.type.startswith(("for_", "while_", "do_", "switch_")):
        current = current.parent
    return current


def _may_be_template(less: Node) -> bool:
    """Whether ``a < b`` could be the start of a template call ``a<b>(…)`` that was misread.

    Three shapes: its left side is a qualified name (``ns::f < n``); it is itself the left side of
    ``> (…)``; or the next argument is such a ``>`` (``g(f<n, m>(x))``).
    """
    left = less.child_by_field_name("left")
    if left is not None and left.type == "qualified_identifier":
        return True
    parent = less.parent
    if parent is None:
        return False
    if parent.type == "binary_expression" and parent.child_by_field_name("left") == less:
        return _is_greater_call(parent)
    if parent.type in ("argument_list", "comma_expression"):
        following = less.next_named_sibling
        return following is not None and _is_greater_call(following)
    return False


def _is_greater_call(node: Node) -> bool:
    operator = node.child_by_field_name("operator")
    right = node.child_by_field_name("right")
    return (
        node.type == "binary_expression"
        and operator is not None
        and operator.type == ">"
        and right is not None
        and right.type == "parenthesized_expression"
    )
