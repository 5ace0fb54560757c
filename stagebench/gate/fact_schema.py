"""Which paths can a changed fact have?  What a policy's patterns are checked against.

Made from the records' own fields, so that a fact that is added tomorrow can be named in a policy;
names of buffers, loops and the like are ``*``.
"""

from __future__ import annotations

from functools import lru_cache

import msgspec

from stagebench.diff.machine_facts import MACHINE_TEMPLATES
from stagebench.gate.fact_pattern import has_form
from stagebench.model import (
    Barrier,
    Diagnostic,
    Evidence,
    Facts,
    Failure,
    Launch,
    LaunchParam,
    LaunchTensor,
    PipelineLoop,
    PipelineStatement,
    ProfilerBuffer,
    Record,
    SharedBuffer,
    SharedMemory,
    SyncOp,
    SyncTotal,
    TmaDescriptor,
    Variant,
)
from stagebench.model.facts import SYNC_OPS

CUDA_TEXT = "kernel_cu"
"""The path of the generated CUDA's text, which is no fact of the schema but can have a rule."""


def _below(path: str, record: type[Record], *, skip: tuple[str, ...] = ()) -> list[str]:
    return [
        f"{path}.{info.encode_name}" for info in msgspec.structs.fields(record)
        if info.name not in skip
    ]  # fmt: skip


@lru_cache(maxsize=1)
def fact_templates() -> tuple[str, ...]:
    """The form of every path, with ``*`` for what a kernel names."""
    known = {
        "pipeline_loops": [
            *_below("pipeline_loops[*]", PipelineLoop, skip=("statements",)),
            *_below("pipeline_loops[*].statements", PipelineStatement),
        ],
        "shared_buffers": _below("shared_buffers[*]", SharedBuffer),
        "shared_memory": _below("shared_memory", SharedMemory),
        "barriers": _below("barriers[*]", Barrier),
        "sync_ops": [
            path
            for op in (*SYNC_OPS, "unknown:*")
            for path in (
                *_below(f"sync_ops[{op} *]", SyncOp, skip=("args",)), f"sync_ops[{op} *].args[*]",
            )
        ],
        "sync_totals": [
            path
            for op in (*SYNC_OPS, "unknown:*")
            for path in _below(f"sync_totals[{op}]", SyncTotal)
        ],
        "launch": [
            *_below("launch", Launch),
            "launch.params.order",
            *_below("launch.params[*]", LaunchParam),
            *_below("launch.tma_descriptors[*]", TmaDescriptor),
            *_below("launch.tensors[*]", LaunchTensor),
            *_below("launch.profilers[*]", ProfilerBuffer, skip=("marks",)),
            "launch.profilers[*].marks[*]",
        ],
        "diagnostics": [
            *_below("diagnostics[*]", Diagnostic),
            *_below("diagnostics[*].evidence[*]", Evidence),
        ],
        "machine": list(MACHINE_TEMPLATES),
        "lowering": [],
    }  # fmt: skip
    paths = ["outcome", CUDA_TEXT, *_below("failure", Failure)]
    paths += _below("variant", Variant, skip=("params", "pass_configs"))
    paths += ["variant.params[*]", "variant.pass_configs[*]"]
    for info in msgspec.structs.fields(Facts):
        paths += known.get(info.name, [f"{info.encode_name}*"])
    return tuple(paths)


@lru_cache(maxsize=512)
def field_paths(record: str) -> tuple[str, ...]:
    """The paths of the fields of the record that is at this path; none where it is no record."""
    found = []
    for template in fact_templates():
        form, dot, field = template.rpartition(".")
        if dot and "[" in form and has_form(record, form):
            found.append(f"{record}.{field}")
    return tuple(found)


@lru_cache(maxsize=1)
def fact_words() -> tuple[str, ...]:
    """Every name that occurs in a path: what a misspelt one is compared with."""
    found: dict[str, None] = {}
    for path in fact_templates():
        for word in path.replace("[", ".").replace("]", ".").replace(" ", ".").split("."):
            if word.strip("*"):
                found[word] = None
    return tuple(found)
