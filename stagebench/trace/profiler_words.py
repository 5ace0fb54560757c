"""Which bits of a profiler's word mean what, and how does a file of words get in?

Both formats are arrays of little-endian 64-bit words: slot 0 is ``num_groups << 32 | num_blocks``,
every other non-zero word a record ``globaltimer_lo << 32 | tag``; lane = block · groups + group
writes slots ``1 + lane + k · stride``.

``tvm``: tag = ``lane << 12 | event << 2 | type``, types start, end, instant, finalize.
Source: Apache TVM 0.25.0.post1, ``tvm/backend/cuda/operator/intrinsics/misc.py`` (``timer_init``,
``timer_start``, ``timer_end``, ``timer_finalize``) and ``tvm/tirx/bench.py`` (``CudaProfiler``).

``flashinfer``: tag = ``sm << 24 | lane << 12 | event << 2 | type``, without finalize.  Source:
FlashInfer, ``include/flashinfer/profiler.cuh`` (``encode_tag``, ``PROFILER_INIT``) and
``flashinfer/profiler/__init__.py`` (``decode_tag``).  Its first releases had no ``sm`` and TVM's
lane bits: such a buffer is read as ``tvm`` (no lane is then finalized).
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from stagebench.errors import MachineError, UsageError
from stagebench.model.facts import ProfilerFormat

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Words = NDArray[np.uint64]

START, END, INSTANT, FINALIZE = range(4)
EVENT_IDS = 1 << 10
WRAP_NS = 1 << 32
COMPRESSED = ".xz"


@dataclass(frozen=True)
class Layout:
    """``lane_bits`` above bit 12; ``sm_shift`` where the SM's number lies; are lanes finalized?"""

    lane_bits: int
    sm_shift: int | None
    finalizes: bool


LAYOUTS: dict[ProfilerFormat, Layout] = {
    "tvm": Layout(lane_bits=20, sm_shift=None, finalizes=True),
    "flashinfer": Layout(lane_bits=12, sm_shift=24, finalizes=False),
}


def read_words(path: Path) -> tuple[Words, int]:
    """The words of a ``.npy`` file or of a raw one, and how many bytes at its end are no word.

    Either may be compressed: ``.npy.xz``, ``.bin.xz``.
    """
    try:
        import numpy as np
    except ImportError as exc:
        raise MachineError(
            "reading a profiler's buffer needs numpy, which is not installed",
            hint="pip install 'stagebench[trace]'",
        ) from exc
    data = _content(path)
    if not data:
        raise _empty(path)
    if uncompressed(path).suffix != ".npy":
        whole = len(data) // 8 * 8
        return np.frombuffer(data[:whole], dtype="<u8"), len(data) - whole
    try:
        array = np.load(io.BytesIO(data), allow_pickle=False)
    except (ValueError, EOFError, OSError, SyntaxError, TypeError, MemoryError) as exc:
        raise UsageError(f"{path}: not an array that numpy reads: {exc}") from exc
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "iu" or array.itemsize != 8:
        kind = getattr(array, "dtype", type(array).__name__)
        raise UsageError(
            f"{path}: an array of {kind}; a profiler's buffer has 64-bit integers",
            hint="save the buffer itself: numpy.save(file, buffer.numpy())",
        )
    if not array.size:
        raise _empty(path)
    return array.reshape(-1).astype(array.dtype.newbyteorder("=")).view(np.uint64), 0


def _empty(path: Path) -> UsageError:
    return UsageError(
        f"{path} is empty: no word was saved", hint="save the buffer after the kernel has ended"
    )


def uncompressed(path: Path) -> Path:
    """What the file is called without ``.xz``: its sidecar is named after that."""
    return path.with_suffix("") if path.suffix == COMPRESSED else path


def _content(path: Path) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as exc:
        raise UsageError(f"{path}: {exc.strerror or exc}") from exc
    if path.suffix != COMPRESSED:
        return data
    try:
        import lzma
    except ImportError as exc:  # a Python that was built without it
        raise MachineError(
            f"{path}: this Python can't read .xz", hint=f"decompress it first: xz -dk {path}"
        ) from exc
    try:
        return lzma.decompress(data, format=lzma.FORMAT_XZ)
    except (lzma.LZMAError, EOFError) as exc:
        raise UsageError(f"{path}: not a whole .xz file: {exc}") from exc
