"""Which facts does a variant have, by path?  What ``must appear`` looks for."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from stagebench.diff.machine_facts import machine_facts
from stagebench.model import Facts, Record


def fact_values(facts: Facts) -> Iterator[tuple[str, object]]:
    """``(path, value)`` of every fact, paths as `stagebench.diff.fact_changes` writes them.

    Sites (``sync_ops``) are left out: their totals say whether an op is there.
    """
    for name in ("pipeline_loops", "shared_buffers", "barriers", "diagnostics"):
        for record in getattr(facts, name):
            yield from _record(f"{name}[{_name(record)}]", record)
    for op, total in facts.sync_totals.items():
        yield from _record(f"sync_totals[{op}]", total)
    yield from _record("shared_memory", facts.shared_memory)
    yield from _record("launch", facts.launch)
    for listed in ("params", "tma_descriptors", "tensors"):
        for record in getattr(facts.launch, listed) or ():
            yield from _record(f"launch.{listed}[{_name(record)}]", record)
    yield "machine", None if facts.machine is None else "assembled"
    if facts.machine is not None:
        yield from machine_facts(facts.machine).items()


def _record(path: str, record: Record) -> Iterator[tuple[str, object]]:
    for info in msgspec.structs.fields(type(record)):
        yield f"{path}.{info.encode_name}", getattr(record, info.name)


def _name(record: Record) -> str:
    for field in ("loop_var", "name", "code"):
        if hasattr(record, field):
            kind = f" {record.kind}" if type(record).__name__ == "Barrier" else ""  # type: ignore[attr-defined]
            return f"{getattr(record, field)}{kind}"
    raise TypeError(f"{type(record).__name__} has no name")
