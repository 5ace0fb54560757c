"""From which line of the kernel's own CUDA file does an instruction come?  ``.loc`` chains.

A compiler prints the chain of an inlined location once in a function; later it names only the
innermost part and where that was inlined (LLVM ``NVPTXAsmPrinter``, ``emitInlinedAt``, and nvcc's
NVVM).  The same inner position can have been inlined in several places, so a chain can lead to
several lines of the kernel: then the line is the candidate that fits between the neighbours whose
line is sure, and `CudaLine.exact` is false.
Source: PTX ISA 9.0, ".loc" (``function_name``, ``inlined_at``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stagebench.ptx.records import Function, Location


@dataclass(frozen=True, slots=True)
class CudaLine:
    """A 1-based line of the kernel's file; ``exact`` where no other line fits as well."""

    line: int
    exact: bool


def own_file(function: Function) -> int | None:
    """Index of the file that holds the kernel: that of the first ``.loc`` that is not inlined."""
    return next((one.file for one in function.locations if one.inlined_at is None), None)


def cuda_lines(function: Function, instructions: Sequence[int]) -> list[CudaLine | None]:
    """Return the line of each of some instructions, given in program order."""
    file = own_file(function)
    parents: dict[tuple[int, int, int], list[tuple[int, int, int]]] = {}
    for one in function.locations:
        if one.inlined_at is not None:
            above = parents.setdefault(one.place, [])
            if one.inlined_at not in above:
                above.append(one.inlined_at)
    candidates = [
        _roots(function.instructions[index].location, file, parents) for index in instructions
    ]
    return _choose(candidates)


def _roots(
    location: Location | None,
    file: int | None,
    parents: dict[tuple[int, int, int], list[tuple[int, int, int]]],
) -> list[int]:
    if location is None or file is None:
        return []
    while location.above is not None:
        location = location.above
    if location.inlined_at is None:
        return [location.line] if location.file == file and location.line else []
    work = [location.inlined_at]
    seen: set[tuple[int, int, int]] = set()
    found: set[int] = set()
    while work:
        place = work.pop()
        if place in seen:
            continue
        seen.add(place)
        if place[0] == file:
            found.add(place[1])
        work.extend(parents.get(place, []) if place[0] != file else [])
    return sorted(found)


def _choose(candidates: Sequence[list[int]]) -> list[CudaLine | None]:
    """Settle what is ambiguous from the sure lines before and behind it, then in turn."""
    following: list[int | None] = [None] * len(candidates)
    sure: int | None = None
    for position in range(len(candidates) - 1, -1, -1):
        following[position] = sure
        if len(candidates[position]) == 1:
            sure = candidates[position][0]
    chosen: list[CudaLine | None] = []
    before: int | None = None
    turns: dict[tuple[int, ...], int] = {}
    for found, after in zip(candidates, following, strict=True):
        if not found:
            chosen.append(None)
        elif len(found) == 1:
            before = found[0]
            chosen.append(CudaLine(before, True))
        else:
            fitting = _fitting(found, before, after)
            last = turns.get(tuple(fitting), -1)
            line = next((one for one in fitting if one > last), fitting[0])
            turns[tuple(fitting)] = line
            chosen.append(CudaLine(line, False))
    return chosen


def _fitting(found: list[int], before: int | None, after: int | None) -> list[int]:
    """Candidates between two sure lines; where a loop goes back, those outside of them."""
    low = -1 if before is None else before
    high = max(found) if after is None else after
    if low <= high:
        fitting = [one for one in found if low <= one <= high]
    else:
        fitting = [one for one in found if one <= high or one >= low]
    return fitting or found
