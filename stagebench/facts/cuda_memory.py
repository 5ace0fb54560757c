"""Which shared memory does a kernel declare?  Arrays, and the buffers inside the merged arena.

TileLang merges dynamic shared buffers into one ``extern __shared__`` array and names a buffer by a
pointer at a constant offset; with a single dynamic buffer the array itself is the buffer and there
is no alias.  Source: codegen_cuda.cc, ``VisitStmt_(AllocBufferNode)``, ``PrintStorageScope``.
Not handled: pointers whose offset isn't a constant (they are uses, not buffers).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from tree_sitter import Node

from stagebench.facts.cuda_expressions import constant, named, squeeze
from stagebench.facts.cuda_records import ArenaAlias, SharedArray
from stagebench.facts.cuda_syntax import CudaTree


def shared_arrays(tree: CudaTree, declarations: Sequence[Node]) -> tuple[SharedArray, ...]:
    """Return the ``__shared__`` variables among declarations, in source order."""
    return tuple(
        array
        for declaration in declarations
        if b"__shared__" in tree.source[declaration.start_byte : declaration.end_byte]
        and "__shared__" in _qualifiers(tree, declaration)
        for array in _arrays(tree, declaration)
    )


def arena_aliases(
    tree: CudaTree, declarations: Sequence[Node], arrays: Sequence[SharedArray]
) -> tuple[ArenaAlias, ...]:
    """Return the pointers ``void* A = ((void*)((char*)arena + 49152));`` into a dynamic array."""
    arenas = {array.name for array in arrays if array.dynamic}
    aliases = []
    for declaration in declarations if arenas else ():
        for declarator in declaration.children_by_field_name("declarator"):
            pointer = declarator.child_by_field_name("declarator")
            value = declarator.child_by_field_name("value")
            if pointer is None or pointer.type != "pointer_declarator" or value is None:
                continue
            name = pointer.child_by_field_name("declarator")
            target = _address(tree, value)
            if target is not None and target[0] in arenas and name is not None:
                alias = ArenaAlias(
                    name=tree.text(name),
                    arena=target[0],
                    offset_bytes=target[1],
                    line=declaration.start_point[0] + 1,
                )
                aliases.append(alias)
    return tuple(aliases)


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
        array = SharedArray(
            name=tree.text(declarator),
            element_type=element_type,
            elements=elements,
            dynamic="extern" in _qualifiers(tree, declaration),
            line=declarator.start_point[0] + 1,
            alignment_bytes=_alignment(tree, declaration),
        )
        arrays.append(array)
    return arrays


def _alignment(tree: CudaTree, declaration: Node) -> int | None:
    """Read the blanked ``__align__(N)`` or ``alignas(N)``; ``None`` unless a plain number."""
    first = bisect_left(tree.alignments, (declaration.start_byte, ""))
    for offset, shown in tree.alignments[first : first + 1]:
        if offset < declaration.end_byte:
            return int(shown) if shown.isdigit() else None
    for child in declaration.children:
        inner = named(child)
        if child.type == "type_qualifier" and inner and inner[0].type == "alignas_qualifier":
            values = named(inner[0])
            return constant(values[0], tree.text) if values else None
    return None


def _address(tree: CudaTree, value: Node) -> tuple[str, int] | None:
    """Read ``((void*)((char*)arena + offset))`` as ``(arena, offset)``."""
    if value.type == "identifier":
        return tree.text(value), 0
    if value.type == "parenthesized_expression":
        children = named(value)
        return _address(tree, children[0]) if len(children) == 1 else None
    if value.type == "cast_expression":
        inner = value.child_by_field_name("value")
        return _address(tree, inner) if inner is not None else None
    left = value.child_by_field_name("left")
    operator = value.child_by_field_name("operator")
    if left is None or operator is None or operator.type != "+":
        return None
    base = _address(tree, left)
    offset = constant(value.child_by_field_name("right"), tree.text)
    return None if base is None or offset is None else (base[0], base[1] + offset)
