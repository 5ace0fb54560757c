"""How does an ended child or a raised exception become a failed cell?"""

from __future__ import annotations

import re
import signal
from pathlib import Path

import msgspec

from stagebench.lowering.tested_releases import tested_range, untested
from stagebench.model import (
    FILE_RAISED,
    Compiler,
    Diagnostic,
    Evidence,
    Failure,
    Variant,
    VariantResult,
)
from stagebench.worker.places import without_places
from stagebench.worker.protocol import Died, LowerRequest, Raised, Rejected

_NODE_ERROR = "UnreadableIRError"
_OUT_OF_MEMORY_WORDS = ("std::bad_alloc", "MemoryError", "Cannot allocate memory")
_OWN_PYTHON = {
    "file": (FILE_RAISED, "its file was imported"),
    "kernel": ("kernel-raised", "it was built"),
}
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
_CRASH_FRAME = re.compile(r'^  File "(?P<file>.+)", line (?P<line>\d+) in (?P<function>.+)$', re.M)
"""A frame as `faulthandler` writes it (an exception's has a comma before its ``in``)."""
_BACKTRACE = (
    'File "', "Current thread 0x", "Stack (most recent call first)", "Extension modules: ",
    "!!!!!!! Segfault encountered", "...",
)  # fmt: skip
"""How lines begin that say where a process was, in Python or in C++, and not what happened."""
_SIGNAL_SAID = re.compile(
    r"^Fatal Python error: (?:Segmentation fault|Aborted|Bus error|Floating.point exception|"
    r"Illegal instruction)$", re.M,
)  # fmt: skip
_ANNOUNCES = re.compile(r"(?:[;,.] [^;,.]*)?:$")
_MESSAGE_CHARS = 600
_DETAIL_CHARS = 20_000
_TELLING_WORDS = ("Error", "error:", "Check failed", "Fatal", "terminate called", "abort")


def from_raised(raised: Raised) -> VariantResult:
    """The result of a variant in which the kernel's Python or the compiler raised."""
    if raised.where == "reader":
        return _unreadable(raised)
    first = _first_sentence(raised.message)
    whole = raised.message.strip()
    return VariantResult(
        variant=raised.variant,
        outcome="failed",
        failure=Failure(
            kind="out_of_memory" if raised.out_of_memory else "compile_error",
            message=_cut(f"{raised.error}: {first}" if first else raised.error, _MESSAGE_CHARS),
            pass_name=raised.pass_name,
            detail=_cut(raised.message, _DETAIL_CHARS)
            if whole != first or len(first) > _MESSAGE_CHARS
            else None,
            diagnostics=(*_raised_by_kernel(raised), *raised.diagnostics),
        ),
        facts=None,
    )


def _unreadable(raised: Raised) -> VariantResult:
    """The result of a variant that lowered, and whose IR stagebench could not read."""
    compiler = raised.variant.compiler
    node = _first_line(raised.message)
    if raised.error != _NODE_ERROR:
        node = f"{raised.error}: {node} ({raised.file}:{raised.line})"
    at = f" (seen at {raised.pass_name})" if raised.pass_name else ""
    beyond = untested(compiler.name, compiler.version) is not None
    step = (
        f"this stagebench reads {tested_range(compiler.name)} (--compiler)"
        if beyond
        else "that is a defect of stagebench: please report it with the kernel"
    )
    return VariantResult(
        variant=raised.variant,
        outcome="failed",
        failure=Failure(
            kind="unreadable_ir",
            message=_cut(
                f"lowered, but stagebench can't read the IR of {compiler.name} "
                f"{compiler.version}: {node}{at}; {step}",
                _MESSAGE_CHARS,
            ),
            diagnostics=raised.diagnostics,
        ),
        facts=None,
    )


def from_died(
    died: Died, request: LowerRequest, compiler: Compiler, timeout_seconds: float
) -> VariantResult:
    """The result of a variant whose child ended without a reply."""
    said = _ADDRESS.sub("0x…", without_places(died.stderr, request.path))
    at = _crash_line(died.stderr, request.path)
    return VariantResult(
        variant=unresolved_variant(request, compiler),
        outcome="failed",
        failure=_death(msgspec.structs.replace(died, stderr=said), at, timeout_seconds),
        facts=None,
    )


def from_lost_worker(request: LowerRequest, compiler: Compiler, log: str) -> VariantResult:
    """The result of a variant that was running when the worker itself ended."""
    tail = telling_line(log)
    return VariantResult(
        variant=unresolved_variant(request, compiler),
        outcome="failed",
        failure=Failure(
            kind="crash",
            message="the worker process ended while it ran this variant"
            + (f": {tail}" if tail else ""),
        ),
        facts=None,
    )


