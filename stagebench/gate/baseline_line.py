"""Which file and line of a baseline holds the fact that a path names?"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

import msgspec

from stagebench.dump.files import CUDA, FACTS, LAUNCH, MACHINE
from stagebench.dump.place import VARIANT
from stagebench.errors import StagebenchError
from stagebench.gate.fact_schema import CUDA_TEXT
from stagebench.gate.json_lines import Pointer, value_lines

_STEP = re.compile(r"\.?([^.\[\]]+)|\[((?:[^\[\]]|\[[^\[\]]*\])*)\]")
_NTH = re.compile(r"^(.*?) ?#(\d+)$", re.DOTALL)
_FILES = {"launch": LAUNCH, "machine": MACHINE}
_HEADS = ("variant", "outcome", "failure")


def find_line(folder: Path, path: str) -> tuple[str, int | None]:
    """The file's name in the baseline's folder and the 1-based line; the nearest that is there."""
    if path == CUDA_TEXT:
        return CUDA, None
    head = path.partition(".")[0].partition("[")[0]
    name = VARIANT if head in _HEADS else _FILES.get(head, FACTS)
    try:
        value, lines = _document(folder / name)
    except (OSError, ValueError, StagebenchError):
        return name, None
    pointer: Pointer = ()
    for field, key in _STEP.findall(path):
        if field and isinstance(value, list) and value:  # a column of records: the first of them
            pointer, value = (*pointer, 0), value[0]
        step, value = _step(value, field, key)
        if step is None:
            break
        pointer = (*pointer, step)
    while pointer and pointer not in lines:
        pointer = pointer[:-1]
    return name, lines.get(pointer)


@lru_cache(maxsize=8)
def _document(path: Path) -> tuple[object, dict[Pointer, int]]:
    text = path.read_bytes().decode()
    return msgspec.json.decode(text), value_lines(text)


def forget_documents() -> None:
    """Files may have changed: read them again."""
    _document.cache_clear()


def _step(value: object, field: str, key: str) -> tuple[str | int | None, object]:
    if isinstance(value, dict):
        name = field or key
        return (name, value[name]) if name in value else (None, None)
    if field or not isinstance(value, list):
        return None, None
    if key.isdigit():
        index = int(key)
        return (index, value[index]) if index < len(value) else (None, None)
    return _named(value, key)


def _named(items: list[object], key: str) -> tuple[int | None, object]:
    """The item of a list that is called so; ``#2`` is the second of that name."""
    numbered = _NTH.match(key)
    for wanted, nth in ((key, 1), (numbered[1], int(numbered[2])) if numbered else (key, 1)):
        seen = 0
        for index, item in enumerate(items):
            if isinstance(item, dict) and wanted in _names(item):
                seen += 1
                if seen == nth:
                    return index, item
    return None, None


def _names(item: dict[str, object]) -> tuple[str, ...]:
    """What `FactChange.path` may call a record."""
    if "op" in item:
        role = "" if item.get("role") == "all" else f" {item.get('role')}"
        section = f" {item['section']}" if item.get("section") else ""
        return (f"{item['op']}{role}{section}",)
    kind = f" {item.get('kind')}"
    return tuple(
        name
        for field in ("loop_var", "name", "code")
        if field in item
        for name in (str(item[field]), f"{item[field]}{kind}")
    )
