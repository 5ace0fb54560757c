"""Where was a fact of one variant seen?  Passes, lines of the CUDA and of the source, host code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from stagebench.diff.fact_change import FactChange
from stagebench.model import (
    Barrier,
    Diagnostic,
    Evidence,
    Facts,
    PipelineLoop,
    Record,
    SharedBuffer,
    SyncOp,
    TmaDescriptor,
)

Seen = Callable[[Facts, Record], tuple[Evidence, ...]]
"""From a variant's facts and one of its records to the places that say so."""


def device_ir_seen(*_: object) -> tuple[Evidence, ...]:
    """What only the final device IR says."""
    return (Evidence(artifact="device_ir"),)


def loop_seen(_: Facts, loop: Record) -> tuple[Evidence, ...]:
    """The pass that scheduled a loop, and its line of the source."""
    if not isinstance(loop, PipelineLoop):
        return ()
    found = [Evidence(artifact="passes", pass_name=loop.pass_name)] if loop.pass_name else []
    if loop.line is not None:
        found.append(Evidence(artifact="source", line=loop.line))
    return tuple(found)


def buffer_seen(_: Facts, buffer: Record) -> tuple[Evidence, ...]:
    """The pass that gave a buffer its versions, else the device IR."""
    if isinstance(buffer, SharedBuffer) and buffer.versioned_by:
        return (Evidence(artifact="passes", pass_name=buffer.versioned_by),)
    return device_ir_seen()


def op_seen(op: str) -> Seen:
    """The lines of the CUDA of every site of an op."""

    def seen(facts: Facts, _: Record) -> tuple[Evidence, ...]:
        lines = [site.cuda_line for site in facts.sync_ops if site.op == op]
        return tuple(Evidence(artifact="kernel.cu", line=line) for line in lines if line)

    return seen


def site_seen(_: Facts, site: Record) -> tuple[Evidence, ...]:
    """A site's lines of the CUDA and of the source."""
    if not isinstance(site, SyncOp):
        return ()
    found = [Evidence(artifact="kernel.cu", line=site.cuda_line)] if site.cuda_line else []
    if site.line is not None:
        found.append(Evidence(artifact="source", line=site.line))
    return tuple(found)


def barrier_seen(facts: Facts, barrier: Record) -> tuple[Evidence, ...]:
    """Where the CUDA initialises an mbarrier."""
    if not isinstance(barrier, Barrier):
        return ()
    slots = range(barrier.first, barrier.first + barrier.count)
    named = {f"{barrier.name}[{slot}]" for slot in slots}
    return tuple(
        Evidence(artifact="kernel.cu", line=site.cuda_line)
        for site in facts.sync_ops
        if site.op == "mbarrier_init" and site.args.get("barrier") in named and site.cuda_line
    )


def descriptor_seen(_: Facts, descriptor: Record) -> tuple[Evidence, ...]:
    """The host code that encodes a TMA descriptor."""
    name = descriptor.name if isinstance(descriptor, TmaDescriptor) else None
    return (Evidence(artifact="host_ir", text=name),)


def diagnostic_seen(_: Facts, diagnostic: Record) -> tuple[Evidence, ...]:
    """What a diagnostic gives itself."""
    return diagnostic.evidence if isinstance(diagnostic, Diagnostic) else ()


def with_declarations(
    changes: Sequence[FactChange], left_cu: str | None, right_cu: str | None
) -> tuple[FactChange, ...]:
    """Add to each change of a buffer where both CUDA texts declare it."""
    if not any(_buffer_of(change) for change in changes):
        return tuple(changes)
    left, right = _declaration_lines(left_cu), _declaration_lines(right_cu)
    return tuple(_with_declaration(change, left, right) for change in changes)


def _with_declaration(
    change: FactChange, left: Mapping[str, int], right: Mapping[str, int]
) -> FactChange:
    name = _buffer_of(change)
    if name is None:
        return change
    mine, theirs = left.get(name), right.get(name)
    here = () if mine is None else (Evidence(artifact="kernel.cu", line=mine),)
    there = () if theirs is None else (Evidence(artifact="kernel.cu", line=theirs),)
    return msgspec.structs.replace(
        change,
        left_evidence=change.left_evidence + here,
        right_evidence=change.right_evidence + there,
    )


def _buffer_of(change: FactChange) -> str | None:
    """The left name of the buffer that a change is about; of a new one, its own."""
    head, bracket, rest = change.path.partition("[")
    return rest.partition("]")[0] if bracket and head == "shared_buffers" else None


def _declaration_lines(kernel_cu: str | None) -> dict[str, int]:
    """Where the CUDA text declares each shared array or names its place in the arena."""
    from stagebench.facts.cuda_sites import read_cuda
    from stagebench.facts.cuda_syntax import CudaSyntaxError

    try:
        kernels = read_cuda(kernel_cu or "")
    except CudaSyntaxError:  # the facts carry the warning already; there is no line to point at
        return {}
    arrays = {array.name: array.line for kernel in kernels for array in kernel.shared_arrays}
    return arrays | {alias.name: alias.line for kernel in kernels for alias in kernel.arena_aliases}
