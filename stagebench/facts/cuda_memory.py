"""Which shared memory does a kernel declare, and where does each buffer lie in the arena?

TileLang merges dynamic shared buffers into one ``extern __shared__`` array and names a buffer by a
pointer at a constant offset; with a single dynamic buffer the array itself is the buffer and there is
no alias.  Source: codegen_cuda.cc, ``VisitStmt_(AllocBufferNode)``, ``PrintStorageScope``.
Not handled: pointers whose offset isn't a constant (they are uses, not buffers).
"""

from __future__ import annotations

from bisect import bisect_left

from tree_sitter import Node

from stagebench.facts.cuda_expressions import constant, named, squeeze
from stagebench.facts.cuda_records import ArenaAlias, SharedArray
from stagebench.facts.cuda_syntax import CudaTree


def read_shared_arrays(tree: CudaTree, body: Node) -> tuple[SharedArray, ...]:
    """The ``__shared__`` declarations of a function's body, in source order."""
    return tuple(
        array
        for declaration in _declarations(body)
        if _qualifiers(tree, declaration) & {"__shared__"}
        for array in _arrays(tree, declaration)
    )


def read_arena_aliases(tree: CudaTree, body: Node) -> tuple[ArenaAlias, ...]:
    """``void* A = ((void*)((char*)arena + 49152));`` for each dynamic shared array ``arena``."""
    arenas = {array.name for array in read_shared_arrays(tree, body) if array.dynamic}
    aliases = []
    for declaration in _declarations(body) if arenas else ():
        for declarator in declaration.children_by_field_name("declarator"):
            if declarator.type != "init_declarator":
                continue
            pointer = declarator.child_by_field_name("declarator")
            value = declarator.child_by_field_name("value")
            target = _address(tree, value) if value is not None else None
            if pointer is None or pointer.type != "pointer_declarator" or target is None:
                continue
            arena, offset = target
            name = pointer.child_by_field_name("declarator")
            if arena in arenas and name is not None:
                aliases.append(
                    ArenaAlias(
                        name=tree.text(name),
                        arena=arena,
                        offset_bytes=offset,
                        line=declaration.start_point[0] + 1,
                    )
                )
    return tuple(aliases)


def _declarations(body: Node) -> list[Node]:
    """Declarations of a block and the blocks inside it (never those of expressions)."""
    found, stack = [], [body]
    while stack:
        node = stack.pop()
        if node.type == "declaration":
            found.append(node)
        elif node.type.endswith(("_statement", "_clause")) and node.type != "expression_statement":
            stack.extend(reversed(node.named_children))
    return found


def _qualifiers(tree: CudaTree, declaration: Node) -> set[str]:
    return {
        tree.text(child)
        for child in declaration.children
        if child.type in ("type_qualifier", "storage_class_specifier")
    }


def _arrays(tree: CudaTree, declaration: Node) -> list[SharedArray]:
    kind = declaration.child_by_field_name("type")
    element_type = squeeze(tree.text(kind)) if kind is not None else ""
    arrays = []
    for outermost in declaration.children_by_field_name("declarator"):
        elements: int | None = 1
        declarator: Node | None = outermost
        while declarator is not None and declarator.type == "array_declarator":
            size = constant(declarator.child_by_field_name("size"), tree.text)
            elements = None if size is None or elements is None else elements * size
            declarator = declarator.child_by_field_name("declarator")
        if declarator is None:
            continue
        arrays.append(
            SharedArray(
                name=tree.text(declarator),
                element_type=element_type,
                elements=elements,
                dynamic="extern" in _qualifiers(tree, declaration),
                line=declarator.start_point[0] + 1,
                alignment_bytes=_alignment(tree, declaration),
            )
        )
    return arrays


def _alignment(tree: CudaTree, declaration: Node) -> int | None:
    """From the blanked ``__align__(N)`` or from ``alignas(N)``; ``None`` unless a plain number."""
    first = bisect_left(tree.alignments, (declaration.start_byte, ""))
    for offset, shown in tree.alignments[first:]:
        if offset >= declaration.end_byte:
            break
        return int(shown) if shown.isdigit() else None
    for child in declaration.children:
        inner = named(child)
        if child.type == "type_qualifier" and inner and inner[0].type == "alignas_qualifier":
            values = named(inner[0])
            return constant(values[0], tree.text) if values else None
    return None


def _address(tree: CudaTree, value: Node) -> tuple[str, int] | None:
    """``(arena, offset)`` of ``((void*)((char*)arena + offset))``."""
    while value.type in ("parenthesized_expression", "cast_expression"):
        if value.type == "cast_expression":
            inner = value.child_by_field_name("value")
        else:
            children = named(value)
            inner = children[0] if len(children) == 1 else None
        if inner is None:
            return None
        value = inner
    if value.type == "identifier":
        return tree.text(value), 0
    left, right = value.child_by_field_name("left"), value.child_by_field_name("right")
    operator = value.child_by_field_name("operator")
    if value.type != "binary_expression" or left is None or operator is None:
        return None
    offset = constant(right, tree.text)
    base = _address(tree, left)
    if operator.type != "+" or offset is None or base is None:
        return None
    return base[0], base[1] + offset
