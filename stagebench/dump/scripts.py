"""What did the compiler start from and what did it end with?  The texts of one dump, whole.

Handles every compiler's dumps.  Does not handle: the texts between (`stagebench passes`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from stagebench.dump.files import SNAPSHOTS, Dump
from stagebench.errors import DumpError

Which = Literal["before", "after", "cuda"]


def script(dump: Dump, which: Which) -> str:
    """The module as its author wrote it, as code is generated from it, or the generated CUDA.

    Raises `DumpError` where the variant failed before there was one, or no snapshots were kept.
    """
    if which == "cuda":
        if dump.kernel_cu is None:
            raise DumpError(
                f"{dump.folder}: this variant failed: it has no CUDA",
                hint=f"`stagebench explain {dump.folder}` says why",
            )
        return dump.kernel_cu
    if not (Path(dump.folder) / SNAPSHOTS).is_file():
        raise DumpError(
            f"{dump.folder} holds no pass snapshots",
            hint="baselines keep none: `stagebench sweep … --dump-dir DIR` writes them",
        )
    texts = dump.snapshots()
    found = next(iter(texts.values()), None) if which == "before" else _last(dump, texts)
    if found is None:
        raise DumpError(
            f"{dump.folder}: there is no script {which} the passes",
            hint=f"`stagebench explain {dump.folder}` says how far it came",
        )
    return found


def _last(dump: Dump, texts: dict[str, str]) -> str | None:
    """What the last pass left that holds the device function: the host's may run after it."""
    facts = dump.result.facts
    if facts is None:
        return None
    named = f"    def {facts.launch.function}("
    left = [texts.get(run.snapshot or "") for run in reversed(facts.lowering.passes)]
    return next((text for text in left if text is not None and named in text), None)
