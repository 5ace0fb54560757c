"""Where does the generated CUDA synchronise, and how often?  The oracle beside the IR.

It reads only the text that will be compiled.  Every call, ``asm`` statement and control structure
of a kernel is visited in the syntax tree; a call is looked up in ``cuda_callees``, PTX in
``cuda_asm``.  It fails closed: what nobody described is a site with op ``unknown:<name>``, and text
that the parser did not understand raises ``CudaSyntaxError``.

How it counts (DESIGN, "The JSON that scripts rely on"):

- A site is a call in the text, a ``#pragma unroll`` loop around it or not.  ``dynamic`` multiplies
  the trip counts of the enclosing loops (``cuda_nest`` adds up those that depend on each other),
  every branch taken; a call in a loop's condition counts as one in its body.
- ``arrive_and_expect_tx`` has two effects and is two sites on one line: ``mbarrier_arrive`` and
  ``mbarrier_expect_tx``.
- A call of a device function that the file defines is replaced by that function's sites (``via``
  says so), as the compiler inlines it.  Functions that no kernel calls are not counted.
- A library template that synchronises inside (``tl::AllReduce``, ``tl::tcgen05_ld_*``) is no site:
  the IR has none there either.  It is listed in ``hidden_syncs``.

Not handled: macros are not expanded (a use of one that isn't a plain number is ``unknown``); a
lambda is counted where it is written, once; both sides of ``#if`` inside a kernel are counted, with
the condition as guard; ``break`` and ``return`` in a loop leave its extent an upper bound
(``CudaLoop.exits_early``).
"""

from __future__ import annotations

from collections.abc import Iterable

from stagebench.facts.cuda_expressions import named, value_of
from stagebench.facts.cuda_index import CudaIndex, is_kernel
from stagebench.facts.cuda_loops import join_product
from stagebench.facts.cuda_memory import arena_aliases, shared_arrays
from stagebench.facts.cuda_records import (
    ArenaAlias,
    CudaKernel,
    CudaLoop,
    CudaSite,
    HiddenSync,
    SharedArray,
)
from stagebench.facts.cuda_syntax import CudaSyntaxError, parse_cuda
from stagebench.facts.cuda_walk import FunctionReader
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


def read_cuda(source: str) -> tuple[CudaKernel, ...]:
    """Read every ``__global__`` function with a body, in source order.

    Empty for text without any kernel.  Raises ``CudaSyntaxError`` for text that can't be parsed
    completely, and for a kernel that is declared but has no body (a file that was cut off).
    """
    try:
        return _read(source)
    except RecursionError as exc:
        raise CudaSyntaxError("the CUDA source nests expressions too deeply to be read") from exc


def sync_totals(sites: Iterable[CudaSite]) -> dict[str, SyncTotal]:
    """Sum sites per op, ops sorted; equal symbolic terms are added up behind the integer part."""
    static: dict[str, int] = {}
    terms: dict[str, dict[tuple[str, ...], int]] = {}
    unknown: set[str] = set()
    for site in sites:
        static[site.op] = static.get(site.op, 0) + 1
        sums = terms.setdefault(site.op, {})
        if site.factors is None:
            unknown.add(site.op)
        else:
            factor, symbols = site.factors
            sums[symbols] = sums.get(symbols, 0) + factor
    return {
        op: SyncTotal(static=static[op], dynamic=None if op in unknown else _sum(terms[op]))
        for op in sorted(static)
    }


def _read(source: str) -> tuple[CudaKernel, ...]:
    index = CudaIndex(parse_cuda(source))
    for name, line in index.bodyless_kernels():
        raise CudaSyntaxError(
            f"CUDA source, line {line}: kernel {name!r} is declared but has no body",
            hint="the file looks cut off; nothing was counted",
        )
    reader = FunctionReader(index)
    others = [function for function in index.functions if not is_kernel(function)]
    device_functions = tuple(sorted({index.function_name(function) for function in others}))
    kernels = []
    for function in filter(is_kernel, index.functions):
        found = reader.read(function)
        declarations = index.declarations(function.child_by_field_name("body") or function)
        arrays = shared_arrays(index.tree, declarations)
        bounds = (child for child in function.children if child.type == "launch_bounds")
        kernels.append(
            CudaKernel(
                function=index.function_name(function),
                launch_bounds=tuple(
                    value_of(value, index.tree.text) for child in bounds for value in named(child)
                ),
                sites=tuple(found.sites),
                hidden_syncs=tuple(found.hidden),
                shared_arrays=arrays,
                arena_aliases=arena_aliases(index.tree, declarations, arrays),
                line=index.line(function.child_by_field_name("declarator") or function),
                device_functions=device_functions,
            )
        )
    return tuple(kernels)


def _sum(terms: dict[tuple[str, ...], int]) -> Extent:
    known = terms.get((), 0)
    symbolic = [(factor, symbols) for symbols, factor in terms.items() if symbols]
    if not symbolic:
        return known
    alone = len(symbolic) == 1 and not known
    shown = [str(join_product(*term, alone=alone)) for term in symbolic]
    return " + ".join(([str(known)] if known else []) + shown)
