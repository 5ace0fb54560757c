"""PTX texts for the tests of probes, as a compiler prints them: one statement on a line."""

from __future__ import annotations

from stagebench.model.facts import Launch, LaunchParam
from stagebench.probe.layout import Layout, Shape

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"


def kernel(body: str, name: str = "k", params: str = "") -> str:
    """A module with one kernel; the body's lines as they are."""
    return f"{HEAD}\n.visible .entry {name}({params})\n{{\n{body.rstrip()}\n}}\n"


def layout(block=(64, 1, 1), grid=(2, 1, 1), *, sampled=2, step=1, cap=32) -> Layout:
    return Layout(shape=Shape(grid=grid, block=block), sampled=sampled, step=step, cap=cap)


def layout_of(metadata, block, grid) -> Layout:
    """The layout that metadata speak of."""
    return Layout(
        shape=Shape(grid=grid, block=block),
        sampled=metadata.sampled_ctas,
        step=metadata.cta_step,
        cap=metadata.cap,
    )


def launch(block=(64, 1, 1), grid=(2, 1, 1), params=(), name="k") -> Launch:
    return Launch(
        function=name,
        grid=grid,
        block=block,
        cluster=None,
        dynamic_smem_bytes=0,
        params=tuple(LaunchParam(name=each, kind="scalar", dtype="int32") for each in params),
        tma_descriptors=(),
    )


LOOP = """\
\t.reg .pred %p<3>;
\t.reg .b32 %r<4>;
\tmov.u32 %r1, 0;
$L_loop:
\tcp.async.wait_group 1;
\tbar.sync 0;
\tadd.s32 %r1, %r1, 1;
\tsetp.lt.s32 %p1, %r1, 5;
\t@%p1 bra $L_loop;
\tbar.sync 1, 64;
\tret;
"""

SPIN = """\
\t.reg .pred %p<3>;
\t.reg .b32 %r<4>;
\tmov.u32 %r1, 64;
\tmov.u32 %r2, 0;
\t// begin inline asm
\t{
\t.reg .pred P1;
\tLAB_WAIT:
\tmbarrier.try_wait.parity.shared::cta.b64 P1, [%r1], %r2;
\t@P1 bra DONE;
\tbra LAB_WAIT;
\tDONE:
\t}
\t// end inline asm
\tret;
"""

ROLES = """\
\t.reg .pred %p<4>;
\t.reg .b32 %r<4>;
\tmov.u32 %r1, %tid.x;
\tbar.sync 0;
\tsetp.lt.u32 %p1, %r1, 32;
\t@%p1 bra $L_producer;
\tmov.u32 %r2, 0;
$L_consumer:
\tcp.async.wait_group 0;
\tadd.s32 %r2, %r2, 1;
\tsetp.lt.s32 %p2, %r2, 3;
\t@%p2 bra $L_consumer;
\tret;
$L_producer:
\tcp.async.wait_group 2;
\tret;
"""
