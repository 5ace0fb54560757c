"""The kernel that fills shared memory, as PTX: what `stagebench.gpu.poison` launches.

``st.volatile``: a plain store that nobody reads back would be removed.
"""

from __future__ import annotations

_LINGER_CYCLES = 20_000
"""How long a CTA stays, so that the next one goes to another SM."""
ENTRY = "stagebench_poison"

PTX = f"""\
.version 7.0
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 arena[];
.visible .entry {ENTRY}(.param .u32 bytes, .param .u32 pattern)
{{
    .reg .pred %p<3>;
    .reg .b32 %r<8>;
    .reg .b64 %t<4>;
    mov.u64 %t0, %clock64;
    ld.param.u32 %r0, [bytes];
    ld.param.u32 %r1, [pattern];
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, %ntid.x;
    shl.b32 %r2, %r2, 2;
    shl.b32 %r3, %r3, 2;
    mov.u32 %r4, arena;
FILL:
    setp.ge.u32 %p0, %r2, %r0;
    @%p0 bra LINGER;
    add.u32 %r5, %r4, %r2;
    st.volatile.shared.u32 [%r5], %r1;
    add.u32 %r2, %r2, %r3;
    bra FILL;
LINGER:
    mov.u64 %t1, %clock64;
    sub.u64 %t2, %t1, %t0;
    setp.lt.u64 %p1, %t2, {_LINGER_CYCLES};
    @%p1 bra LINGER;
    ret;
}}
"""
