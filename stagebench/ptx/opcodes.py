"""Which opcodes are there?  The first components of every instruction of PTX ISA 9.0.

Source: PTX ISA 9.0, "Instruction Set" (its table of reserved instruction keywords, and the
sections of "Instructions" for those that came after it).
"""

from __future__ import annotations

_KNOWN = """
    abs activemask add addc alloca and applypriority atom bar barrier bfe bfi bfind bmsk bra brev
    brkpt brx call clusterlaunchcontrol clz cnot copysign cos cp createpolicy cvt cvta discard div
    dp2a dp4a elect ex2 exit fence fma fns getctarank griddepcontrol isspacep istypep ld ldmatrix
    ldu lg2 lop3 mad mad24 madc mapa match max mbarrier membar min mma mov movmatrix mul mul24
    multimem nanosleep neg not or pmevent popc prefetch prefetchu prmt rcp red redux rem ret rsqrt
    sad selp set setmaxnreg setp shf shfl shl shr sin slct sqrt st stackrestore stacksave stmatrix
    sub subc suld suq sured sust szext tanh tcgen05 tensormap testp tex tld4 trap txq vabsdiff
    vabsdiff2 vabsdiff4 vadd vadd2 vadd4 vavrg2 vavrg4 vmad vmax vmax2 vmax4 vmin vmin2 vmin4 vote
    vset vset2 vset4 vshl vshr vsub vsub2 vsub4 wgmma wmma xor
"""
KNOWN = frozenset(_KNOWN.split())
"""First components; what follows the first dot is read where it matters."""

BRANCHES = frozenset(("bra", "brx"))
ENDS = frozenset(("ret", "exit", "trap"))
"""Ways out of a function, or of the kernel."""


def is_known(opcode: str) -> bool:
    """Whether the opcode's first component is an instruction of the ISA."""
    return opcode.partition(".")[0] in KNOWN
