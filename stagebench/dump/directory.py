"""How is a whole run kept: one folder per variant, a list of them, and the times apart?

``run.json`` lists the folders of the last run in the order of its axes; ``seconds.json`` holds its
wall times, the only file of a dump directory that differs from run to run.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Literal

from stagebench.dump.atomic_file import UNFINISHED, write_file, write_folder
from stagebench.dump.files import (
    Assembly,
    Dump,
    VariantFile,
    dump_files,
    read_dump,
    read_variant,
)
from stagebench.dump.folder_name import variant_folder
from stagebench.dump.place import RUN, VARIANT
from stagebench.errors import DumpError, UsageError
from stagebench.model import SCHEMA_VERSION, Record, Variant, VariantResult
from stagebench.model.codec import decode, encode_pretty

SECONDS = "seconds.json"


class RunFile(Record, frozen=True, kw_only=True):
    """``run.json``: the folders of the variants, relative to it, in the order of the axes."""

    schema_version: Literal[1]
    variants: tuple[str, ...]


class Timing(Record, frozen=True, kw_only=True):
    """Wall times of one variant's lowering, in seconds, as measured when it was lowered.

    ``lower`` is the compiler's time with ours in it, ``observe`` our part of it; ``pass_seconds``
    runs along the dump's passes (``None``: the pass never ended).
    """

    load: float
    lower: float
    observe: float
    facts: float
    pass_seconds: tuple[float | None, ...]


class SecondsFile(Record, frozen=True, kw_only=True):
    """``seconds.json``: times by variant folder."""

    schema_version: Literal[1]
    variants: dict[str, Timing]


class DumpDirectory:
    """A directory of dumps that is being written."""

    def __init__(self, root: Path, *, by_compiler: bool = False) -> None:
        self.root = root
        self._by_compiler = by_compiler

    def check_writable(self) -> None:
        """Fail before anything is lowered if nothing can be written here."""
        try:
            write_file(self.root / ".tmp-probe", b"")
            (self.root / ".tmp-probe").unlink()
        except OSError as exc:
            raise UsageError(
                f"can't write dumps to {self.root}: {exc.strerror}",
                hint="choose another --dump-dir, or --no-dumps",
            ) from exc

    def write(
        self,
        result: VariantResult,
        chosen: tuple[str, ...],
        kernel_cu: str | None,
        snapshot_frame: bytes | None,
        assembly: Assembly | None = None,
    ) -> str:
        """Write one variant's dump; returns its folder, relative to the directory."""
        folder = variant_folder(result.variant, chosen, by_compiler=self._by_compiler)
        files = dump_files(result, kernel_cu, snapshot_frame, assembly)
        write_folder(self.root / folder, files)
        return folder

    def discard(self, folder: str | Path) -> None:
        """Delete one variant's dump, by its folder relative to the directory."""
        shutil.rmtree(self.root / folder, ignore_errors=True)

    def finish(self, folders: tuple[str, ...], timings: dict[str, Timing]) -> None:
        """Write the list of variants and their times."""
        write_file(
            self.root / RUN, encode_pretty(RunFile(schema_version=SCHEMA_VERSION, variants=folders))
        )
        write_file(
            self.root / SECONDS,
            encode_pretty(SecondsFile(schema_version=SCHEMA_VERSION, variants=timings)),
        )
        self._discard_unseen({self.root / folder for folder in folders})

    def _discard_unseen(self, listed: set[Path]) -> None:
        """Delete dumps from when the kernel's file could not be imported, of what is listed now.

        Such a variant has the depth that was asked for, which the kernel may not have, and lacks
        what the kernel alone says.
        """
        for beside in {folder.parent for folder in listed}:
            for other in set(beside.iterdir()) - listed:
                unseen = _unseen_variant(other)
                named = (folder for folder in listed if folder.parent == beside)
                if unseen is not None and any(_may_be(unseen, read_variant(one)) for one in named):
                    self.discard(other.relative_to(self.root))


def _unseen_variant(folder: Path) -> Variant | None:
    """The variant of a dump whose kernel was never seen; ``None`` for any other dump or folder."""
    try:
        head = read_variant(folder)
    except DumpError:
        return None
    return head.variant if head.failure is not None and head.failure.before_the_kernel else None


def _may_be(unseen: Variant, found: VariantFile) -> bool:
    """Whether a variant is what became of one whose kernel had not been seen."""
    true = found.variant
    depths = {unseen.num_stages, true.num_stages}
    asked = {**unseen.params, **unseen.pass_configs}
    known = {**true.params, **true.pass_configs}
    return (
        unseen.compiler == true.compiler
        and (len(depths) == 1 or None in depths)
        and all(known.get(name) == value for name, value in asked.items() if name != "num_stages")
    )


def read_run(root: str | os.PathLike[str]) -> tuple[Dump, ...]:
    """All dumps of a directory: those that ``run.json`` lists, else every dump below it."""
    root = Path(root)
    listed = root / RUN
    if listed.is_file():
        names = decode(listed.read_bytes(), RunFile, str(listed)).variants
        return tuple(read_dump(root / name) for name in names)
    found = sorted(
        path.parent
        for path in root.rglob(VARIANT)
        if not any(part.startswith(UNFINISHED) for part in path.relative_to(root).parts)
    )
    if not found:
        raise DumpError(f"no dump in {root}", hint="`stagebench sweep` writes them")
    return tuple(read_dump(folder) for folder in found)


def read_timing(folder: str | Path) -> Timing | None:
    """The times of the dump in ``folder``, if it still lies in its dump directory."""
    dump = Path(folder).resolve()
    for root in dump.parents:
        path = root / SECONDS
        if path.is_file():
            times = decode(path.read_bytes(), SecondsFile, str(path)).variants
            return times.get(dump.relative_to(root).as_posix())
    return None
