"""What does one call, or one ``asm`` statement, do?  The sites that stand for it.

Fails closed: a callee, macro or instruction that nobody described is a site ``unknown:<name>``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

import msgspec
from tree_sitter import Node

from stagebench.facts import cuda_asm, cuda_callees
from stagebench.facts.cuda_context import Context, Found
from stagebench.facts.cuda_expressions import named, render, squeeze, value_of
from stagebench.facts.cuda_index import CudaIndex, base_identifier
from stagebench.facts.cuda_loops import multiplied, split_product, written
from stagebench.facts.cuda_names import Callee, CalleeNames
from stagebench.facts.cuda_records import CudaSite, HiddenSync
from stagebench.model.base import Extent

_ESCAPES = {"\\n": "\n", "\\t": "\t", "\\r": "\r"}


class CallReader:
    """Reads calls.  ``read`` gives the sites of a function that the file defines.

    ``being_read`` are the functions around: a call of one of them is recursive.
    """

    def __init__(
        self, index: CudaIndex, read: Callable[[Node], Found], being_read: Collection[int]
    ) -> None:
        self._index = index
        self._text = index.tree.text
        self._callees = CalleeNames(index.tree)
        self._read = read
        self._being_read = being_read

    def read_call(self, call: Node, leaf: Node, context: Context) -> None:
        """Add the sites of a call inside the statement ``leaf``."""
        function = call.child_by_field_name("function")
        if function is None or function.type == "lambda_expression":
            return  # a lambda that is called at once: its body is an event of its own
        if function.type == "field_expression":
            self._method(call, function, leaf, context)
            return
        callee = self._callees.read(function)
        launch = any(child.type == "kernel_call_syntax" for child in call.children)
        if callee is None or launch or callee.name in self._index.hiding_macros:
            shown = squeeze(self._text(function))
            name = shown if callee is None else callee.name
            context.add(f"unknown:{name}", shown, {}, self._index.line(call))
        elif callee.name in self._index.plain_macros:
            return
        elif definitions := self._index.definitions(callee.name):
            self._inline(definitions, callee, call, leaf, context)
        elif callee.name in cuda_callees.SYNC:
            guarded = self._guarded(call, leaf, context)
            reader = cuda_callees.SYNC[callee.name]
            for op, args in reader(callee.templates, self._arguments(call)):
                guarded.add(op, callee.written, args, self._index.line(call))
            self._hide(callee, call, guarded)
        elif cuda_callees.is_plain(callee.name):
            self._hide(callee, call, context)
        else:
            guarded = self._guarded(call, leaf, context)
            guarded.add(f"unknown:{callee.name}", callee.written, {}, self._index.line(call))

    def _hide(self, callee: Callee, call: Node, context: Context) -> None:
        for op, per_call, args in cuda_callees.hidden_syncs(callee.name, callee.templates):
            context.found.hidden.append(
                HiddenSync(
                    op=op,
                    callee=callee.written,
                    args=args,
                    per_call=per_call,
                    line=self._index.line(call),
                    dynamic=written(multiplied((per_call, ()), context.nest.executions)),
                )
            )

    def _inline(
        self, definitions: list[Node], callee: Callee, call: Node, leaf: Node, context: Context
    ) -> None:
        """Put the sites of a function that the file defines in the place of its call."""
        name, line = callee.name, self._index.line(call)
        if any(definition.id in self._being_read for definition in definitions):
            context.add(
                f"unknown:{name}", f"recursive {callee.written}", {}, self._index.line(call)
            )
            return
        bodies = [self._read(definition) for definition in definitions]
        if not any(body.sites or body.hidden for body in bodies):
            return
        guarded = self._guarded(call, leaf, context)
        if len(definitions) > 1:  # overloads, some of which synchronise: which one, we can't tell
            guarded.add(f"unknown:{name}", callee.written, {}, line)
            return
        names = self._index.parameters(definitions[0])
        given = dict(zip(names, self._arguments(call), strict=False))
        for site in _without_halves(bodies[0].sites):
            factors = guarded.nest.of_call(site.factors, given)
            args = {name: _passed(value, given) for name, value in site.args.items()}
            op, args = cuda_asm.whole_barrier(site.op, args)
            moved = msgspec.structs.replace(
                site,
                op=op,
                args=args,
                line=line,
                loops=guarded.loops + site.loops,
                guards=guarded.guards + site.guards,
                dynamic=written(factors),
                factors=factors,
                via=(name, *site.via),
            )
            context.add_site(moved)
        for hidden in bodies[0].hidden:
            count = guarded.nest.of_call(split_product([hidden.dynamic]), given)
            moved_hidden = msgspec.structs.replace(hidden, line=line, dynamic=written(count))
            context.found.hidden.append(moved_hidden)

    def _method(self, call: Node, function: Node, leaf: Node, context: Context) -> None:
        receiver = function.child_by_field_name("argument")
        method = function.child_by_field_name("field")
        if receiver is None or method is None:
            return
        callee = self._callees.read(method)
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
                guarded.add(op, written, {"barrier": barrier, **args}, self._index.line(call))
        elif op is not None:
            written = f"{self._group(receiver)}().{name}"
            self._guarded(call, leaf, context).add(op, written, {}, self._index.line(call))
        elif callee is not None and (definitions := self._index.definitions(name)):
            self._inline(definitions, callee, call, leaf, context)
        elif name not in cuda_callees.PLAIN_METHODS:
            guarded = self._guarded(call, leaf, context)
            guarded.add(f"unknown:.{name}", f"{base_name}.{name}", {}, self._index.line(call))

    def _group(self, receiver: Node) -> str:
        """Return ``this_grid`` for ``cooperative_groups::this_grid()``, else an empty string."""
        function = receiver.child_by_field_name("function")
        callee = self._callees.read(function) if function is not None else None
        if callee is None or receiver.type != "call_expression":
            return ""
        scope, _, name = callee.name.rpartition("::")
        return name if scope in ("cooperative_groups", "cg") else ""

    def read_asm(self, node: Node, leaf: Node, context: Context) -> None:
        """Add the sites of an ``asm`` inside the statement ``leaf``."""
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
            guarded.add(site.op, f"asm {site.opcode}", dict(site.args), self._index.line(node))

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

    def _arguments(self, call: Node) -> tuple[Extent, ...]:
        arguments = call.child_by_field_name("arguments")
        children = named(arguments) if arguments is not None else []
        return tuple(value_of(child, self._text) for child in children)

    def _guarded(self, node: Node, leaf: Node, context: Context) -> Context:
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

    def _shown(self, node: Node | None) -> str:
        return "" if node is None else render(node, self._text)


def _without_halves(sites: list[CudaSite]) -> list[CudaSite]:
    """Read a function that only arrives at the cluster's barrier and waits there as one sync.

    Apache TVM's ``cluster_sync`` is such a function; the reader of PTX does the same by lines.
    """
    halves = [site.op for site in sites] == ["cluster_arrive", "cluster_wait"]
    alike = halves and sites[0].loops == sites[1].loops and sites[0].guards == sites[1].guards
    return [msgspec.structs.replace(sites[0], op="cluster_sync", args={})] if alike else sites


def _passed(value: Extent, given: dict[str, Extent]) -> Extent:
    """Replace a value that is just a parameter's name by what the call passes for it."""
    return given.get(value, value) if isinstance(value, str) else value
