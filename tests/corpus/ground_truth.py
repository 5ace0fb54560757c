"""How is the independent ground truth read, and what does a variant's result say against it?

`ground_truth.csv` was measured apart from this project.  Columns are compared with facts one by
one; an empty cell or ``?`` says that the truth is not known there and is not compared.
"""

from __future__ import annotations

import ast
import csv
import json
import math
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
KERNELS = HERE / "kernels"

ERROR_TEXT_IS_CUT = {
    ("k20_explicit_schedule", "inverted"): "the table holds the tail of the message, which quotes "
    "the statement; the message starts with the check that failed"
}
"""Rows whose error column is held to be wrong, with the reason.  Their outcome is compared."""

TOTALS = {
    "sync_static": ("syncthreads", "static"),
    "sync_dynamic": ("syncthreads", "dynamic"),
    "partial_sync": ("partial_barrier", "static"),
    "cp_async_sites": ("cp_async_copy", "static"),
    "cp_async_dyn": ("cp_async_copy", "dynamic"),
    "commit_static": ("cp_async_commit", "static"),
    "commit_dyn": ("cp_async_commit", "dynamic"),
    "tma_load": ("tma_load", "static"),
    "bar_wait": ("mbarrier_wait", "static"),
    "bar_init": ("mbarrier_init", "static"),
    "wgmma": ("wgmma", "static"),
    "mma_sync": ("mma_sync", "static"),
    "fence_proxy": ("fence_proxy_async", "static"),
}
"""Column → op and count of `Facts.sync_totals`."""


@dataclass(frozen=True)
class Case:
    """One kernel of the corpus and the rows that tell its truth."""

    file: str
    entry: str
    arch: str
    rows: tuple[dict[str, str], ...]

    @property
    def key(self):
        return f"{self.file}-{self.entry}-{self.arch}"

    @property
    def depths(self):
        return tuple(int(row["num_stages"]) for row in self.rows)


def read_cases():
    """All kernels of the table by arch, in its order."""
    grouped = {}
    with (HERE / "ground_truth.csv").open(newline="") as stream:
        for row in csv.DictReader(stream):
            grouped.setdefault((row["file"], row["fn"], row["arch"]), []).append(row)
    return [Case(*key, tuple(rows)) for key, rows in grouped.items()]


def read_entry(case):
    """The kernel's function, arguments, stage parameter and pass configs."""
    return json.loads((HERE / "cases.json").read_text())[case.file][case.entry]


def disagreements(case, row, result):
    """What of one row the result contradicts: ``(column, truth, ours)`` each."""
    if row["ok"] != "1":
        return _failure_disagreements(case, row, result)
    if result.facts is None:
        return [("ok", "1", result.failure.message)]
    facts = result.facts
    truth = {
        "versions": _versions(row),
        "barrier_ring": {k: sum(v) for k, v in _literal(row["barrier_ring"], {}).items()},
        "dyn_smem": _literal(row["dyn_smem"], None),
        "threads": _literal(row["threads"], None),
        "waits": _literal(row["waits"], {}),
        "smem_alias": dict(_literal(row["smem_alias"], [])),
        "plan_stage": [plan for plan in _literal(row["plan_stage"], []) if plan],
        "plan_order": [plan for plan in _literal(row["plan_order"], []) if plan],
    }
    ours = {
        "versions": {buffer.name: buffer.num_versions for buffer in facts.shared_buffers},
        "barrier_ring": _ring(facts),
        "dyn_smem": facts.launch.dynamic_smem_bytes,
        "threads": [math.prod(facts.launch.block)],
        "waits": _waits(facts),
        "smem_alias": {
            buffer.name: buffer.offset_bytes
            for buffer in facts.shared_buffers
            if buffer.name in truth["smem_alias"]
        },
        "plan_stage": _plans(facts, "stage"),
        "plan_order": _plans(facts, "order"),
    }
    found = [(name, want, ours[name]) for name, want in truth.items() if want != ours[name]]
    for column, (op, count) in TOTALS.items():
        if row[column] not in ("", "?", "None"):
            total = facts.sync_totals.get(op)
            got = getattr(total, count) if total else 0
            if got != int(row[column]):
                found.append((column, row[column], got))
    return found


def _failure_disagreements(case, row, result):
    if result.facts is not None:
        return [("ok", "0", "lowered")]
    if (case.file, case.entry) in ERROR_TEXT_IS_CUT:
        return []
    told = " ".join(row["error"].split())[:80]
    if not " ".join(result.failure.message.split()).startswith(told):
        return [("error", told, result.failure.message)]
    return []


def _literal(text, empty):
    return ast.literal_eval(text) if text else empty


def _versions(row):
    """A plain number, or ``('?', allocated shape, declared shape)`` where it was unsure."""
    found = {}
    for name, value in _literal(row["versions"], {}).items():
        if isinstance(value, tuple):
            _, allocated, declared = value
            found[name] = math.prod(allocated[: len(allocated) - len(declared)])
        else:
            found[name] = value
    return found


def _ring(facts):
    sizes = {}
    for barrier in facts.barriers:
        sizes[barrier.name] = sizes.get(barrier.name, 0) + barrier.count
    return sizes


def _waits(facts):
    found = {}
    for op in facts.sync_ops:
        if op.op == "cp_async_wait":
            name = f"cp_async_wait<{op.args['max_pending']}>"
            found[name] = found.get(name, 0) + 1
    return found


def _plans(facts, field):
    return [
        [getattr(statement, field) for statement in loop.statements]
        for loop in facts.pipeline_loops
        if loop.scheduled_by == "software_pipeline"
    ]
