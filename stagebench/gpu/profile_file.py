"""What did an earlier run on a device leave on disk?"""

from __future__ import annotations

import contextlib
from pathlib import Path

from stagebench.dump.profiler_sidecar import sidecar_path
from stagebench.errors import DumpError
from stagebench.gpu.records import PROFILE, Profile
from stagebench.model.codec import decode

TIMINGS = "timings.json"
"""What was made of a profile, beside it (`stagebench.timing.measured`)."""


def read_profile(folder: Path) -> Profile:
    """Read ``profile.json`` of a folder; `DumpError` where there is none, or it is damaged."""
    path = folder / PROFILE
    try:
        data = path.read_bytes()
    except OSError as exc:
        raise DumpError(f"{path}: {exc.strerror}", hint="`stagebench profile` writes it") from exc
    return decode(data, Profile, str(path))


def clear_earlier(folder: Path) -> None:
    """Remove what an earlier profile left in ``folder``: nothing of it may pass for a later one's.

    Only files that its ``profile.json`` names; what else is there stays.
    """
    if not (folder / PROFILE).exists():
        return
    names = [PROFILE, TIMINGS]
    with contextlib.suppress(DumpError):
        for one in read_profile(folder).variants:
            names += [name for name in (one.probe_file, one.probe_metadata) if name is not None]
            names += one.outputs
            names += [str(sidecar_path(Path(name))) for name in one.outputs]
    for name in names:
        path = folder / name
        if path.resolve().is_relative_to(folder.resolve()):
            path.unlink(missing_ok=True)
