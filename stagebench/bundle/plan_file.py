"""How is a launch plan read?  TOML or JSON, strictly: a message names the file and the field."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from stagebench.bundle.plan_records import Plan, PlanArgument, PlanDescriptor, PlanTensor
from stagebench.bundle.plan_values import SOURCES, problems
from stagebench.bundle.records import BUNDLE
from stagebench.dump.place import RUN
from stagebench.errors import UsageError

SUFFIXES = (".toml", ".json")
_NEW = "`stagebench new plan SOURCE` writes one to start from"
_VALUES = {"role": "input, output or inout", "kind": "tiled or im2col"}
_SAID = {"dynamic_smem_bytes": " (0 where there is no extern __shared__)"}
_MISSING = re.compile(r"missing required field `(\w+)`")
_UNKNOWN = re.compile(r"unknown field `(\w+)`(?: - at `\$?\.?(.*)`)?")


def is_plan(text: str) -> bool:
    """Does this argument name a launch plan, and no run or bundle?"""
    path = Path(text)
    known = path.suffix in SUFFIXES and path.name not in (BUNDLE, RUN)
    return known and not path.is_dir()


def plans_among(texts: Sequence[str]) -> list[Path]:
    """The launch plans of some arguments."""
    refuse_sources(texts)
    return [Path(text) for text in texts if is_plan(text)]


def refuse_sources(texts: Sequence[str]) -> None:
    """Raise `UsageError` for a source in the place of its plan."""
    for text in texts:
        if Path(text).suffix in SOURCES:
            raise UsageError(
                f"{text} is a source: a launch plan says how it is launched",
                hint=f"stagebench new plan {text}",
            )


def read_plan(path: Path) -> Plan:
    """Read and check a plan; `UsageError` names the file, the field and the next step."""
    try:
        data = path.read_bytes()
    except OSError as exc:
        raise UsageError(f"no launch plan {path}: {exc.strerror}", hint=_NEW) from exc
    decode = msgspec.toml.decode if path.suffix == ".toml" else msgspec.json.decode
    try:
        plan = decode(data, type=Plan)
    except msgspec.ValidationError as exc:
        raise UsageError(f"{path}: {exc}", hint=_near(str(exc))) from exc
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError, RecursionError) as exc:
        kind = path.suffix[1:].upper()
        raise UsageError(f"{path} is no {kind}: {exc}", hint=_NEW) from exc
    for problem, hint in problems(plan, path.parent):
        raise UsageError(f"{path}: {problem}", hint=hint)
    return plan


def _near(message: str) -> str | None:
    """The field that a misspelt one was meant to be."""
    for field, values in _VALUES.items():
        if message.startswith("Invalid enum value") and f".{field}`" in message:
            return values
    found = _UNKNOWN.search(message)
    missing = _MISSING.search(message)
    if missing is not None:
        return f"it needs {missing[1]} = …{_SAID.get(missing[1], '')}"
    if found is None:
        return _NEW
    kinds = {"arguments": PlanArgument, "tensors": PlanTensor, "descriptor": PlanDescriptor}
    fields = Plan.__struct_fields__
    for name, record in kinds.items():
        if name in (found[2] or ""):
            fields = record.__struct_fields__
    near = difflib.get_close_matches(found[1], fields, n=1)
    return f"did you mean {near[0]}?" if near else f"the fields are {', '.join(fields)}"
