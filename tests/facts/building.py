"""Hand-built readings: what an adapter would have seen, plain where a test does not say otherwise.

A kernel is written as its body: sites, and `nest` where a loop stands around some of them.
"""

from dataclasses import dataclass

import msgspec

from stagebench.facts.barriers import barriers
from stagebench.facts.buffers import shared_buffers
from stagebench.facts.counts import product
from stagebench.facts.cuda_loops import split_product
from stagebench.facts.cuda_records import CudaKernel, CudaLoop, CudaSite
from stagebench.facts.roles import assign_roles
from stagebench.facts.sections import assign_sections
from stagebench.facts.sync import sync_ops
from stagebench.model import Observation
from stagebench.model.observation import (
    SeenAllocation,
    SeenArenaSlot,
    SeenBuffer,
    SeenKernel,
    SeenLoop,
    SeenLoopRequest,
    SeenSite,
    SeenStatement,
)


@dataclass(frozen=True)
class Nest:
    """A loop around a part of a kernel's body."""

    var: str
    extent: int | str
    body: tuple
    pipelined: bool
    executions: int | str | None


def nest(var, extent, *body, pipelined=False, executions="product"):
    """A loop; ``executions`` of its body are the product of the extents where nothing is said."""
    return Nest(var, extent, body, pipelined, executions)


def site(op, *, tx=None, guards=(), buffer=None, barrier=None, slots=None, **more):
    """A site; ``tx`` is the branch on the thread index that it is in."""
    line = more.pop("line", None)
    thread_guards = more.pop("thread_guards", ())
    return SeenSite(
        op=op,
        intrinsic=more.pop("intrinsic", f"tl.{op}"),
        args=more,
        loops=(),
        partition=() if tx is None else (tx,),
        guards=tuple(guards),
        thread_guards=thread_guards,
        buffer=buffer,
        barrier=barrier,
        slots=slots,
        file=None if line is None else "kernel.py",
        line=line,
        line_kind=None if line is None else "exact",
    )


def kernel(*body, **changes):
    """A kernel of that body, 128 threads, no shared memory."""
    sites, loops = [], []
    _lay(body, (), sites, loops)
    plain = SeenKernel(
        function="kernel",
        grid=(8, 8, 1),
        block=(128, 1, 1),
        cluster=None,
        dynamic_smem_bytes=0,
        params=(),
        tma_descriptors=(),
        tensors=(),
        sites=tuple(sites),
        loops=tuple(loops),
        allocations=(),
        arena=(),
        alignments={},
    )
    return msgspec.structs.replace(plain, **changes)


def _lay(body, around, sites, loops):
    for item in body:
        if isinstance(item, SeenSite):
            sites.append(msgspec.structs.replace(item, loops=around))
            continue
        index, start = len(loops), len(sites)
        loop = SeenLoop(
            var=item.var,
            extent=item.extent,
            executions=item.executions
            if item.executions != "product"
            else product([*(loops[outer].extent for outer in around), item.extent]),
            pipelined=item.pipelined,
            start=start,
            end=start,
        )
        loops.append(loop)
        _lay(item.body, (*around, index), sites, loops)
        loops[index] = msgspec.structs.replace(loop, end=len(sites))


def observation(*body, requests=(), buffers=(), others=(), warnings=(), **changes):
    """What was seen of a kernel of that body; ``changes`` are fields of the kernel."""
    return Observation(
        kernel=kernel(*body, **changes),
        other_kernels=tuple(others),
        requests=tuple(requests),
        buffers=tuple(buffers),
        passes=(),
        warnings=tuple(warnings),
    )


def statement(summary, *, reads=(), writes=(), copy=False, line=None):
    return SeenStatement(
        summary=summary, reads=tuple(reads), writes=tuple(writes), is_copy=copy, line=line
    )


GEMM = (
    statement("copy A → lhs", reads=("A",), writes=("lhs",), copy=True, line=11),
    statement("copy B → rhs", reads=("B",), writes=("rhs",), copy=True, line=12),
    statement("gemm lhs, rhs → acc", reads=("lhs", "rhs"), writes=("acc",), line=13),
)
"""The body of the plainest pipelined loop."""


def request(**changes):
    """A GEMM loop of 16 trips at line 10 for which two stages were asked and nothing was done."""
    plain = SeenLoopRequest(
        loop_var="k",
        extent=16,
        num_stages=2,
        explicit_order=None,
        explicit_stage=None,
        file="kernel.py",
        line=10,
        statements=GEMM,
        outcome="kept",
        pass_name=None,
        injected_by=None,
        stage=None,
        order=None,
        async_groups=None,
        producer_writes=(),
    )
    return msgspec.structs.replace(plain, **changes)


PLANNED = {
    "outcome": "planned",
    "pass_name": "tl.PipelinePlanning",
    "injected_by": "tl.InjectSoftwarePipeline",
    "stage": (0, 0, 1),
    "order": (0, 1, 2),
    "async_groups": (0, 0, -1),
}
"""A request that the software pipeline took up."""

SPECIALIZED = {
    "outcome": "specialized",
    "pass_name": "tl.ProducerConsumerWarpSpecialized",
    "producer_writes": ("lhs", "rhs"),
}
"""A request that warp specialisation took up."""


def buffer(name, *shape, bits=16, leading=(), by=(), scope="shared.dyn", dtype="float16"):
    return SeenBuffer(
        name=name,
        scope=scope,
        dtype=dtype,
        element_bits=bits,
        shape=shape or (64, 32),
        leading=leading,
        versioned_by=tuple(by),
    )


def allocation(name, size, *, scope="shared.dyn"):
    return SeenAllocation(name=name, scope=scope, dtype="uint8", elements=size, bytes=size)


def arena(**offsets):
    return tuple(SeenArenaSlot(name=name, offset_bytes=at) for name, at in offsets.items())


def roles_of(seen):
    return assign_roles(seen.kernel.sites)


def buffers_of(seen):
    return {found.name: found for found in shared_buffers(seen)}


def barriers_of(seen):
    """Each barrier run in short: name, first, count, arrive count, kind, guards."""
    return [
        (b.name, b.first, b.count, b.arrive_count, b.kind, b.guards)
        for b in barriers(seen, roles_of(seen))
    ]


def ops_of(seen):
    """The sync ops, with roles and sections as `derive_facts` gives them."""
    roles = roles_of(seen)
    requested = frozenset(loop.loop_var for loop in seen.requests)
    sections = assign_sections(seen.kernel, requested, roles)
    return sync_ops(seen, roles, sections, (None,) * len(roles))


def cuda_site(op, dynamic=1, *, line=1):
    """A site of the generated CUDA; ``dynamic`` is its one loop's extent."""
    loops = () if dynamic == 1 else (CudaLoop(var="i", extent=dynamic, line=line),)
    return CudaSite(
        op=op,
        callee=f"tl::{op}",
        args={},
        line=line,
        loops=loops,
        guards=(),
        dynamic=dynamic,
        factors=split_product([dynamic]),
    )


def cuda(*sites, launch_bounds=(), aliases=()):
    return CudaKernel(
        function="kernel",
        launch_bounds=launch_bounds,
        sites=sites,
        hidden_syncs=(),
        shared_arrays=(),
        arena_aliases=aliases,
        line=1,
    )
