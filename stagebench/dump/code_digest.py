"""Which code of ours made a stored result?  When it changes, old results don't count."""

from __future__ import annotations

from functools import cache
from hashlib import blake2b
from pathlib import Path

import stagebench


@cache
def code_digest(*packages: str) -> str:
    """A digest of the sources of some of our packages: their paths and their bytes."""
    root = Path(stagebench.__file__).parent
    digest = blake2b(digest_size=16)
    for package in packages:
        for path in sorted((root / package).rglob("*.py")):
            digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
