"""What would another compiler have made the baselines?  Written nowhere but a folder of its own.

`stagebench check --against-compiler` lowers the same variants with a second compiler and lets the
gate judge against these: what did the upgrade change in my kernels?
"""

from __future__ import annotations

from pathlib import Path

from stagebench.dump.atomic_file import write_folder
from stagebench.dump.files import dump_files
from stagebench.gate.baselines import BaselineSet, read_baselines
from stagebench.lowering.lower import Lowering
from stagebench.model import Compiler


def baselines_of(
    named: list[tuple[str, Lowering]], compiler: Compiler, folder: Path
) -> BaselineSet:
    """The variants as baselines; ``folder`` is there for as long as they are looked at."""
    for name, lowering in named:
        files = dump_files(lowering.result, lowering.kernel_cu, lowering.snapshots)
        write_folder(folder / name, files)
    said = f"{compiler.name} {compiler.version}"
    told = f"what {said} makes of them"
    return read_baselines(folder, shown=said, said=told, accepted=False)
