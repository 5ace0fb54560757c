"""What says how to read a profiler's buffer that was saved?  A small JSON file beside it.

``times.npy`` has ``times.profiler.json``: who wrote the words, the shape that the kernel was
launched with, and the author's names.  Words can't tell any of it by themselves.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from stagebench.dump.atomic_file import write_file
from stagebench.errors import UsageError
from stagebench.model import Launch, ProfilerBuffer, Record
from stagebench.model.codec import encode_pretty
from stagebench.model.facts import ProfilerFormat

SUFFIX = ".profiler.json"
Size = Annotated[int, msgspec.Meta(ge=1, lt=1 << 32)]
"""Of a launch; the words that tell it have 32 bits."""
Name = Annotated[str, msgspec.Meta(min_length=1)]


class ProfilerSidecar(Record, frozen=True, kw_only=True):
    """How one saved buffer is read; ``source`` is the variant that wrote it, in words.

    ``blocks`` of the grid, ``groups`` of a block, ``stride`` in words; ``None``: the kernel's marks
    don't agree, or it is symbolic.  Names are by event id and by group.
    """

    schema_version: Literal[1] = 1
    source: str
    tensor: str
    format: ProfilerFormat
    blocks: Size | None
    groups: Size | None
    stride: Size | None
    event_names: tuple[Name, ...]
    group_names: tuple[Name, ...]


def sidecar_path(buffer: Path) -> Path:
    """Where the sidecar of a saved buffer is."""
    return buffer.parent / f"{buffer.stem}{SUFFIX}"


def sidecar_of(source: str, launch: Launch, profiler: ProfilerBuffer) -> ProfilerSidecar:
    """What the sidecar of one of the ``launch.profilers`` says."""
    sizes = [size for size in launch.grid if isinstance(size, int)]
    return ProfilerSidecar(
        source=source,
        tensor=profiler.tensor,
        format=profiler.format,
        blocks=math.prod(sizes) if len(sizes) == len(launch.grid) else None,
        groups=_whole(profiler.groups),
        stride=_whole(profiler.stride),
        event_names=profiler.event_names,
        group_names=profiler.group_names,
    )


def write_sidecar(buffer: Path, sidecar: ProfilerSidecar) -> Path:
    """Write it beside ``buffer`` (a ``.npy`` file); raises `OSError`."""
    path = sidecar_path(buffer)
    write_file(path, encode_pretty(sidecar))
    return path


def read_sidecar(buffer: Path) -> ProfilerSidecar | None:
    """The sidecar of a buffer, ``None`` where there is none; `UsageError` where it is damaged."""
    path = sidecar_path(buffer)
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as exc:
        raise UsageError(f"{path}: {exc.strerror or exc}") from exc
    try:
        return msgspec.json.decode(data, type=ProfilerSidecar)
    except (msgspec.DecodeError, RecursionError) as exc:
        raise UsageError(
            f"{path} does not say how to read {buffer.name}: {exc}",
            hint="without it, name the format yourself: move it away and give --format",
        ) from exc


def _whole(value: int | str | None) -> int | None:
    return value if isinstance(value, int) else None
