# ruff: noqa: S106 - names of compiler passes
"""A lowered and a failed result with something in every field, made without a compiler."""

import msgspec

from stagebench.dump import snapshots
from stagebench.facts.derive import derive_facts
from stagebench.model import (
    Compiler,
    Evidence,
    Failure,
    LaunchParam,
    LaunchTensor,
    PassRun,
    ProfilerBuffer,
    TmaDescriptor,
    Variant,
    VariantResult,
)
from tests.facts import building as seen

TEXTS = {"aaaa": "module\n", "bbbb": "module after ünïcode\n", "cccc": ""}
FRAME = snapshots.pack(TEXTS)
CUDA = 'extern "C" __global__ void kernel() {\n  __syncthreads();\n}\n'


def variant(*, num_stages=2, arch="sm_90a", pass_configs=None, **params):
    return Variant(
        kernel="small.py:gemm",
        params={"num_stages": num_stages, **params},
        arch=arch,
        compiler=Compiler(name="tilelang", version="0.1.15"),
        pass_configs=pass_configs or {},
    )


def lowered(of=None):
    """A lowered variant whose facts have a loop, buffers, barriers, sites, a descriptor, passes."""
    descriptor = TmaDescriptor(
        name="A_desc", kind="tiled", tensor="A", data_type=6, rank=2, global_shape=(1024, "n"),
        global_strides_bytes=(2, 2048), box=(64, 128), element_strides=(1, 1), interleave=0,
        swizzle=3, l2_promotion=2, oob_fill=0, fields=(1024, "n"),
    )  # fmt: skip
    observation = seen.observation(
        seen.site("mbarrier_init", barrier="bar", slots=(0, 0), count=1),
        seen.nest("k", "n // 64", seen.site("tma_load", barrier="bar", buffer="lhs", line=5)),
        seen.site("syncthreads", guards=("n < 3",)),
        requests=[seen.request(**seen.SPECIALIZED)],
        buffers=[seen.buffer("lhs", 128, 64, leading=(2,), by=["p"])],
        warnings=["eine Warnung"],
        cluster=(2, 1, 1),
        params=(LaunchParam(name="A_desc", kind="tma_descriptor", dtype="CUtensorMap"),),
        tma_descriptors=(descriptor,),
        tensors=(
            LaunchTensor(
                name="A",
                dtype="float16",
                shape=("n", 64),
                strides=(64, 1),
                read=True,
                written=False,
            ),
        ),
        profilers=(
            ProfilerBuffer(
                tensor="times",
                format="tvm",
                groups=2,
                stride="2 * n",
                events=(0, 1),
                event_names=("load", "compute"),
                group_names=("producer", "consumer"),
                marks={"timer_init_cuda": 1},
            ),
        ),
        arena=seen.arena(lhs=0),
    )
    passes = (
        PassRun(sequence=0, name="tl.First", depth=0, pass_phase=None, changed=False,
                snapshot="aaaa", ir_bytes=7),
        PassRun(sequence=1, name="tl.Second", depth=1, pass_phase="lower", changed=True,
                snapshot="bbbb", ir_bytes=23),
    )  # fmt: skip
    observation = msgspec.structs.replace(observation, passes=passes)
    facts = derive_facts(observation, CUDA, arch="sm_90a", num_stages=2)
    return VariantResult(variant=of or variant(), outcome="lowered", failure=None, facts=facts)


def failed(of=None):
    """A variant that the compiler refused."""
    failure = Failure(
        kind="compile_error",
        message="InternalError: Check failed",
        pass_name="tl.LowerTileOp",
        detail="Check failed\nmore",
        diagnostics=(),
    )
    return VariantResult(variant=of or variant(), outcome="failed", failure=failure, facts=None)


def evidence_of(result):
    """All evidence of a result's diagnostics."""
    return [e for d in result.facts.diagnostics for e in d.evidence if isinstance(e, Evidence)]
