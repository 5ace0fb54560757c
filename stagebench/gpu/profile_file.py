"""What did an earlier run on a device leave on disk?"""

from __future__ import annotations

from pathlib import Path

from stagebench.errors import DumpError
from stagebench.gpu.records import PROFILE, Profile
from stagebench.model.codec import decode


def read_profile(folder: Path) -> Profile:
    """Read ``profile.json`` of a folder; `DumpError` where there is none, or it is damaged."""
    path = folder / PROFILE
    try:
        data = path.read_bytes()
    except OSError as exc:
        raise DumpError(f"{path}: {exc.strerror}", hint="`stagebench profile` writes it") from exc
    return decode(data, Profile, str(path))
