"""What comes of assembling one kernel: everything that it left behind, or why it did not assemble.

The texts are the same bytes on every machine: PTX names ``kernel.cu`` and headers relative to
their include folder, and nothing names a path, a time or a process.
"""

from __future__ import annotations

from typing import Literal

from stagebench.model import Record

Step = Literal["cuda", "ptx", "disassembly"]
"""CUDA to PTX, PTX to cubin, cubin to SASS."""


class EntryResources(Record, frozen=True, kw_only=True):
    """What ptxas printed of one kernel (``ptxas -v``); see `stagebench.model.machine.Resources`.

    ``code_bytes`` is the size of the kernel's ``.text`` section in the cubin, padding included.
    """

    registers: int
    spill_store_bytes: int
    spill_load_bytes: int
    stack_bytes: int
    static_smem_bytes: int
    barriers: int
    code_bytes: int | None


class AssemblerMessage(Record, frozen=True, kw_only=True):
    """A warning or a coded remark of the assembler.

    ``code`` is ptxas's own (``C7508``), ``None`` where it prints none; ``name`` is ours for the
    codes that we know, else ``unknown``.  ``ptx_line`` is the 1-based line of the PTX where the
    text names one, ``cuda_line`` that of ``kernel.cu``.
    """

    severity: Literal["warning", "info"]
    code: str | None
    name: str
    text: str
    ptx_line: int | None
    cuda_line: int | None


class MachineText(Record, frozen=True, kw_only=True, tag="machine-text"):
    """PTX, assembled and disassembled: one entry's ``resources``, all ``messages``.

    ``sass`` is the text of ``nvdisasm -c -gi -gp`` for the whole cubin.
    """

    ptx: str
    cubin: bytes
    sass: str
    resources: EntryResources
    messages: tuple[AssemblerMessage, ...]
    ptxas_seconds: float
    disassembly_seconds: float


class Assembled(Record, frozen=True, kw_only=True, tag="assembled"):
    """One kernel, assembled.  Seconds are those of the run that made it, also from the cache."""

    ptx: str
    cubin: bytes
    sass: str
    resources: EntryResources
    messages: tuple[AssemblerMessage, ...]
    ptx_seconds: float
    ptxas_seconds: float
    disassembly_seconds: float


class NotAssembled(Record, frozen=True, kw_only=True, tag="not-assembled"):
    """One kernel that did not assemble.

    ``message`` is the compiler's own first error; ``cuda_line`` the 1-based line of ``kernel.cu``
    and ``ptx_line`` of the PTX where they are known; ``log`` all that the compiler printed.
    ``lasting`` is false where another try may end otherwise (a time limit, a killed process).
    """

    step: Step
    message: str
    cuda_line: int | None
    ptx_line: int | None
    log: str
    ptx: str | None
    lasting: bool
