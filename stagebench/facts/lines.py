"""Which Python line does a site come from that carries none?

Passes inject most synchronisation without a source line, and warp specialisation drops those of
what it moves.  Such a site gets a ``synthetic`` line: of the statement that fills the buffer it
copies to, of the loop's only GEMM for tensor-core work, else of the pipelined loop it is in.
Tensor-core work that a pass gave the line of that loop is moved to the GEMM too.  Where loops
share a variable name nothing is guessed.
"""

from __future__ import annotations

import msgspec

from stagebench.model import Observation
from stagebench.model.observation import SeenKernel, SeenLoopRequest, SeenSite

_TENSOR = ("wgmma", "mma_sync", "tcgen05")


def with_lines(observation: Observation) -> Observation:
    """The observation with a synthetic line at each site that had none and can be placed."""
    requests: dict[str, SeenLoopRequest | None] = {}
    for request in observation.requests:
        requests[request.loop_var] = None if request.loop_var in requests else request
    kernel = observation.kernel
    sites = tuple(_placed(site, kernel, requests) for site in kernel.sites)
    return msgspec.structs.replace(observation, kernel=msgspec.structs.replace(kernel, sites=sites))


def _placed(
    site: SeenSite, kernel: SeenKernel, requests: dict[str, SeenLoopRequest | None]
) -> SeenSite:
    if site.line is not None and not _may_bear_the_loops_line(site):
        return site
    for index in reversed(site.loops):
        request = requests.get(kernel.loops[index].var)
        line = None if request is None else _line(site, request)
        if request is not None and line is not None and site.line in (None, request.line):
            return msgspec.structs.replace(
                site, file=request.file, line=line, line_kind="synthetic"
            )
    return site


def _may_bear_the_loops_line(site: SeenSite) -> bool:
    """Whether tensor-core work has a line that is not its own: perhaps that of the loop."""
    return site.line_kind == "synthetic" and site.op.startswith(_TENSOR)


def _line(site: SeenSite, request: SeenLoopRequest) -> int | None:
    if site.buffer is not None:
        lines = [s.line for s in request.statements if site.buffer in s.writes and s.line]
    elif site.op.startswith(_TENSOR):
        lines = [s.line for s in request.statements if "gemm" in s.summary and s.line]
    else:
        lines = []
    return lines[0] if len(set(lines)) == 1 else request.line
