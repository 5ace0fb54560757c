"""What is in a dump, as files?

=====================  ==============================================================
``variant.json``       identity, outcome, and the failure where there is one
``facts.json``         the facts, but for the two that have files of their own
``launch.json``        how to launch the kernel
``passes.json``        every pass run: its name, whether it changed the IR, the snapshot
``kernel.cu``          the generated CUDA, without line directives
``snapshots.txt.zst``  the IR after each pass, distinct texts only (`stagebench.dump.snapshots`)
``machine.json``       facts of the machine code, where it was assembled
``kernel.ptx``         the PTX that was assembled
``kernel.sass``        the machine code as the disassembler writes it
``kernel.cubin``       the machine code itself
=====================  ==============================================================

A failed variant has ``variant.json`` alone.  Nothing in a dump holds a time, a path, a host or a
process; same input, same bytes.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal, TypeVar, get_args

from stagebench.dump import snapshots
from stagebench.dump.place import VARIANT
from stagebench.errors import DumpError, UsageError
from stagebench.model import (
    SCHEMA_VERSION,
    Barrier,
    Diagnostic,
    Facts,
    Failure,
    Launch,
    LoweringCost,
    MachineCode,
    PassRun,
    PipelineLoop,
    Record,
    SharedBuffer,
    SharedMemory,
    SyncOp,
    SyncTotal,
    Variant,
    VariantResult,
)
from stagebench.model.codec import decode, encode_pretty

FACTS, LAUNCH, PASSES = "facts.json", "launch.json", "passes.json"
CUDA, SNAPSHOTS = "kernel.cu", "snapshots.txt.zst"
MACHINE, PTX, SASS, CUBIN = "machine.json", "kernel.ptx", "kernel.sass", "kernel.cubin"

Script = Literal["before", "after", "cuda"]
"""A text of a variant: its module before the passes and after them, and the CUDA made of it."""

_File = TypeVar("_File", bound=Record)


class VariantFile(Record, frozen=True, kw_only=True):
    """``variant.json``."""

    schema_version: Literal[1]
    variant: Variant
    outcome: Literal["lowered", "failed"]
    failure: Failure | None


class LaunchFile(Record, frozen=True, kw_only=True):
    """``launch.json``."""

    schema_version: Literal[1]
    launch: Launch


class PassesFile(Record, frozen=True, kw_only=True):
    """``passes.json``."""

    schema_version: Literal[1]
    passes: tuple[PassRun, ...]


class MachineFile(Record, frozen=True, kw_only=True):
    """``machine.json``."""

    schema_version: Literal[1]
    machine: MachineCode


class LoweringFile(Record, frozen=True, kw_only=True):
    """`LoweringCost` without its passes, which have a file of their own."""

    seconds: float | None


class FactsFile(Record, frozen=True, kw_only=True):
    """``facts.json``: `Facts` in its order, without what has a file of its own.

    ``machine`` is always ``null`` here: ``machine.json`` has it, where there is one.
    """

    schema_version: Literal[1]
    pipeline_loops: tuple[PipelineLoop, ...]
    shared_buffers: tuple[SharedBuffer, ...]
    shared_memory: SharedMemory
    barriers: tuple[Barrier, ...]
    sync_ops: tuple[SyncOp, ...]
    sync_totals: dict[str, SyncTotal]
    machine: None
    diagnostics: tuple[Diagnostic, ...]
    lowering: LoweringFile


_SAME = tuple(
    name
    for name in FactsFile.__struct_fields__
    if name not in ("schema_version", "machine", "lowering")
)
"""The fields that `FactsFile` and `Facts` share as they are."""


class Assembly(Record, frozen=True, kw_only=True):
    """What was assembled from the generated CUDA, as files."""

    ptx: str
    sass: str
    cubin: bytes


class Dump(Record, frozen=True, kw_only=True):
    """A dump as it was read; ``folder`` is where from."""

    folder: str
    result: VariantResult
    kernel_cu: str | None

    def assembly(self) -> Assembly | None:
        """The PTX, SASS and cubin that were made with it; ``None`` where it was not assembled."""
        folder = Path(self.folder)
        if not (folder / CUBIN).exists():
            return None
        return Assembly(
            ptx=_text(folder, PTX), sass=_text(folder, SASS), cubin=_bytes(folder, CUBIN)
        )

    def script(self, which: Script) -> str:
        """The module as its author wrote it, as code is generated from it, or the generated CUDA.

        Raises `DumpError` where the variant failed before there was one, or no snapshots were kept.
        """
        if which not in get_args(Script):
            raise UsageError(
                f"script({which!r}): there is no such text",
                hint=f"one of {', '.join(map(repr, get_args(Script)))}",
            )
        if which == "cuda":
            if self.kernel_cu is None:
                raise DumpError(
                    f"{self.folder}: this variant failed: it has no CUDA",
                    hint=f"`stagebench explain {self.folder}` says why",
                )
            return self.kernel_cu
        if not (Path(self.folder) / SNAPSHOTS).is_file():
            raise DumpError(
                f"{self.folder} holds no pass snapshots",
                hint="baselines keep none: `stagebench sweep … --dump-dir DIR` writes them",
            )
        texts = self.snapshots()
        found = next(iter(texts.values()), None) if which == "before" else self._last(texts)
        if found is None:
            raise DumpError(
                f"{self.folder}: there is no script {which} the passes",
                hint=f"`stagebench explain {self.folder}` says how far it came",
            )
        return found

    def _last(self, texts: dict[str, str]) -> str | None:
        """What the last pass left that holds the device function: the host's may run after it."""
        facts = self.result.facts
        if facts is None:
            return None
        named = f"    def {facts.launch.function}("
        left = [texts.get(run.snapshot or "") for run in reversed(facts.lowering.passes)]
        return next((text for text in left if text is not None and named in text), None)

    def snapshots(self) -> dict[str, str]:
        """The IR texts by digest (read now: they are large and seldom needed)."""
        path = Path(self.folder) / SNAPSHOTS
        try:
            return snapshots.unpack(path.read_bytes())
        except OSError as exc:
            raise DumpError(f"{path}: {exc.strerror}") from exc
        except DumpError as exc:
            raise DumpError(f"{path}: {exc.message}", hint=exc.hint) from exc


