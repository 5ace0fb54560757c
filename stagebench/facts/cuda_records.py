"""What was read from one CUDA kernel?  Records only; ``cuda_sites`` fills them."""

from __future__ import annotations

from stagebench.model.base import Extent, Record

Factors = tuple[int, tuple[str, ...]]
"""A product: its integer part, and its symbolic factors in order."""


class CudaLoop(Record, frozen=True, kw_only=True):
    """A loop around a site.

    ``extent`` is the trip count: an integer, an expression of the kernel's variables, or
    ``trips(<header>)`` where the header doesn't say (``while``, an unusual ``for``).
    ``exits_early``: a ``break``, ``return`` or ``goto`` can leave the loop; the extent is then an
    upper bound.  ``line`` is 1-based, of the loop's header.
    """

    var: str
    extent: Extent
    line: int
    exits_early: bool = False


class CudaSite(Record, frozen=True, kw_only=True):
    """One place in the text that synchronises, copies asynchronously or issues a matrix operation.

    ``op`` is a word of the taxonomy or ``unknown:<name>``.  ``callee`` is as written, except that a
    barrier's index is left out (``mbarrier[].wait``) and a PTX statement is ``asm <opcode>``.
    ``line`` is the 1-based physical line of the call in the kernel; for a site inside a device
    function that is the line of the outermost call, and ``via`` names the functions, outermost
    first.  ``loops`` and ``guards`` are outermost first; a guard is the condition, ``!(…)`` in its
    else branch.  ``dynamic`` is how often one thread that reaches the site executes it in one CTA,
    every branch taken; ``factors`` is the same, not yet written as a product.
    """

    op: str
    callee: str
    args: dict[str, Extent]
    line: int
    loops: tuple[CudaLoop, ...]
    guards: tuple[str, ...]
    dynamic: Extent | None
    factors: Factors | None
    via: tuple[str, ...] = ()


class HiddenSync(Record, frozen=True, kw_only=True):
    """A synchronisation inside a library template that the kernel calls.

    It is no call site of the kernel's text, so it is in no total; it is listed so that nothing is
    lost.  ``per_call`` is how often ``op`` is executed in one call of ``callee``; ``dynamic`` that
    times the executions of the call.
    """

    op: str
    callee: str
    args: dict[str, Extent]
    per_call: int
    line: int
    dynamic: Extent | None


class SharedArray(Record, frozen=True, kw_only=True):
    """A ``__shared__`` declaration.  ``elements`` is ``None`` for a size that the text doesn't say.

    ``dynamic`` is an ``extern`` array.  ``alignment_bytes`` is from ``__align__`` or ``alignas``.
    """

    name: str
    element_type: str
    elements: int | None
    dynamic: bool
    line: int
    alignment_bytes: int | None


class ArenaAlias(Record, frozen=True, kw_only=True):
    """A pointer at a constant byte offset into a dynamic shared array (``arena``)."""

    name: str
    arena: str
    offset_bytes: int
    line: int


class CudaKernel(Record, frozen=True, kw_only=True):
    """One ``__global__`` function with a body.

    ``launch_bounds`` are the arguments of ``__launch_bounds__``: threads, then CTAs per
    multiprocessor; empty where there is none.  ``device_functions`` are the other functions that
    the file defines: a call of one was read through.  ``line`` is that of the function's name.
    """

    function: str
    launch_bounds: tuple[Extent, ...]
    sites: tuple[CudaSite, ...]
    hidden_syncs: tuple[HiddenSync, ...]
    shared_arrays: tuple[SharedArray, ...]
    arena_aliases: tuple[ArenaAlias, ...]
    line: int
    device_functions: tuple[str, ...] = ()
