"""How is one changed field said in words?  ``A_shared versions 2 → 3``, ``64 → 96 KiB``.

A field without a phrase of its own is called by its name, so that a new one is never silent.
"""

from __future__ import annotations

from collections.abc import Mapping

from stagebench.model import (
    Barrier,
    Diagnostic,
    Launch,
    LaunchParam,
    PipelineLoop,
    PipelineStatement,
    Record,
    SharedBuffer,
    SharedMemory,
    SyncOp,
    SyncTotal,
    TmaDescriptor,
)

UNKNOWN = "–"
_ARROW = "→"
_NONE = "none"
_BYTES = ("_bytes", "bytes_per_version")

_PHRASES: Mapping[type[Record], Mapping[str, str]] = {
    PipelineLoop: {
        "loop_var": "loop variable",
        "extent": "trips",
        "num_stages": "requested num_stages",
        "scheduled_by": "scheduled by",
        "pass_name": "scheduled in",
        "pipeline_depth": "pipeline depth",
        "explicit_schedule": "explicit schedule",
        "reason": "reason why not as asked",
    },
    PipelineStatement: {
        "summary": "statements",
        "stage": "stage",
        "order": "order",
        "async_group": "async group",
        "role": "statements by role",
        "line": "statements' lines",
    },
    SharedBuffer: {
        "num_versions": "versions",
        "bytes_per_version": "each",
        "total_bytes": "total",
        "offset_bytes": "offset",
        "alignment_bytes": "alignment",
        "versioned_by": "versioned by",
        "shape": "declared shape",
    },
    SharedMemory: {
        "static_bytes": "static shared memory",
        "dynamic_bytes": "dynamic shared memory",
        "total_bytes": "shared memory",
        "limit_bytes": "limit of shared memory",
        "fits": "shared memory fits",
        "exceeds": "limit of shared memory that is exceeded",
        "max_num_stages": "deepest num_stages that fits",
    },
    Barrier: {"count": "barriers", "arrive_count": "arrivals", "first": "first index"},
    SyncTotal: {"static": "call sites", "dynamic": "executions"},
    SyncOp: {
        "static": "call sites",
        "dynamic": "executions",
        "max_pending": "depth",
        "line": "source line",
        "cuda_line": "CUDA line",
        "line_kind": "kind of source line",
        "file": "source file",
    },
    Launch: {
        "function": "device function",
        "block": "threads per block",
        "dynamic_smem_bytes": "dynamic shared memory at launch",
    },
    LaunchParam: {},
    TmaDescriptor: {
        "global_strides_bytes": "global strides (bytes)",
        "oob_fill": "out-of-bounds fill",
        "l2_promotion": "L2 promotion",
        "fields": "fields as passed",
    },
}
_WORDS = {
    "software_pipeline": "software pipeline",
    "warp_specialization": "warp specialisation",
}


def quantity(field: str, value: object) -> str:
    """A value as people read it; bytes in the unit that reads best."""
    if value is None:
        return UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        if field in ("summary", "overlaps", "guards", "loops", "role", "names"):
            return "; ".join(UNKNOWN if item is None else str(item) for item in value) or _NONE
        return "×".join(map(str, value)) if field in _SHAPES else _listed(value)
    if isinstance(value, int) and field.endswith(_BYTES):
        return _size(value)
    return _WORDS.get(str(value), str(value))


_SHAPES = ("shape", "grid", "block", "cluster", "box", "global_shape")


def _listed(values: tuple[object, ...]) -> str:
    return " ".join(UNKNOWN if value is None else str(value) for value in values) or _NONE


def _size(value: int) -> str:
    if value < 1024:
        return f"{value} B"
    return f"{value / 1024:.2f}".rstrip("0").rstrip(".") + " KiB"


def from_to(left: str, right: str) -> str:
    """``left → right``; where a value has an arrow of its own, both are put in brackets."""
    if _ARROW in left or _ARROW in right:
        return f"was [{left}], now [{right}]"
    return f"{left} {_ARROW} {right}"


def what_changed(owner: Record, words: str, field: str, left: str, right: str) -> str:
    """``<words> <phrase> <left> → <right>``; a unit that both sides share is said once."""
    phrase = _PHRASES.get(type(owner), {}).get(field, field.replace("_", " "))
    both = [left.rpartition(" "), right.rpartition(" ")]
    if both[0][2] == both[1][2] in ("KiB", "B") and both[0][1] and both[1][1]:
        left = both[0][0]
    if isinstance(owner, SyncOp):
        place = " ".join(site_place(owner, without=field))
        after = f" in the {place}" if place else ""
        return f"{words} {phrase} {from_to(left, right)}{after}"
    middle = "" if not words or words.endswith(" ") else " "
    return f"{words}{middle}{phrase} {from_to(left, right)}"


def site_place(site: SyncOp, *, without: str = "") -> list[str]:
    """The role and section of a site, where it has them and they are not what is ``without``."""
    role = [] if site.role == "all" or without == "role" else [site.role]
    return role + ([site.section] if site.section and without != "section" else [])


def summary(record: Record) -> str:
    """A record in a few words: what is said of it where the other side has none."""
    if isinstance(record, SharedBuffer):
        shape = "×".join(str(dim) for dim in record.shape)
        return f"{record.num_versions} × {shape} {record.dtype}"
    if isinstance(record, Barrier):
        return f"{record.count}×{record.arrive_count} {record.kind}"
    if isinstance(record, SyncOp):
        return ", ".join([record.op, *(f"{key}={value}" for key, value in record.args.items())])
    if isinstance(record, Diagnostic):
        return record.message
    if isinstance(record, PipelineLoop):
        return f"{record.extent} trips, num_stages {record.num_stages}"
    names = [getattr(record, name) for name in ("name", "artifact") if hasattr(record, name)]
    return str(names[0]) if names else type(record).__name__
