"""Which dumps does the user mean by ``DUMP`` or ``RUN[num_stages=2,arch=sm_90a]``?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from stagebench.dump.directory import read_run
from stagebench.dump.files import VARIANT, Dump, read_dump
from stagebench.errors import DumpError, UsageError
from stagebench.model import Variant


def select_dumps(text: str) -> tuple[Dump, ...]:
    """All dumps that a folder or a selector names; `DumpError` where it names none."""
    folder, conditions = _parse(text)
    if (folder / VARIANT).is_file():
        dumps: tuple[Dump, ...] = (read_dump(folder),)
    elif folder.is_dir():
        dumps = read_run(folder)
    else:
        raise DumpError(f"no dump at {folder}", hint="`stagebench sweep` writes them")
    found = tuple(dump for dump in dumps if _matches(dump.result.variant, conditions))
    if not found:
        raise DumpError(
            f"no variant of {folder} has {', '.join(f'{k}={v}' for k, v in conditions)}",
            hint="it has " + "; ".join(_describe(dump.result.variant) for dump in dumps[:6]),
        )
    return found


def select_dump(text: str) -> Dump:
    """The one dump that is named; `UsageError` where it is several, with what tells them apart."""
    found = select_dumps(text)
    if len(found) > 1:
        raise UsageError(
            f"{text} names {len(found)} variants",
            hint="name one: " + "; ".join(_describe(dump.result.variant) for dump in found[:6]),
        )
    return found[0]


def _parse(text: str) -> tuple[Path, tuple[tuple[str, str], ...]]:
    if not text.endswith("]") or Path(text).exists():
        return Path(text), ()
    folder, _, inside = text[:-1].rpartition("[")
    conditions = []
    for part in inside.split(","):
        name, equals, value = part.partition("=")
        if not equals:
            raise UsageError(f"{text}: {part!r} is not NAME=VALUE")
        conditions.append((name.strip(), value.strip()))
    return Path(folder or "."), tuple(conditions)


def _matches(variant: Variant, conditions: Sequence[tuple[str, str]]) -> bool:
    return all(_value(variant, name) == value for name, value in conditions)


def _value(variant: Variant, name: str) -> str | None:
    if name in ("arch", "kernel"):
        return str(getattr(variant, name))
    if name == "compiler":
        return f"{variant.compiler.name}=={variant.compiler.version}"
    if name == variant.stage_param:
        name = "num_stages"
    for values in (variant.params, variant.pass_configs):
        if name in values:
            value = values[name]
            return str(value).lower() if isinstance(value, bool) else str(value)
    return None


def _describe(variant: Variant) -> str:
    return f"arch={variant.arch},num_stages={variant.num_stages}"
