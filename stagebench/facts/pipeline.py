"""Did the requested depth take effect, who scheduled the loop, and if not, why?"""

from __future__ import annotations

from collections.abc import Sequence

from stagebench.model import Observation, PipelineLoop, PipelineStatement, SharedBuffer
from stagebench.model.facts import Role, ScheduledBy
from stagebench.model.observation import SeenLoopRequest, SeenStatement


def pipeline_loops(
    observation: Observation, buffers: Sequence[SharedBuffer]
) -> tuple[PipelineLoop, ...]:
    """Every loop for which a depth (or an explicit schedule) was requested, in source order."""
    versions = {buffer.name: buffer.num_versions for buffer in buffers}
    copies = any(site.op == "cp_async_copy" for site in observation.kernel.sites)
    return tuple(_loop(seen, versions, copies=copies) for seen in observation.requests)


def _loop(seen: SeenLoopRequest, versions: dict[str, int], *, copies: bool) -> PipelineLoop:
    scheduled_by: ScheduledBy = "none"
    if seen.outcome == "specialized":
        scheduled_by = "warp_specialization"
    elif seen.outcome == "planned" and seen.injected_by is not None:
        scheduled_by = "software_pipeline"
    explicit = seen.explicit_order is not None or seen.explicit_stage is not None
    return PipelineLoop(
        loop_var=seen.loop_var,
        extent=seen.extent,
        num_stages=seen.num_stages,
        scheduled_by=scheduled_by,
        pass_name=seen.pass_name if scheduled_by != "none" else None,
        pipeline_depth=max(seen.stage) + 1
        if scheduled_by == "software_pipeline" and seen.stage
        else None,
        explicit_schedule=explicit,
        reason=_reason(seen, scheduled_by, versions, explicit=explicit, copies=copies),
        statements=_statements(seen, scheduled_by),
        line=seen.line,
    )


def _statements(seen: SeenLoopRequest, scheduled_by: ScheduledBy) -> tuple[PipelineStatement, ...]:
    planned = scheduled_by == "software_pipeline"
    return tuple(
        PipelineStatement(
            summary=statement.summary,
            stage=_at(seen.stage, index) if planned else None,
            order=_at(seen.order, index) if planned else None,
            async_group=_group(_at(seen.async_groups, index)) if planned else None,
            role=_role(statement, seen) if scheduled_by == "warp_specialization" else None,
            line=statement.line,
        )
        for index, statement in enumerate(seen.statements)
    )


def _at(values: tuple[int, ...] | None, index: int) -> int | None:
    return values[index] if values is not None and index < len(values) else None


def _group(value: int | None) -> int | None:
    return None if value is None or value < 0 else value


def _role(statement: SeenStatement, seen: SeenLoopRequest) -> Role | None:
    if not seen.producer_writes:
        return None
    produced = any(name in seen.producer_writes for name in statement.writes)
    return "producer" if produced else "consumer"


def _reason(
    seen: SeenLoopRequest,
    scheduled_by: ScheduledBy,
    versions: dict[str, int],
    *,
    explicit: bool,
    copies: bool,
) -> str | None:
    """Why the depth had no effect, or another one than asked for; ``None``: as asked."""
    if scheduled_by == "warp_specialization":
        if explicit:
            return (
                "warp specialisation took the loop; the explicit order and stage lists are ignored"
            )
        filled = [versions[name] for name in seen.producer_writes if name in versions]
        if (seen.num_stages or 0) > 1 and filled and max(filled) == 1:
            return "no buffer has more than one version: the producer can't run ahead"
        return None
    if scheduled_by == "software_pipeline":
        return _planned_reason(seen, versions, explicit=explicit, copies=copies)
    if seen.outcome == "planned":
        return f"a plan was made by {seen.pass_name} and discarded: no pass injected it"
    if not seen.num_stages and not explicit:
        return "depth 0 asks for no pipeline" if seen.num_stages == 0 else "no depth was asked for"
    if seen.outcome == "removed":
        return f"the request was dropped without a schedule in {seen.pass_name}"
    return "no pass took the loop up"


def _planned_reason(
    seen: SeenLoopRequest, versions: dict[str, int], *, explicit: bool, copies: bool
) -> str | None:
    written = [name for s in seen.statements for name in s.writes if name in versions]
    deepest = max((versions[name] for name in written), default=1)
    if explicit:
        return "explicit order and stage lists override num_stages"
    if not copies:
        if deepest > 1:
            return f"{deepest} versions, but no copy is asynchronous: memory without overlap"
        return "no copy is asynchronous and nothing has versions: the order changed at most"
    if seen.num_stages is not None and seen.num_stages > 1 and deepest == 1:
        return "no buffer has more than one version: copies can't run ahead of their use"
    return None
