"""From which line of the kernel's own CUDA file does an instruction come?  ``.loc`` chains.

A compiler prints the chain of an inlined location once in a function; later it names only the
innermost part and where that was inlined (LLVM ``NVPTXAsmPrinter``, ``emitInlinedAt``, and nvcc's
NVVM).  The same inner position can have been inlined in several places, so a chain can lead to
several lines of the kernel: then the line is the candidate that fits between the neighbours whose
line is sure, and `CudaLine.exact` is false.  Of a kernel that was written by hand
(`Function.by_hand`) the line may be that of an inlined function.
Source: PTX ISA 9.0, ".loc" (``function_name``, ``inlined_at``).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from stagebench.ptx.records import Function, Location
from stagebench.ptx.source_frames import SourceFrames


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
    roots = _roots_of_locations(function)
    candidates = [
        roots.get(id(one.location), []) if one.location is not None else []
        for one in function.instructions
    ]
    wanted = set(instructions)
    ambiguous = [index for index in sorted(wanted) if len(candidates[index]) > 1]
    chosen = {
        index: CudaLine(candidates[index][0], True)
        for index in wanted
        if len(candidates[index]) == 1
    }
    turns: dict[tuple[int, ...], int] = {}
    lines = {one[0] for one in candidates if len(one) == 1}
    for index in ambiguous:
        found = candidates[index]
        others = sorted(lines.difference(found))
        fitting = found
        for anchors in (instructions, range(len(candidates))):  # sites first: they stay in order
            before, after = _sure(candidates, anchors, index)
            if len(fitting) > 1:
                fitting = _fitting(fitting, before, after, others)
        last = turns.get(tuple(fitting), -1)
        line = next((one for one in fitting if one > last), fitting[0])
        turns[tuple(fitting)] = line
        chosen[index] = CudaLine(line, False)
    return [chosen.get(index) for index in instructions]


def _roots_of_locations(function: Function) -> dict[int, list[int]]:
    """Lines of the kernel's file that each ``.loc`` can come from, by the record's identity.

    A chain is printed where it is first needed: only what stands above a ``.loc`` is looked at.
    """
    file = own_file(function)
    if function.by_hand and file is not None:
        frames = SourceFrames(function, (file,))
        return {
            id(one): [line for _, line in frames.of_location(one)] for one in function.locations
        }
    parents: dict[tuple[int, int, int], list[tuple[int, int, int]]] = {}
    found: dict[int, list[int]] = {}
    for location in function.locations:
        if location.inlined_at is not None:
            above = parents.setdefault(location.place, [])
            if location.inlined_at not in above:
                above.append(location.inlined_at)
        found[id(location)] = _roots(location, file, parents)
    return found


def _roots(
    location: Location,
    file: int | None,
    parents: dict[tuple[int, int, int], list[tuple[int, int, int]]],
) -> list[int]:
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
        else:
            work.extend(parents.get(place, []))
    return sorted(found)


def _sure(
    candidates: Sequence[list[int]], anchors: Sequence[int], index: int
) -> tuple[int | None, int | None]:
    """Return the nearest lines before and behind that are sure and not in question."""
    question = candidates[index]

    def line_at(anchor: int) -> int | None:
        found = candidates[anchor]
        return found[0] if len(found) == 1 and found[0] not in question else None

    place = bisect_left(anchors, index)
    before = (line_at(anchors[at]) for at in range(place - 1, -1, -1))
    after = (line_at(anchors[at]) for at in range(place, len(anchors)))
    return (
        next((one for one in before if one is not None), None),
        next((one for one in after if one is not None), None),
    )


def _fitting(
    found: list[int], before: int | None, after: int | None, sure: Sequence[int]
) -> list[int]:
    """Candidates between two sure lines; where a loop goes back, those that are nearest to them.

    There the line is behind the first (the end of the loop) or before the second (its start).
    Neighbours without any other statement between them stay together.
    """
    low = -1 if before is None else before
    high = max(found) if after is None else after
    between = [one for one in found if low <= one <= high]
    if between:
        return between
    distances = {one: high - one for one in found if one <= high}
    distances |= {one: one - low for one in found if one >= low}
    if not distances:
        return found
    nearest = min(distances, key=lambda one: (distances[one], one))
    return [
        one
        for one in found
        if bisect_left(sure, min(one, nearest)) == bisect_left(sure, max(one, nearest))
    ]
