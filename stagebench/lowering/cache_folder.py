"""Where are results of earlier runs, and releases of compilers, kept?"""

from __future__ import annotations

import os
from pathlib import Path


def default_cache_folder() -> Path:
    """``STAGEBENCH_CACHE_DIR``, else ``stagebench`` in the user's cache folder (XDG)."""
    named = os.environ.get("STAGEBENCH_CACHE_DIR")
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "stagebench"
