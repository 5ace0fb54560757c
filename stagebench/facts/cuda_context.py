"""Where in a function is the walk, and what has it found so far?"""

from __future__ import annotations

from dataclasses import dataclass, field

from stagebench.facts.cuda_loops import written
from stagebench.facts.cuda_nest import Header, Nest
from stagebench.facts.cuda_records import CudaLoop, CudaSite, HiddenSync
from stagebench.facts.cuda_syntax import CudaSyntaxError
from stagebench.model.base import Extent

MAX_SITES = 200_000
"""Device functions that call each other can multiply sites without bound: nothing is counted."""


@dataclass
class Found:
    """Sites and hidden synchronisations of one function, relative to its entry."""

    sites: list[CudaSite] = field(default_factory=list)
    hidden: list[HiddenSync] = field(default_factory=list)


@dataclass(frozen=True)
class Context:
    """The loops and conditions around, and where findings go; ``depth`` counts statements."""

    found: Found
    nest: Nest
    loops: tuple[CudaLoop, ...] = ()
    guards: tuple[str, ...] = ()
    depth: int = 0

    def within(self, loop: CudaLoop, header: Header) -> Context:
        """Inside a loop."""
        nest = self.nest.within(header)
        return Context(self.found, nest, (*self.loops, loop), self.guards, self.depth + 1)

    def under(self, *guards: str) -> Context:
        """Inside a statement, under these conditions."""
        return Context(self.found, self.nest, self.loops, (*self.guards, *guards), self.depth + 1)

    def behind(self, guard: str) -> Context:
        """In the same statement, where a condition holds from here on."""
        return Context(self.found, self.nest, self.loops, (*self.guards, guard), self.depth)

    def add(self, op: str, callee: str, args: dict[str, Extent], line: int) -> None:
        """Add a site at this place."""
        self.add_site(
            CudaSite(
                op=op,
                callee=callee,
                args=args,
                line=line,
                loops=self.loops,
                guards=self.guards,
                dynamic=written(self.nest.executions),
                factors=self.nest.executions,
            )
        )

    def add_site(self, site: CudaSite) -> None:
        """Add a site that knows its place."""
        self.found.sites.append(site)
        if len(self.found.sites) > MAX_SITES:
            raise CudaSyntaxError(
                f"CUDA source, line {site.line}: more than {MAX_SITES} sites in one function"
            )
