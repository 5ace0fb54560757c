"""What should a reader of the facts be told without having to look for it?"""

from __future__ import annotations

from collections.abc import Iterable

from stagebench.model import (
    Barrier,
    Diagnostic,
    Evidence,
    Observation,
    PipelineLoop,
    SharedBuffer,
    SharedMemory,
    SyncOp,
)
from stagebench.model.diagnostic import Severity
from stagebench.model.facts import STATIC_LIMIT_BYTES


def diagnose(
    observation: Observation,
    loops: tuple[PipelineLoop, ...],
    buffers: tuple[SharedBuffer, ...],
    smem: SharedMemory,
    barriers: tuple[Barrier, ...],
    ops: tuple[SyncOp, ...],
) -> tuple[Diagnostic, ...]:
    """All diagnostics that follow from facts, most severe first."""
    found = [
        *_over_limit(smem),
        *_commit_without_wait(ops),
        *_versioned_twice(observation),
        *_padded(observation, buffers),
        *_unplaced_barriers(observation),
        *_ring_over_one_version(observation, barriers, buffers),
        *_ineffective(loops),
        *_unknown_ops(ops),
        *_other_kernels(observation),
        *_compiler_warnings(observation),
    ]
    rank = {"error": 0, "warning": 1, "note": 2}
    return tuple(sorted(found, key=lambda diagnostic: rank[diagnostic.severity]))


def _say(severity: Severity, code: str, message: str, *evidence: Evidence) -> Diagnostic:
    return Diagnostic(severity=severity, code=code, message=message, evidence=evidence)


def _over_limit(smem: SharedMemory) -> Iterable[Diagnostic]:
    if smem.fits is not False:
        return
    deepest = smem.max_num_stages
    until = f"; the deepest that fits is num_stages={deepest}" if deepest is not None else ""
    if smem.exceeds == "static":
        said = (
            f"{smem.static_bytes} bytes of static shared memory, the limit of the static part is "
            f"{STATIC_LIMIT_BYTES} (more must be dynamic): the kernel can't be assembled"
        )
    else:
        said = (
            f"{smem.total_bytes} bytes of shared memory, the limit is {smem.limit_bytes}: the "
            "kernel can't be launched"
        )
    yield _say(
        "error", "shared-memory-over-limit", f"{said}, and the compiler did not say so{until}"
    )


def _commit_without_wait(ops: tuple[SyncOp, ...]) -> Iterable[Diagnostic]:
    commits = [op for op in ops if op.op == "cp_async_commit"]
    waits = [op for op in ops if op.op == "cp_async_wait"]
    # mbarrier_cp_async_arrive completes copies through a barrier: no wait_group is needed then
    through_barrier = any(op.op == "mbarrier_arrive" and "via" in op.args for op in ops)
    if commits and not waits and not through_barrier:
        yield _say(
            "warning",
            "commit-without-wait",
            f"{len(commits)} cp.async commit sites and no wait: nothing orders the copies "
            "before their use",
            *(Evidence(artifact="kernel.cu", line=op.cuda_line) for op in commits[:4]),
        )


def _versioned_twice(observation: Observation) -> Iterable[Diagnostic]:
    for buffer in observation.buffers:
        if len(buffer.leading) > 1:
            by = ", ".join(buffer.versioned_by)
            yield _say(
                "warning",
                "versioned-twice",
                f"{buffer.name} has version dimensions {list(buffer.leading)} (by {by}): "
                "more memory than one pipeline needs",
            )


def _padded(observation: Observation, buffers: tuple[SharedBuffer, ...]) -> Iterable[Diagnostic]:
    """Where one allocation holds one buffer its size is known: it must be what we computed."""
    for allocation in observation.kernel.allocations:
        for buffer in buffers:
            if (
                allocation.name == buffer.name
                and allocation.scope == buffer.scope != "shared.tmem"
                and None not in (allocation.bytes, buffer.total_bytes)
                and allocation.bytes != buffer.total_bytes
            ):
                yield _say(
                    "note",
                    "allocation-differs",
                    f"{buffer.name}: {buffer.num_versions} versions take {buffer.total_bytes} "
                    f"bytes, the allocation has {allocation.bytes}",
                )


def _unplaced_barriers(observation: Observation) -> Iterable[Diagnostic]:
    inits = [site for site in observation.kernel.sites if site.op == "mbarrier_init"]
    unplaced = [site for site in inits if site.barrier is None or site.slots is None]
    if unplaced:
        names = ", ".join(str(site.args.get("barrier", "?")) for site in unplaced[:4])
        yield _say(
            "warning",
            "barrier-not-placed",
            f"{len(unplaced)} mbarrier_init sites ({names}) name a barrier that can't be told: "
            "the list of barriers is not whole",
        )


def _ring_over_one_version(
    observation: Observation, barriers: tuple[Barrier, ...], buffers: tuple[SharedBuffer, ...]
) -> Iterable[Diagnostic]:
    """More full barriers in a ring than versions of what they guard: slots share memory.

    Only of rings that the compiler made: an author who writes a ring also writes its slots.
    """
    made = {name for request in observation.requests for name in request.producer_writes}
    versions = {buffer.name: buffer.num_versions for buffer in buffers if buffer.name in made}
    for barrier in barriers:
        if barrier.kind != "full" or barrier.count < 2:
            continue
        for name in barrier.guards or ():
            if versions.get(name, barrier.count) == 1:
                yield _say(
                    "warning",
                    "ring-over-one-version",
                    f"{barrier.count} full barriers guard {name}, which has one version: a load "
                    "may overwrite what is still being read",
                )


def _ineffective(loops: tuple[PipelineLoop, ...]) -> Iterable[Diagnostic]:
    for loop in loops:
        if loop.reason is not None and (loop.num_stages or loop.explicit_schedule):
            asked = f"num_stages={loop.num_stages}" if loop.num_stages else "explicit schedule"
            yield _say(
                "warning",
                "depth-without-effect",
                f"loop {loop.loop_var}, {asked}: {loop.reason}",
                Evidence(artifact="source", line=loop.line, pass_name=loop.pass_name),
            )


def _unknown_ops(ops: tuple[SyncOp, ...]) -> Iterable[Diagnostic]:
    names = sorted({op.op for op in ops if op.op.startswith("unknown:")})
    for name in names:
        yield _say(
            "warning",
            "unknown-op",
            f"{name.removeprefix('unknown:')} is not in the taxonomy: it may synchronise",
        )


def _other_kernels(observation: Observation) -> Iterable[Diagnostic]:
    if observation.other_kernels:
        reference = observation.other_reference
        asked = f"; {reference} names another" if reference is not None else ""
        yield _say(
            "warning",
            "more-than-one-kernel",
            f"facts are those of {observation.kernel.function}; the module also has "
            + ", ".join(observation.other_kernels)
            + asked,
        )


def _compiler_warnings(observation: Observation) -> Iterable[Diagnostic]:
    for text in observation.warnings:
        yield _say("warning", "compiler-warning", text, Evidence(artifact="stderr", text=text))
