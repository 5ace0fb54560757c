"""What is in a dump, as files?

=====================  ==============================================================
``variant.json``       identity, outcome, and the failure where there is one
``facts.json``         the facts, but for the two that have files of their own
``launch.json``        how to launch the kernel
``passes.json``        every pass run: its name, whether it changed the IR, the snapshot
``kernel.cu``          the generated CUDA, without line directives
``snapshots.txt.zst``  the IR after each pass, distinct texts only (`stagebench.dump.snapshots`)
=====================  ==============================================================

A failed variant has ``variant.json`` alone.  Nothing in a dump holds a time, a path, a host or a
process; same input, same bytes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from stagebench.dump import snapshots
from stagebench.errors import DumpError
from stagebench.model import (
    SCHEMA_VERSION,
    Facts,
    Failure,
    Launch,
    PassRun,
    Record,
    Variant,
    VariantResult,
)
from stagebench.model.codec import decode, encode_pretty

VARIANT, FACTS, LAUNCH, PASSES = "variant.json", "facts.json", "launch.json", "passes.json"
CUDA, SNAPSHOTS = "kernel.cu", "snapshots.txt.zst"

_File = TypeVar("_File", bound=Record)


class VariantFile(Record, frozen=True, kw_only=True):
    """``variant.json``."""

    schema_version: Literal[1] = SCHEMA_VERSION
    variant: Variant
    outcome: Literal["lowered", "failed"]
    failure: Failure | None


class LaunchFile(Record, frozen=True, kw_only=True):
    """``launch.json``."""

    schema_version: Literal[1] = SCHEMA_VERSION
    launch: Launch


class PassesFile(Record, frozen=True, kw_only=True):
    """``passes.json``."""

    schema_version: Literal[1] = SCHEMA_VERSION
    passes: tuple[PassRun, ...]


class Dump(Record, frozen=True, kw_only=True):
    """A dump as it was read; ``folder`` is where from."""

    folder: str
    result: VariantResult
    kernel_cu: str | None

    def snapshots(self) -> dict[str, str]:
        """The IR texts by digest (read now: they are large and seldom needed)."""
        path = Path(self.folder) / SNAPSHOTS
        try:
            return snapshots.unpack(path.read_bytes())
        except OSError as exc:
            raise DumpError(f"{path}: {exc.strerror}") from exc


def dump_files(
    result: VariantResult, kernel_cu: str | None, snapshot_frame: bytes | None
) -> dict[str, bytes]:
    """The files of a variant's dump by name."""
    files = {
        VARIANT: encode_pretty(
            VariantFile(variant=result.variant, outcome=result.outcome, failure=result.failure)
        )
    }
    facts = result.facts
    if facts is None:
        return files
    rest = msgspec.to_builtins(facts)
    rest.pop("launch")
    rest["lowering"].pop("passes")
    files[FACTS] = encode_pretty({"schema_version": SCHEMA_VERSION, **rest})
    files[LAUNCH] = encode_pretty(LaunchFile(launch=facts.launch))
    files[PASSES] = encode_pretty(PassesFile(passes=facts.lowering.passes))
    files[CUDA] = (kernel_cu or "").encode()
    files[SNAPSHOTS] = snapshot_frame or snapshots.pack({})
    return files


def read_dump(folder: Path) -> Dump:
    """Read a dump folder; `DumpError` names the file and field where it is not one."""
    head = _read(folder, VARIANT, VariantFile)
    facts: Facts | None = None
    kernel_cu: str | None = None
    if head.outcome == "lowered":
        facts = _read_facts(folder)
        kernel_cu = _bytes(folder, CUDA).decode()
    result = VariantResult(
        variant=head.variant, outcome=head.outcome, failure=head.failure, facts=facts
    )
    return Dump(folder=str(folder), result=result, kernel_cu=kernel_cu)


def _read_facts(folder: Path) -> Facts:
    path = folder / FACTS
    loose = decode(_bytes(folder, FACTS), dict, str(path))
    version = loose.pop("schema_version", None)
    if version != SCHEMA_VERSION:
        raise DumpError(f"{path}: schema version {version}, this stagebench reads {SCHEMA_VERSION}")
    loose["launch"] = msgspec.to_builtins(_read(folder, LAUNCH, LaunchFile).launch)
    passes = _read(folder, PASSES, PassesFile).passes
    lowering = loose.get("lowering")
    if isinstance(lowering, dict):
        lowering["passes"] = msgspec.to_builtins(passes)
    try:
        return msgspec.convert(loose, Facts, strict=True)
    except msgspec.ValidationError as exc:
        raise DumpError(f"{path}: {exc}") from exc


def _bytes(folder: Path, name: str) -> bytes:
    path = folder / name
    try:
        return path.read_bytes()
    except FileNotFoundError as exc:
        if not folder.is_dir():
            raise DumpError(f"no dump at {folder}", hint="`stagebench sweep` writes them") from exc
        raise DumpError(
            f"{folder} is not a whole dump: {name} is missing",
            hint="name a folder that holds variant.json, or lower the variant again",
        ) from exc
    except OSError as exc:
        raise DumpError(f"{path}: {exc.strerror}") from exc


def _read(folder: Path, name: str, kind: type[_File]) -> _File:
    return decode(_bytes(folder, name), kind, str(folder / name))
