"""What does a probed site stand for where there is no IR?  What PTX and the source's lines say.

Roles are those of the walk (`stagebench.ptx.walk_facts`): of the warps that execute a site, where
all of them have the same one.  A consumer's wait on an mbarrier is then for data, a producer's for
a free slot.  Sections are not known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from stagebench.bundle.given_kernel import GivenKernel, PlacedLine
from stagebench.model import Walk
from stagebench.model.timing import ProbeMetadata, ProbeSite
from stagebench.ptx.cuda_lines import own_file
from stagebench.ptx.records import Function

_DIRECTIVE = re.compile(r'[ \t]*#[ \t]*(?:line[ \t]+)?(\d+)(?:[ \t]+"([^"]*)")?.*')
_CUDA = (".cu", ".cuh", ".cpp", ".cc", ".h", ".hpp", ".inl")


def told_without_ir(metadata: ProbeMetadata, given: GivenKernel) -> ProbeMetadata:
    """The metadata with roles by warp, and sites by the names and lines of the source."""
    walk = None if given.machine is None else given.machine.walk
    roles = _roles(walk, metadata.warps_per_cta)
    lines = {line: (file, number) for line, file, number in given.lines}
    return replace(
        metadata,
        warp_roles=tuple(roles),
        sites=tuple(_site(one, given, roles, lines) for one in metadata.sites),
    )


def line_directives(source: str) -> tuple[PlacedLine, ...]:
    """For each line behind a ``#line``: the file and line that it says; empty without one."""
    found: list[PlacedLine] = []
    file, number = None, 0
    for line, text in enumerate(source.splitlines(), start=1):
        match = _DIRECTIVE.fullmatch(text)
        if match is not None:
            number = int(match[1]) - 1
            file = match[2] or file
            continue
        number += 1
        if file is not None:
            found.append((line, file.rpartition("/")[2], number))
    return tuple(found)


def files_of_locations(
    function: Function, files: Mapping[int, str]
) -> tuple[str | None, tuple[PlacedLine, ...]]:
    """Of a PTX text: the CUDA file that its kernel is of, or the lines of another language's."""
    file = own_file(function)
    name = None if file is None else files.get(file, "").rpartition("/")[2]
    if not name or name.endswith(_CUDA):
        return name or None, ()
    lines = {one.line for one in function.locations if one.file == file}
    lines |= {one.inlined_at[1] for one in function.locations if one.inlined_at is not None}
    return None, tuple((line, name, line) for line in sorted(lines))


def _roles(walk: Walk | None, warps: int) -> list[str]:
    by_warp: list[set[str]] = [set() for _ in range(warps)]
    for path in () if walk is None else walk.paths:
        for warp in path.warps:
            by_warp[warp].add(path.role)
    return [roles.pop() if len(roles) == 1 else "all" for roles in by_warp]


def _site(
    site: ProbeSite, given: GivenKernel, roles: list[str], lines: Mapping[int, tuple[str, int]]
) -> ProbeSite:
    role = _one_of(
        roles[warp] for warp, count in enumerate(site.predicted or ()) if count is None or count
    )
    kind = site.barrier_kind
    if kind is None and site.op == "mbarrier_wait":
        kind = {"consumer": "full", "producer": "empty"}.get(role)  # type: ignore[assignment]
    there = None if site.cuda_line is None else lines.get(site.cuda_line)
    op, _, rest = site.name.partition(" ")[2].partition(" ")
    what = " ".join(word for word in (op, kind, rest) if word)
    if there is not None:
        where = f"{there[0]}:{there[1]}"
    elif site.cuda_line is not None and given.cuda_file is not None:
        where = f"{given.cuda_file}:{site.cuda_line}"
    else:
        where = f"{given.source}:{site.ptx_line}"
    return replace(
        site,
        name=f"{where} {what}",
        role=role,
        barrier_kind=kind,
        file=None if there is None else there[0],
        line=None if there is None else there[1],
        line_kind=None if there is None else "exact",
        cuda_line=None if given.cuda_file is None else site.cuda_line,
    )


def _one_of(roles: Iterable[str]) -> str:
    found = set(roles)
    return found.pop() if len(found) == 1 else "all"
