"""Can the kernel's own marks of regions be read back from the buffer that they write to?

On the device nothing checks: a lane (a group of threads in a CTA) writes its next record ``stride``
words further on, past the buffer too, and ids that are too large set bits of the lane.  What is
known before launch is told then; what a buffer holds says `stagebench.trace.cuda_profiler`.

Source: ``tvm/backend/cuda/operator/intrinsics/misc.py`` of Apache TVM 0.25.0.post1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from stagebench.facts.sync import executions
from stagebench.model import Diagnostic, Evidence, LaunchTensor, ProfilerBuffer
from stagebench.model.diagnostic import Severity
from stagebench.model.observation import SeenKernel, SeenSite

_EVENT_IDS, _LANES = 1 << 10, 1 << 20
_FINALIZE = "timer_finalize_cuda"


def profiler_diagnostics(kernel: SeenKernel) -> tuple[Diagnostic, ...]:
    """What is wrong with each profiler's buffer, as far as its numbers are known."""
    profilers = kernel.profilers or ()
    tensors = {tensor.name: tensor for tensor in kernel.tensors}
    found: list[Diagnostic] = []
    for one in profilers:
        found += _ids(one)
        lanes = _product((*kernel.grid, one.groups))
        if lanes is not None and isinstance(one.stride, int):
            found += _lanes(one, lanes, one.stride)
            if len(profilers) == 1 and one.tensor in tensors:  # a site does not say whose it is
                found += _room(kernel, tensors[one.tensor], one, lanes, one.stride)
    return tuple(found)


def _ids(one: ProfilerBuffer) -> Iterable[Diagnostic]:
    beyond = [event for event in one.events if isinstance(event, int) and event >= _EVENT_IDS]
    if beyond:
        yield _say(
            "error",
            "profiler-event-aliases",
            f"{one.tensor}: event {beyond[0]} is marked, a record holds ids below {_EVENT_IDS}: it "
            "will be taken for another lane's",
        )
    unnamed = [event for event in one.events if event not in range(len(one.event_names))]
    if one.event_names and unnamed:
        yield _say(
            "note",
            "profiler-event-unnamed",
            f"{one.tensor}: event {unnamed[0]} has no name: {len(one.event_names)} are given",
        )
    if _FINALIZE not in one.marks:
        yield _say(
            "note",
            "profiler-not-finalized",
            f"{one.tensor}: no lane is finalized: a full buffer can't be told from one that was "
            "overrun",
        )


def _lanes(one: ProfilerBuffer, lanes: int, stride: int) -> Iterable[Diagnostic]:
    if stride < lanes:
        yield _say(
            "error",
            "profiler-lanes-interleave",
            f"{one.tensor}: a stride of {stride} words for {lanes} lanes: they overwrite each "
            "other's records",
        )
    if lanes > _LANES:
        yield _say(
            "error",
            "profiler-lanes-alias",
            f"{one.tensor}: {lanes} lanes, a record tells {_LANES} apart",
        )


def _room(
    kernel: SeenKernel, tensor: LaunchTensor, one: ProfilerBuffer, lanes: int, stride: int
) -> Iterable[Diagnostic]:
    sites = [
        site for site in kernel.sites if any(site.intrinsic.endswith(name) for name in one.marks)
    ]
    records, words = _records(kernel, sites), _product(tensor.shape)
    if not records or words is None:
        return
    needed = 1 + lanes + (records - 1) * stride
    if needed <= words:
        return
    sure = not any(site.guards for site in sites)
    yield _say(
        "error" if sure else "warning",
        "profiler-buffer-too-small",
        f"{one.tensor} has {words} words, {lanes} lanes with {'' if sure else 'up to '}{records} "
        f"records each need {needed}: the rest {'is' if sure else 'may be'} written past its end",
        Evidence(artifact="device_ir", text=f"{len(sites)} marks"),
    )


def _records(kernel: SeenKernel, sites: Sequence[SeenSite]) -> int | None:
    """How many records the busiest lane writes, every branch taken but those on the thread."""
    executed = [executions(kernel, site) for site in sites]
    busiest = 0
    for path in {site.partition for site in sites}:
        mine = [
            count
            for site, count in zip(sites, executed, strict=True)
            if site.partition == path[: len(site.partition)]
        ]
        whole = [count for count in mine if isinstance(count, int)]
        if len(whole) < len(mine):
            return None
        busiest = max(busiest, sum(whole))
    return busiest


def _product(sizes: Iterable[int | str | None]) -> int | None:
    known = [size if isinstance(size, int) else None for size in sizes]
    whole = [size for size in known if size is not None]
    return math.prod(whole) if len(whole) == len(known) else None


def _say(severity: Severity, code: str, message: str, *evidence: Evidence) -> Diagnostic:
    return Diagnostic(severity=severity, code=code, message=message, evidence=evidence)
