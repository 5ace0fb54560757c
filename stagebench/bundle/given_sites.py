"""What does a probed site stand for where there is no IR?  What PTX and the source's lines say.

Roles are those of the walk (`stagebench.ptx.walk_facts`): of the warps that execute a site, where
all of them have the same one.  A consumer's wait on an mbarrier is then for data, a producer's for
a free slot.  Sections are not known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from msgspec.structs import replace as replaced

from stagebench.bundle.given_kernel import GivenKernel, PlacedLine
from stagebench.model import Walk
from stagebench.model.timing import ProbeMetadata, ProbeSite
from stagebench.ptx.cuda_lines import own_file
from stagebench.ptx.read import read_module
from stagebench.ptx.records import Function
from stagebench.ptx.sites import sync_sites
from stagebench.ptx.source_frames import SourceFrames

_DIRECTIVE = re.compile(r'[ \t]*#[ \t]*(?:line[ \t]+)?(\d+)(?:[ \t]+"([^"]*)")?.*')
_CUDA = (".cu", ".cuh", ".cpp", ".cc", ".h", ".hpp", ".inl")


@dataclass(frozen=True)
class _Place:
    """A line of the source itself (``cuda_line``), or a file and line of a header."""

    cuda_line: int | None
    file: str | None = None
    line: int | None = None


def told_without_ir(metadata: ProbeMetadata, given: GivenKernel, ptx: str) -> ProbeMetadata:
    """The metadata with roles by warp, and sites by the names and lines of the source."""
    walk = None if given.machine is None else given.machine.walk
    roles = _roles(walk, metadata.warps_per_cta)
    places = _places(given, metadata.kernel, ptx)
    sites = [_site(one, given, roles, places.get(one.ptx_line or 0)) for one in metadata.sites]
    keys = [_statement(one) for one in sites]
    named = []
    for one, key in zip(sites, keys, strict=True):
        copy, copies = keys[: one.id].count(key), keys.count(key)
        shown = f" [{copy + 1}/{copies}]" if copies > 1 else ""
        named.append(replaced(one, name=one.name + shown, copy=copy, copies=copies))
    return replaced(metadata, warp_roles=tuple(roles), sites=tuple(named))


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


def _places(given: GivenKernel, kernel: str, ptx: str) -> dict[int, _Place]:
    """By line of the PTX: where its author wrote what synchronises there."""
    module = read_module(ptx)
    function = next(one for one in module.entries if one.name == kernel)
    own = own_file(function)
    headers = {
        index: name.rpartition("/")[2]
        for index, name in module.files.items()
        if index != own and _is_own(name, given.headers)
    }
    told = {line: (file, number) for line, file, number in given.lines}
    frames = SourceFrames(function, {*headers, *([] if own is None else [own])})
    found = {}
    for site in sync_sites(replace(function, by_hand=True)):
        location = function.instructions[site.index].location
        inner = [] if location is None else frames.of_location(location)
        file, line = told.get(site.cuda_line or 0, (None, None))
        found[site.line] = _Place(site.cuda_line, file, line)
        if len(inner) == 1 and inner[0][0] in headers:
            found[site.line] = _Place(None, headers[inner[0][0]], inner[0][1])
    return found


def _is_own(header: str, folders: Sequence[str]) -> bool:
    """Is a header in one of the folders?  A compiler names it as its ``#include`` does."""
    paths = [Path(folder, header) for folder in folders]
    return any(
        path.is_relative_to(folder) and path.is_file()
        for path, folder in zip(paths, folders, strict=True)
    )


def _statement(site: ProbeSite) -> tuple[object, ...]:
    """What copies of one statement share (`stagebench.probe.site_table`)."""
    line = site.cuda_line if site.line is None else (site.file, site.line)
    args = tuple(sorted(site.args.items()))
    return (site.id,) if line is None else (line, site.op, args, site.barrier_kind)


def _roles(walk: Walk | None, warps: int) -> list[str]:
    by_warp: list[set[str]] = [set() for _ in range(warps)]
    for path in () if walk is None else walk.paths:
        for warp in path.warps:
            by_warp[warp].add(path.role)
    return [roles.pop() if len(roles) == 1 else "all" for roles in by_warp]


def _site(site: ProbeSite, given: GivenKernel, roles: list[str], place: _Place | None) -> ProbeSite:
    place = _Place(None) if place is None else place
    role = _one_of(
        roles[warp] for warp, count in enumerate(site.predicted or ()) if count is None or count
    )
    kind = site.barrier_kind
    if kind is None and site.op == "mbarrier_wait":
        kind = {"consumer": "full", "producer": "empty"}.get(role)  # type: ignore[assignment]
    told = site.name.partition(" ")[2].partition(" [")[0]  # without its place and copy
    op, _, rest = told.partition(" ")
    what = " ".join(word for word in (op, kind, rest) if word)
    if place.line is not None:
        where = f"{place.file}:{place.line}"
    elif place.cuda_line is not None and given.cuda_file is not None:
        where = f"{given.cuda_file}:{place.cuda_line}"
    else:
        where = f"{given.source}:{site.ptx_line}"
    return replaced(
        site,
        name=f"{where} {what}",
        role=role,
        barrier_kind=kind,
        file=place.file,
        line=place.line,
        line_kind=None if place.line is None else "exact",
        cuda_line=None if given.cuda_file is None else place.cuda_line,
    )


def _one_of(roles: Iterable[str]) -> str:
    found = set(roles)
    return found.pop() if len(found) == 1 else "all"
