"""Small PTX texts for tests, and the parts of real ones that are committed."""

from pathlib import Path

from stagebench.ptx.read import read_module

DATA = Path(__file__).with_name("data")
HEAD = """\
.version 9.0
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 smem[];
"""
REGISTERS = """\
\t.reg .pred %p<20>;
\t.reg .b16 %rs<20>;
\t.reg .b32 %r<60>;
\t.reg .b64 %rd<30>;
\t.reg .f32 %f<20>;
"""
WAIT = """\
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
"""


def text_of(body, params=".param .u64 kernel_param_0, .param .u32 kernel_param_1"):
    """A module with one entry ``kernel``; `FIRST_LINE` is the line of the body's first."""
    return f"{HEAD}.visible .entry kernel({params})\n{{\n{REGISTERS}{body}\tret;\n}}\n"


FIRST_LINE = HEAD.count("\n") + 2 + REGISTERS.count("\n") + 1


def kernel_of(body):
    """The module and its entry."""
    module = read_module(text_of(body))
    return module, module.entries[0]


def real(name):
    """A committed PTX text: `gemm.*` are of the built-in GEMM (M = N = K = 256, depth 2)."""
    return (DATA / f"{name}.ptx").read_text()
