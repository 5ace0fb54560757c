"""Which facts did one pass bring into the IR, change or take out of it, in words?

A view of `stagebench.diff.pass_facts` for people: one change for what several readings say.
"""

from __future__ import annotations

from collections.abc import Iterable

from stagebench.diff.fact_words import from_to, quantity
from stagebench.diff.pass_facts import PassFacts
from stagebench.model import ParamValue, Record

_SAID_OTHERWISE = (
    ".elements", ".dtype", ".scope", ".count", ".tl_pipelined_num_stages",
    "static_bytes", "dynamic_bytes", "dynamic_smem_bytes", "launch.grid",
)  # fmt: skip
_LOOP_WORDS = {
    "num_stages": "num_stages",
    "software_pipeline_stage": "stage",
    "software_pipeline_order": "order",
    "software_pipeline_async_producer_groups": "async groups",
    "tl_pipeline_order": "explicit order",
    "tl_pipeline_stage": "explicit stage",
}


class ReadingChange(Record, frozen=True, kw_only=True):
    """What can be read otherwise after a pass; ``None``: it can't be read there."""

    path: str
    text: str
    before: ParamValue
    after: ParamValue
    line: int | None


def reading_changes(before: PassFacts, after: PassFacts) -> tuple[ReadingChange, ...]:
    """Facts born, changed and lost from one text to the next.

    Nothing is said where one of them has no kernel, or lines that can't be read.
    """
    if not before.kernel or not after.kernel or before.unread or after.unread:
        return ()
    return tuple(_changes(before, after))


def _changes(before: PassFacts, after: PassFacts) -> Iterable[ReadingChange]:
    for path in dict.fromkeys((*before.readings, *after.readings)):
        old, new = before.readings.get(path), after.readings.get(path)
        values = (old.value if old else None), (new.value if new else None)
        if values[0] == values[1] or path.endswith(_SAID_OTHERWISE):
            continue
        if path.endswith(".dynamic") and _differs(
            before, after, path[: -len("dynamic")] + "static"
        ):
            continue
        if new is None and not path.startswith(("pipeline_loops[", "sync_")):
            continue  # the text does not show it here: that is not the pass's doing
        yield ReadingChange(
            path=path,
            text=_text(path, values),
            before=values[0],
            after=values[1],
            line=new.line if new else None,
        )


def _differs(before: PassFacts, after: PassFacts, path: str) -> bool:
    old, new = before.readings.get(path), after.readings.get(path)
    return (old.value if old else None) != (new.value if new else None)


def _text(path: str, values: tuple[ParamValue, ParamValue]) -> str:
    subject, field = _words(path)
    old, new = (None if value is None else quantity(field, value) for value in values)
    if old is None:
        return subject if path.startswith("launch.tma_descriptors") else f"{subject} {new}"
    if new is None:
        return f"{subject} gone"
    unit = old.rpartition(" ")[2]
    if unit in ("KiB", "B") and new.endswith(f" {unit}"):
        old = old.rpartition(" ")[0]
    return f"{subject} {from_to(old, new)}"


def _words(path: str) -> tuple[str, str]:
    """The subject of a reading, and the field that says how its value is written."""
    head, _, rest = path.partition("[")
    key, _, field = rest.rpartition("]")
    field = field.lstrip(".")
    if head == "pipeline_loops":
        return f"loop {key} {_LOOP_WORDS.get(field, field)}", field
    if head == "shared_buffers":
        return (f"{key} at", "offset") if field == "offset_bytes" else (key, "shape")
    if head == "sync_totals":
        return f"{key} {'sites' if field == 'static' else 'executed'}", field
    if head == "sync_ops":
        return f"{key.partition(']')[0]} <pending>", field
    if head == "barriers":
        return f"{key} arrivals", field
    if head == "launch.tma_descriptors":
        return f"TMA descriptor of {key}", field
    if path == "warp_specialization":
        return "warp specialisation, threads", field
    last = path.rpartition(".")[2]
    words = {
        "total_bytes": "shared memory", "block": "threads", "params": "parameters",
        "cluster": "cluster",
    }  # fmt: skip
    return words.get(last, last), last