def dump_files(
    result: VariantResult,
    kernel_cu: str | None,
    snapshot_frame: bytes | None,
    assembly: Assembly | None = None,
) -> dict[str, bytes]:
    """The files of a variant's dump by name."""
    files = {
        VARIANT: encode_pretty(
            VariantFile(
                schema_version=SCHEMA_VERSION,
                variant=result.variant,
                outcome=result.outcome,
                failure=result.failure,
            )
        )
    }
    facts = result.facts
    if facts is None:
        return files
    files[FACTS] = encode_pretty(
        FactsFile(
            schema_version=SCHEMA_VERSION,
            machine=None,
            lowering=LoweringFile(seconds=facts.lowering.seconds),
            **{name: getattr(facts, name) for name in _SAME},
        )
    )
    files[LAUNCH] = encode_pretty(LaunchFile(schema_version=SCHEMA_VERSION, launch=facts.launch))
    files[PASSES] = encode_pretty(
        PassesFile(schema_version=SCHEMA_VERSION, passes=facts.lowering.passes)
    )
    files[CUDA] = (kernel_cu or "").encode()
    files[SNAPSHOTS] = snapshot_frame or snapshots.pack({})
    if facts.machine is not None:
        files[MACHINE] = encode_pretty(
            MachineFile(schema_version=SCHEMA_VERSION, machine=facts.machine)
        )
    if assembly is not None:
        files[PTX] = assembly.ptx.encode()
        files[SASS] = assembly.sass.encode()
        files[CUBIN] = assembly.cubin
    return files


def read_dump(folder: str | os.PathLike[str]) -> Dump:
    """Read a dump folder; `DumpError` names the file and field where it is not one."""
    folder = Path(folder)
    head = read_variant(folder)
    if (head.outcome == "failed") == (head.failure is None):
        raise DumpError(f"{folder / VARIANT}: outcome and failure contradict each other")
    facts: Facts | None = None
    kernel_cu: str | None = None
    if head.outcome == "lowered":
        facts = _read_facts(folder)
        kernel_cu = _text(folder, CUDA)
    result = VariantResult(
        variant=head.variant, outcome=head.outcome, failure=head.failure, facts=facts
    )
    return Dump(folder=str(folder), result=result, kernel_cu=kernel_cu)


def read_variant(folder: Path) -> VariantFile:
    """Read whose dump lies in a folder, and how it went; `DumpError` where none does."""
    return _read(folder, VARIANT, VariantFile)


def _read_facts(folder: Path) -> Facts:
    head = _read(folder, FACTS, FactsFile)
    passes = _read(folder, PASSES, PassesFile).passes
    return Facts(
        launch=_read(folder, LAUNCH, LaunchFile).launch,
        machine=_read(folder, MACHINE, MachineFile).machine
        if (folder / MACHINE).exists()
        else None,
        lowering=LoweringCost(seconds=head.lowering.seconds, passes=passes),
        **{name: getattr(head, name) for name in _SAME},
    )


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


def _text(folder: Path, name: str) -> str:
    try:
        return _bytes(folder, name).decode()
    except UnicodeDecodeError as exc:
        raise DumpError(f"{folder / name}: {exc}") from exc


def _read(folder: Path, name: str, kind: type[_File]) -> _File:
    return decode(_bytes(folder, name), kind, str(folder / name))
