"""How does PTX become a cubin and SASS with line information, and what if it doesn't?

ptxas assembles, never nvJitLink: that one assembles as for linking, which drops ``setmaxnreg``
(C7504) and so makes another kernel.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from stagebench.assemble import ptxas_log
from stagebench.assemble.cubin_sections import code_bytes
from stagebench.assemble.cuda_step import lost, why
from stagebench.assemble.programs import Programs, Ran
from stagebench.assemble.ptx_text import cuda_line_at
from stagebench.assemble.records import MachineText, NotAssembled, Step
from stagebench.assemble.toolchain import Toolchain

_ENTRY = re.compile(r"^[ \t]*(?:\.(?:visible|weak)[ \t]+)?\.entry[ \t]+([\w$%]+)", re.MULTILINE)
_TIMES = re.compile(r"^ptxas info\s*: Compile time = .*\n?", re.MULTILINE)


def assemble_text(
    ptx: str,
    arch: str,
    function: str | None,
    flags: tuple[str, ...],
    toolchain: Toolchain,
    programs: Programs,
    timeout_seconds: float,
) -> MachineText | NotAssembled:
    """Assemble and disassemble; ``function`` may be left out where the PTX has one kernel."""
    entry = find_entry(ptx, function)
    if entry is None:
        there = ", ".join(_ENTRY.findall(ptx)) or "none"
        wanted = f"the kernel {function}" if function else "one kernel"
        return _failed("ptx", f"the PTX doesn't have {wanted}; it has: {there}", None, "", ptx)
    with tempfile.TemporaryDirectory(prefix="stagebench-") as name:
        folder = Path(name)
        (folder / "kernel.ptx").write_text(ptx)
        command: list[str | Path] = [
            toolchain.ptxas.path,
            "-v",
            "-lineinfo",
            "--warn-on-spills",
            "-arch",
            arch,
            *flags,
            "kernel.ptx",
            "-o",
            "kernel.cubin",
        ]
        ran = programs.run(command, folder, timeout_seconds)
        if ran.timed_out or ran.code != 0:
            return _assembly_failed(ran, ptx, timeout_seconds)
        log = ran.log + ran.output
        made = folder / "kernel.cubin"
        if not made.is_file():
            return lost("ptx", "ptxas", "ended without an error and without a cubin", log)
        cubin = made.read_bytes()
        taken = ptxas_log.resources(log, entry, code_bytes(cubin, entry))
        if taken is None:
            return _failed("ptx", f"ptxas doesn't say what {entry} takes", None, log, ptx)
        disassembled = programs.run(
            [toolchain.nvdisasm.path, "-c", "-gi", "-gp", "kernel.cubin"], folder, timeout_seconds
        )
        if disassembled.timed_out or disassembled.code != 0:
            return _disassembly_failed(disassembled, timeout_seconds)
    return MachineText(
        ptx=ptx,
        cubin=cubin,
        sass=disassembled.output,
        resources=taken,
        messages=ptxas_log.messages(log, ptx),
        ptxas_seconds=ran.seconds,
        disassembly_seconds=disassembled.seconds,
    )


def find_entry(ptx: str, function: str | None) -> str | None:
    """The PTX's name of a kernel: as it is, or mangled (Itanium C++ ABI, "<source-name>")."""
    entries: list[str] = _ENTRY.findall(ptx)
    if function is None:
        return entries[0] if len(entries) == 1 else None
    if function in entries:
        return function
    mangled = re.compile(rf"_Z(?:N(?:\d+\w+?)*?)?{len(function)}{re.escape(function)}\w*")
    found = [entry for entry in entries if mangled.fullmatch(entry)]
    return found[0] if len(found) == 1 else None


def _assembly_failed(ran: Ran, ptx: str, timeout_seconds: float) -> NotAssembled:
    log = _TIMES.sub("", ran.log + ran.output)
    if ran.timed_out or ran.code < 0:
        return lost("ptx", "ptxas", why(ran, timeout_seconds), log)
    message, line = ptxas_log.first_error(log)
    if not message:
        reason = f"ended with exit code {ran.code} and no error"
        return lost("ptx", "ptxas", reason, log)
    return _failed("ptx", message, line, log, ptx)


def _disassembly_failed(ran: Ran, timeout_seconds: float) -> NotAssembled:
    if ran.timed_out or ran.code < 0:
        return lost("disassembly", "nvdisasm", why(ran, timeout_seconds), ran.log)
    lines = (ran.log + ran.output).strip().splitlines()
    message = lines[0] if lines else f"nvdisasm: exit code {ran.code}"
    return _failed("disassembly", message, None, ran.log, None)


def _failed(
    step: Step, message: str, ptx_line: int | None, log: str, ptx: str | None
) -> NotAssembled:
    return NotAssembled(
        step=step,
        message=message,
        cuda_line=cuda_line_at(ptx, ptx_line) if ptx and ptx_line else None,
        ptx_line=ptx_line,
        log=log,
        ptx=ptx,
        lasting=True,
    )
