"""The recorded dumps (`record_dumps.py`), and copies of them with one text changed."""

import shutil
from functools import lru_cache
from pathlib import Path

import msgspec

from stagebench.diff.pass_compare import compare_passes
from stagebench.dump.files import SNAPSHOTS, read_dump
from stagebench.dump.snapshots import pack

DATA = Path(__file__).parent.parent / "data"
GEMM = (
    *(("sm_80", depth) for depth in (0, 1, 2, 3)),
    *(("sm_90a", depth) for depth in (0, 1, 2, 3)),
    ("sm_100a", 2),
)


def folder(arch, depth, kernel="gemm"):
    return DATA / kernel / arch / f"num_stages={depth}"


@lru_cache
def dump(arch, depth, kernel="gemm"):
    return read_dump(folder(arch, depth, kernel))


def facts(arch, depth, kernel="gemm"):
    return dump(arch, depth, kernel).result.facts


@lru_cache
def compared(arch, left, right, right_kernel="gemm"):
    """Two recorded variants of one arch, compared once for all tests."""
    return compare_passes(dump(arch, left), dump(arch, right, right_kernel))


def edited(tmp_path, original, pass_name, edit, number=1):
    """A copy of a dump in which a pass, and all that come after it, left other texts.

    ``edit`` takes a text and returns it changed; texts before that pass stay as they were.
    """
    place = Path(shutil.copytree(original.folder, tmp_path / "edited"))
    texts = original.snapshots()
    runs = original.result.facts.lowering.passes
    named = [index for index, run in enumerate(runs) if run.name == pass_name]
    start = named[number - 1]
    renamed = {}
    for run in runs[start:]:
        if run.snapshot is not None and run.depth == 0:
            renamed.setdefault(run.snapshot, "e" + run.snapshot[1:])
    for old, new in renamed.items():
        texts[new] = edit(texts[old])
    (place / SNAPSHOTS).write_bytes(pack(texts))
    changed = read_dump(place)
    new_runs = tuple(
        msgspec.structs.replace(
            run,
            snapshot=renamed.get(run.snapshot, run.snapshot) if index >= start else run.snapshot,
            changed=run.changed or index == start,
        )
        for index, run in enumerate(runs)
    )
    old = changed.result.facts
    lowering = msgspec.structs.replace(old.lowering, passes=new_runs)
    result = msgspec.structs.replace(
        changed.result, facts=msgspec.structs.replace(old, lowering=lowering)
    )
    return msgspec.structs.replace(changed, result=result)
