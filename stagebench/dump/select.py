"""Which dumps does the user mean by ``DUMP`` or ``RUN[num_stages=2,arch=sm_90a]``?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from stagebench.dump.directory import read_run
from stagebench.dump.files import Dump, read_dump
from stagebench.dump.place import VARIANT
from stagebench.errors import DumpError, UsageError
from stagebench.model import Variant

_SHOWN = 6


def select_dumps(text: str) -> tuple[Dump, ...]:
    """All dumps that a folder or a selector names; `DumpError` where it names none."""
    folder, conditions = _parse(text)
    if (folder / VARIANT).is_file():
        dumps: tuple[Dump, ...] = (read_dump(folder),)
    elif folder.is_dir():
        dumps = read_run(folder)
    else:
        before, bracket, _ = text.rpartition("[")
        if bracket and not text.endswith("]") and Path(before or ".").is_dir():
            raise UsageError(f"{text}: the selector has no closing ]", hint=f"'{text}]'")
        raise DumpError(f"no dump at {folder}", hint="`stagebench sweep` writes them")
    if not dumps:
        raise DumpError(
            f"{folder} is a run without variants", hint="sweep again: `stagebench sweep` fills it"
        )
    found = tuple(dump for dump in dumps if _matches(dump.result.variant, conditions))
    if not found:
        raise DumpError(
            f"no variant of {folder} has {', '.join(f'{k}={v}' for k, v in conditions)}",
            hint="it has " + _tell_apart([dump.result.variant for dump in dumps]),
        )
    return found


def select_dump(text: str) -> Dump:
    """The one dump that is named; `UsageError` where it is several, with what tells them apart."""
    found = select_dumps(text)
    if len(found) > 1:
        raise UsageError(
            f"{text} names {len(found)} variants",
            hint="name one: " + _tell_apart([dump.result.variant for dump in found]),
        )
    return found[0]


def _parse(text: str) -> tuple[Path, tuple[tuple[str, str], ...]]:
    if not text.endswith("]") or Path(text).exists():
        return Path(text), ()
    folder, _, inside = text[:-1].rpartition("[")
    conditions = []
    for part in _split(inside):
        name, equals, value = part.partition("=")
        if not equals:
            raise UsageError(f"{text}: {part!r} is not NAME=VALUE")
        conditions.append((name.strip(), value.strip()))
    return Path(folder or "."), tuple(conditions)


def _split(text: str) -> list[str]:
    """Split at commas that are in no bracket: a tuple is one value."""
    parts, depth = [""], 0
    for char in text:
        depth += (char in "([") - (char in ")]")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return parts


def _matches(variant: Variant, conditions: Sequence[tuple[str, str]]) -> bool:
    return all(
        _said(_value(variant, name)) == _said(value)
        or (name == "compiler" and value in (variant.compiler.name, variant.compiler.version))
        for name, value in conditions
    )


def _said(value: str | None) -> str | None:
    """A value as it is compared: ``(64, 64)`` and ``(64,64)`` are the same."""
    return value if value is None else value.replace(" ", "")


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


def _tell_apart(variants: Sequence[Variant]) -> str:
    """Each of the first variants by the names whose values are not the same in all of them."""
    names = dict.fromkeys(
        name
        for variant in variants
        for name in (
            "kernel",
            "arch",
            "compiler",
            "num_stages",
            *variant.params,
            *variant.pass_configs,
        )
    )
    telling = [
        name for name in names if len({_value(variant, name) for variant in variants}) > 1
    ] or ["arch", "num_stages"]
    enough = next(
        (n for n in range(1, len(telling)) if _told_apart(variants, telling[:n])), len(telling)
    )
    return "; ".join(
        ",".join(f"{name}={_value(variant, name)}" for name in telling[:enough])
        for variant in variants[:_SHOWN]
    )


def _told_apart(variants: Sequence[Variant], names: Sequence[str]) -> bool:
    said = {tuple(_value(variant, name) for name in names) for variant in variants}
    return len(said) == len(variants)
