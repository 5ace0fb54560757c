"""Which dumps do these tests read?  Run this to record them again after a change of facts.

``python tests/diffing/passes/record_dumps.py`` writes ``tests/diffing/data/gemm`` (the built-in
GEMM), ``renamed.gemm`` (the same with its tensor B called X) and ``moved.gemm`` (the same two lines
further down in its file).  Needs TileLang.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import stagebench.kernels.gemm as builtin

DATA = Path(__file__).parent.parent / "data"
DEPTHS = {"sm_80": (0, 1, 2, 3), "sm_90a": (0, 1, 2, 3), "sm_100a": (2,)}


def sweep(kernel: str, arch: str, depths: tuple[int, ...], folder: Path) -> None:
    """Lower one kernel on one architecture; its run list and times are not kept."""
    command = [sys.executable, "-m", "stagebench", "sweep", kernel, "--arch", arch]
    command += ["--num-stages", *map(str, depths), "--dump-dir", str(folder)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    for name in ("run.json", "seconds.json"):
        (folder / name).unlink()


def main() -> None:
    """Record everything."""
    for arch, depths in DEPTHS.items():
        sweep("gemm", arch, depths, DATA)
    source = Path(builtin.__file__).read_text()
    copies = {
        "renamed": re.sub(r"\bB_shared\b", "X_shared", re.sub(r"\bB([:\[])", r"X\1", source)),
        "moved": "\n\n" + source,
    }
    with tempfile.TemporaryDirectory() as scratch:
        for name, text in copies.items():
            path = Path(scratch) / f"{name}.py"
            path.write_text(text)
            for arch in ("sm_80", "sm_90a"):
                sweep(f"{path}:gemm", arch, (2,), DATA)


if __name__ == "__main__":
    main()
