"""Which frame of an inlined instruction did its author mean?  Of CUDA that people wrote.

A compiler's output calls templates of other files: there the kernel's own line is the outermost
(`stagebench.ptx.cuda_lines`).  In a kernel that was written by hand most of the code may be in
inlined functions: the line is that of the innermost frame in a file of the author's.  A helper,
of few lines around one synchronisation (`wait<N>()`), stands for its call.
Source: PTX ISA 9.0, ".loc" (``function_name``, ``inlined_at``).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from stagebench.ptx.records import Function, Location, Module
from stagebench.ptx.sync_ops import read_ops

Place = tuple[int, int, int]
"""File index, line and column, as a ``.loc`` has them."""
_HELPER_LINES = 4
"""Lines of code that a helper has at most; one that has more is a part of the kernel."""


class SourceFrames:
    """The frames of a function's locations that are in ``files``."""

    def __init__(self, function: Function, files: Collection[int]) -> None:
        self._files = files
        self._callers: dict[Place, list[Place]] = {}
        self._inside: dict[Place, set[str]] = {}
        lines: dict[str, set[tuple[int, int]]] = {}
        for location in function.locations:
            if location.inlined_at is not None and location.function is not None:
                callers = self._callers.setdefault(location.place, [])
                if location.inlined_at not in callers:
                    callers.append(location.inlined_at)
                self._inside.setdefault(location.place, set()).add(location.function)
                lines.setdefault(location.function, set()).add((location.file, location.line))
        synchronising: dict[str, set[tuple[int, int]]] = {}
        for instruction in function.instructions:
            if instruction.location is not None and any(read_ops(instruction)):
                for place in self._chain(instruction.location):
                    for name in self._inside.get(place, ()):
                        synchronising.setdefault(name, set()).add(place[:2])
        self._helpers = {
            name
            for name, there in synchronising.items()
            if len(there) == 1 and len(lines[name]) <= _HELPER_LINES
        }

    def of_location(self, location: Location) -> list[tuple[int, int]]:
        """File and line of the frame; several where it was inlined more than once."""
        found: list[tuple[int, int]] = []
        seen: set[Place] = set()
        work = [location.place]
        while work:
            place = work.pop(0)
            if place in seen:
                continue
            seen.add(place)
            callers = self._called_from(location, place)
            if (not callers or not self._is_passed(place)) and place[0] in self._files and place[1]:
                found.append(place[:2])
            else:
                work.extend(callers)
        return sorted(set(found))

    def _is_passed(self, place: Place) -> bool:
        inside = self._inside.get(place, set())
        return bool(inside) and inside <= self._helpers

    def _called_from(self, location: Location, place: Place) -> list[Place]:
        if place == location.place:
            return [] if location.inlined_at is None else [location.inlined_at]
        return self._callers.get(place, [])

    def _chain(self, location: Location) -> list[Place]:
        """All places that the location may be inlined at, itself included."""
        found = [location.place]
        for place in found:
            found += [one for one in self._called_from(location, place) if one not in found]
        return found


def by_hand(module: Module) -> Module:
    """The module with all functions read as people wrote them."""
    functions = tuple(replace(one, by_hand=True) for one in module.functions)
    return replace(module, functions=functions)
