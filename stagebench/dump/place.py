"""Is there anything at the place that ``DUMP`` or ``RUN[…]`` names?  Asked before much is imported.

What is there, and which variants of it are meant, is `stagebench.dump.select`'s to say.
"""

from __future__ import annotations

from pathlib import Path

from stagebench.errors import DumpError

RUN = "run.json"
"""Lists the dumps of a run; the folder of one is its run."""
VARIANT = "variant.json"
"""What every dump has."""
_PLANS = (".toml", ".json")


def check_place(text: str) -> None:
    """Raise `DumpError` where nothing is; a launch plan's own reader says more, if it is one."""
    if Path(text).exists() or Path(text).suffix in _PLANS:
        return
    folder, bracket, _ = text.partition("[")
    if bracket and (not text.endswith("]") or Path(folder or ".").exists()):
        return
    raise DumpError(f"no dump at {folder}", hint="`stagebench sweep` writes them")
