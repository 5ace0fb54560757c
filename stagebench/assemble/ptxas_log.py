"""What did ptxas say: resources of each entry, warnings and coded remarks, or the first error?

Source: the formats that ptxas 13.0 prints with ``-v`` (``tests/assemble/data``).  ``C`` codes are
in no manual: the names are those of the texts that the program prints.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from stagebench.assemble.ptx_text import cuda_line_at
from stagebench.assemble.records import AssemblerMessage, EntryResources

UNKNOWN = "unknown"
SETMAXNREG_IGNORED = "setmaxnreg-ignored"
WGMMA_SERIALIZED = "wgmma-serialized"
WARPGROUP_ARRIVE_INJECTED = "warpgroup-arrive-injected"
SPILLS = "registers-spilled"
_NAMES = (  # by text: a release may renumber its codes, and one meaning has several
    (re.compile(r"'setmaxnreg' ignored\b"), SETMAXNREG_IGNORED),
    (re.compile(r"wgmma\.mma_async instructions are serialized\b"), WGMMA_SERIALIZED),
    (re.compile(r"warpgroup\.(?:arrive|wait|depbar) is injected\b"), WARPGROUP_ARRIVE_INJECTED),
    (re.compile(r"Registers are spilled to local memory\b"), SPILLS),
)
_LINE = re.compile(r"ptxas (?P<severity>info|warning)\s*:\s*(?P<text>.*)")
_CODED = re.compile(r"\((?P<code>C\d+)\)\s*(?P<text>.*)")
_TEXT_LINE = re.compile(r"\bline (\d+)\b")
_POSITION = re.compile(
    r"ptxas (?P<file>.*), line (?P<line>\d+); (?P<severity>error|warning|info)\s*:\s*(?P<text>.*)"
)
_FATAL = re.compile(r"ptxas (?:fatal|error)\s*:\s*(?P<text>.*)")
_ENTRY = re.compile(r"Compiling entry function '(?P<name>[^']+)' for '[^']+'")
_PROPERTIES = re.compile(r"Function properties for (?P<name>\S+)")
_FRAME = re.compile(
    r"\s*(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads"
)
_USED = re.compile(r"Used (?P<registers>\d+) registers(?P<rest>.*)")
_BARRIERS = re.compile(r", used (\d+) barriers?\b")
_SMEM = re.compile(r", (\d+) bytes smem\b")
_CHATTER = re.compile(
    r"\d+ bytes gmem|\d+ bytes cmem|Compile time = |Compiling entry function"
    r"|Overriding (?:global maxrregcount|maximum register limit)"
    r"|Function properties for |Used \d+ registers"
)


@dataclass
class _Entry:
    frame: tuple[int, int, int] | None = None
    used: re.Match[str] | None = None


@dataclass
class _State:
    entries: dict[str, _Entry] = field(default_factory=dict)
    compiling: str | None = None
    described: str | None = None


def resources(log: str, function: str, code_bytes: int | None) -> EntryResources | None:
    """What the kernel ``function`` takes; ``None`` where the log does not tell all of it."""
    state = _State()
    for line in log.splitlines():
        _follow(state, line)
    entry = state.entries.get(function)
    if entry is None or entry.frame is None or entry.used is None:
        return None
    rest = entry.used["rest"]
    stack, stores, loads = entry.frame
    return EntryResources(
        registers=int(entry.used["registers"]),
        spill_store_bytes=stores,
        spill_load_bytes=loads,
        stack_bytes=stack,
        static_smem_bytes=_number(_SMEM, rest),
        barriers=_number(_BARRIERS, rest),
        code_bytes=code_bytes,
    )


def _follow(state: _State, line: str) -> None:
    frame = _FRAME.fullmatch(line)
    if frame:
        entry = state.entries.get(state.described or "")
        if entry is not None and entry.frame is None:
            entry.frame = (int(frame[1]), int(frame[2]), int(frame[3]))
        return
    said = _LINE.fullmatch(line)
    if not said:
        return
    text = said["text"]
    if found := _ENTRY.fullmatch(text):
        state.compiling = found["name"]
        state.entries[found["name"]] = _Entry()
    elif found := _PROPERTIES.fullmatch(text):
        state.described = found["name"]
    elif (found := _USED.fullmatch(text)) and state.compiling in state.entries:
        state.entries[state.compiling].used = found


def _number(pattern: re.Pattern[str], text: str) -> int:
    """A quantity of the ``Used`` line; ptxas leaves out what is zero."""
    found = pattern.search(text)
    return int(found[1]) if found else 0


def messages(log: str, ptx: str) -> tuple[AssemblerMessage, ...]:
    """Warnings and coded remarks, in order, each once; what ``-v`` always prints is left out."""
    found: dict[AssemblerMessage, None] = {}
    for line in log.splitlines():
        positioned = _POSITION.fullmatch(line)
        said = positioned or _LINE.fullmatch(line)
        if not said or said["severity"] == "error":
            continue
        severity: Literal["warning", "info"] = (
            "warning" if said["severity"] == "warning" else "info"
        )
        coded = _CODED.fullmatch(said["text"])
        text = coded["text"] if coded else said["text"]
        if not coded and _CHATTER.match(text):
            continue
        in_text = None if positioned else _TEXT_LINE.search(text)
        ptx_line = int(positioned["line"]) if positioned else int(in_text[1]) if in_text else None
        message = AssemblerMessage(
            severity=severity,
            code=coded["code"] if coded else None,
            name=next((name for pattern, name in _NAMES if pattern.search(text)), UNKNOWN),
            text=text,
            ptx_line=ptx_line,
            cuda_line=None if ptx_line is None else cuda_line_at(ptx, ptx_line),
        )
        found[message] = None
    return tuple(found)


def first_error(log: str) -> tuple[str, int | None]:
    """The first error and the PTX line that it names; the empty text where there is none."""
    for line in log.splitlines():
        positioned = _POSITION.fullmatch(line)
        if positioned and positioned["severity"] == "error":
            return positioned["text"], int(positioned["line"])
    for line in log.splitlines():
        fatal = _FATAL.fullmatch(line)
        if fatal:
            coded = _CODED.fullmatch(fatal["text"])
            named = _TEXT_LINE.search(fatal["text"])
            return coded["text"] if coded else fatal["text"], int(named[1]) if named else None
    return "", None
