"""How is an option read that names a file or a folder?  An empty one names none.

As a path it would be the current folder, which nobody means who wrote ``-o "$OUT"``.
"""

from __future__ import annotations

import argparse
from pathlib import Path


def not_empty(text: str) -> str:
    """The name as it is."""
    if not text.strip():
        raise argparse.ArgumentTypeError("an empty name (the current folder is .)")
    return text


def a_path(text: str) -> Path:
    """A path."""
    return Path(not_empty(text))
