"""What did an earlier run on a device leave on disk?"""

from __future__ import annotations

import contextlib
from pathlib import Path

from stagebench.bundle.container import digest_of
from stagebench.dump.profiler_sidecar import sidecar_path
from stagebench.errors import DumpError
from stagebench.gpu.records import PROFILE, KeptFile, Profile, ProfiledVariant
from stagebench.model.codec import decode

_AGAIN = "profile it again"
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


def kept_file(folder: Path, name: str) -> KeptFile:
    """What tells a file of ``folder`` from every other; raises `OSError`."""
    data = (folder / name).read_bytes()
    return KeptFile(path=name, size_bytes=len(data), digest=digest_of(data))


def read_probes(folder: Path, one: ProfiledVariant) -> tuple[bytes, bytes] | None:
    """The variant's probe buffer and its metadata; ``None``: it has none.

    `DumpError` where a file is missing, or is not the one that was written.
    """
    if one.probe_file is None or one.probe_metadata is None:
        return None
    kept = {each.path: each for each in one.probe_kept}
    buffer, metadata = (
        _read_kept(folder / name, kept.get(name)) for name in (one.probe_file, one.probe_metadata)
    )
    return buffer, metadata


def _read_kept(path: Path, kept: KeptFile | None) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as exc:
        raise DumpError(f"{path}: {exc.strerror}", hint=_AGAIN) from exc
    if kept is not None and len(data) != kept.size_bytes:
        told = f"it has {len(data)} bytes, and {kept.size_bytes} were written"
        raise DumpError(f"{path} is not what the profile wrote: {told}", hint=_AGAIN)
    if kept is not None and digest_of(data) != kept.digest:
        raise DumpError(f"{path} is not what the profile wrote: its digest differs", hint=_AGAIN)
    return data


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