def from_no_compiler(
    request: LowerRequest, compiler: Compiler, message: str, hint: str | None
) -> VariantResult:
    """The result of a variant whose compiler can't be had or imported on this machine."""
    return VariantResult(
        variant=unresolved_variant(request, compiler),
        outcome="failed",
        failure=Failure(kind="no_compiler", message=_cut(message, _MESSAGE_CHARS), detail=hint),
        facts=None,
    )


def from_rejected(rejected: Rejected, request: LowerRequest, compiler: Compiler) -> VariantResult:
    """The result of a variant whose own values the kernel's loader refuses."""
    return VariantResult(
        variant=unresolved_variant(request, compiler),
        outcome="failed",
        failure=Failure(
            kind="compile_error",
            message=_cut(rejected.message, _MESSAGE_CHARS),
            detail=rejected.hint,
        ),
        facts=None,
    )


def unresolved_variant(request: LowerRequest, compiler: Compiler) -> Variant:
    """The identity of a variant that never told its defaults."""
    params = dict(request.params)
    if request.num_stages is not None:
        params["num_stages"] = request.num_stages
    return Variant(
        kernel=request.kernel,
        params=dict(sorted(params.items())),
        stage_param=request.stage_param,
        arch=request.arch,
        compiler=compiler,
        pass_configs=dict(sorted(request.pass_configs.items())),
    )


def _raised_by_kernel(raised: Raised) -> tuple[Diagnostic, ...]:
    said = _OWN_PYTHON.get(raised.where)
    if said is None:
        return ()
    code, when = said
    return (
        Diagnostic(
            severity="error",
            code=code,
            message=f"the kernel's own Python raised while {when}",
            evidence=(Evidence(artifact="source", line=raised.line, text=raised.file),),
        ),
    )


def _death(died: Died, at: str | None, timeout_seconds: float) -> Failure:
    where = f" in {died.pass_name}" if died.pass_name else " before its first pass"
    said = _cut(telling_line(_SIGNAL_SAID.sub("", died.stderr)), _MESSAGE_CHARS)
    detail = _cut(died.stderr.strip(), _DETAIL_CHARS) or None
    if died.timed_out:
        return Failure(
            kind="timeout",
            message=f"no result within {timeout_seconds:g} s, stopped{where}",
            pass_name=died.pass_name,
        )
    if any(word in died.stderr for word in _OUT_OF_MEMORY_WORDS):
        return Failure(
            kind="out_of_memory",
            message=f"{said or 'out of memory'}{where}",
            pass_name=died.pass_name,
            detail=detail,
        )
    if died.signal == signal.SIGKILL:
        counted = {
            None: "its counter can't be read here",
            0: "its counter did not move, so it may have been somebody else",
        }.get(died.oom_kills, f"it counted {died.oom_kills} since the variant started")
        return Failure(
            kind="out_of_memory",
            message=f"killed by SIGKILL{where}, which stagebench did not send: the kernel's "
            f"out-of-memory killer does that ({counted})",
            pass_name=died.pass_name,
        )
    how = signal_name(died.signal) if died.signal else f"exit code {died.exit_code}"
    if not died.signal and died.exit_code == 0:
        how = "the process ended by itself, with exit code 0"
    where += f", at {at}" if at else ""
    return Failure(
        kind="crash",
        message=f"{said}, {how}{where}" if said else f"{how}{where}",
        pass_name=died.pass_name,
        detail=detail,
    )


def _crash_line(stderr: str, path: str | None) -> str | None:
    """The innermost line of the kernel's own file that ran, where Python said what did."""
    for frame in _CRASH_FRAME.finditer(stderr):  # most recent call first
        if path is not None and frame["file"] == path:
            return f"{Path(path).name}:{frame['line']} in {frame['function']}"
    return None


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text) - limit} characters more)"


def signal_name(number: int) -> str:
    """A signal as it is known (``SIGABRT``)."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def _first_sentence(text: str) -> str:
    """The first line, with the next one where it only announces that (``…: following errors:``)."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    announced = bool(lines) and lines[0].endswith(":")
    return " ".join(lines[: 2 if announced else 1])


def announced(text: str) -> str:
    """The first line without the clause that announces what follows (``…; searched in:``)."""
    return _ANNOUNCES.sub("", _first_line(text))


def telling_line(text: str) -> str:
    """The line of a log that most likely says what happened; its last one if none stands out."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith(_BACKTRACE)]
    for line in lines:
        if any(word in line for word in _TELLING_WORDS) and not line.startswith("Traceback"):
            return line
    return lines[-1] if lines else ""
