"""How fast is a library's matrix product of the same shape?  In a process of its own.

``python -m stagebench.gpu.library_baseline M N K DTYPE RUNS`` prints one JSON line; torch or cupy,
whichever is there, calls cuBLAS.  Handles plain products C[M, N] = A·B of float16 and bfloat16.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from stagebench.bundle.records import BundledVariant
from stagebench.gpu.records import LibraryTime
from stagebench.gpu.run_request import RunOptions
from stagebench.gpu.statistics import measurement
from stagebench.model import Record
from stagebench.worker.parent_death import die_with_parent

_SECONDS = 180.0
_DTYPES = ("float16", "bfloat16")
_BYTES_ROUND = 256 << 20
_WARMUP = 10


@dataclass(frozen=True)
class GemmShape:
    """One matrix product; ``case`` is that of the variants that compute it."""

    case: str
    m: int
    n: int
    k: int
    dtype: str


class LibraryTimes(Record, frozen=True, kw_only=True):
    """What the child prints."""

    library: str
    version: str
    times_us: tuple[float, ...]


def gemm_shapes(variants: Sequence[BundledVariant]) -> tuple[GemmShape, ...]:
    """The distinct products among the variants, by case."""
    found: dict[str, GemmShape] = {}
    for variant in variants:
        shape = gemm_shape(variant)
        if shape is not None:
            found.setdefault(shape.case, shape)
    return tuple(found.values())


def gemm_shape(variant: BundledVariant) -> GemmShape | None:
    """The product that the tensors' shapes spell: two matrices in, one out, three sizes."""
    inputs = [one for one in variant.tensors if one.role == "input"]
    outputs = [one for one in variant.tensors if one.role == "output"]
    if len(inputs) != 2 or len(outputs) != 1 or len(variant.tensors) != 3:
        return None
    left, right, out = *inputs, *outputs
    if any(len(one.shape) != 2 for one in (left, right, out)) or left.dtype != right.dtype:
        return None
    if left.dtype not in _DTYPES:
        return None
    m, n = out.shape
    for k in dict.fromkeys(left.shape):
        if left.shape in ((m, k), (k, m)) and right.shape in ((n, k), (k, n)):
            return GemmShape(case=variant.case, m=m, n=n, k=k, dtype=left.dtype)
    return None


def time_libraries(
    shapes: Sequence[GemmShape], options: RunOptions, *, python: str = sys.executable
) -> tuple[tuple[LibraryTime, ...], tuple[str, ...]]:
    """Times by shape, and notes for the shapes that have none."""
    found, notes = [], []
    for shape in shapes:
        name = f"{shape.m}×{shape.n}×{shape.k} {shape.dtype}"
        command = [
            python, "-m", "stagebench.gpu.library_baseline",
            str(shape.m), str(shape.n), str(shape.k), shape.dtype, str(max(1, options.runs)),
        ]  # fmt: skip
        try:
            done = subprocess.run(command, capture_output=True, check=True, timeout=_SECONDS)
            times = msgspec.json.decode(done.stdout, type=LibraryTimes)
        except subprocess.CalledProcessError as exc:
            said = exc.stderr.decode(errors="replace").strip().splitlines()
            notes.append(f"no library baseline of {name}: {said[-1] if said else exc}")
            continue
        except (subprocess.TimeoutExpired, msgspec.DecodeError, OSError) as exc:
            notes.append(f"no library baseline of {name}: {exc}")
            continue
        found.append(
            LibraryTime(
                case=shape.case,
                library=times.library,
                version=times.version,
                m=shape.m,
                n=shape.n,
                k=shape.k,
                dtype=shape.dtype,
                time=measurement(times.times_us),
            )
        )
    return tuple(found), tuple(notes)


def _time(m: int, n: int, k: int, dtype: str, runs: int) -> LibraryTimes:
    size = 2 * (m * k + k * n + m * n)
    sets = max(1, min(16, -(-_BYTES_ROUND // size)))
    problems = []
    for name, timer in (("torch", _time_torch), ("cupy", _time_cupy)):
        try:
            module = importlib.import_module(name)
            times = timer(module, (m, n, k), dtype, sets, runs)
        except Exception as exc:  # noqa: BLE001 - a library that does not work is as good as none
            problems.append(f"{name}: {type(exc).__name__}: {exc}")
            continue
        return LibraryTimes(library=name, version=str(module.__version__), times_us=tuple(times))
    sys.exit("; ".join(problems))


def _time_torch(
    torch: Any,  # noqa: ANN401 - a module without types here
    shape: tuple[int, int, int],
    dtype: str,
    sets: int,
    runs: int,
) -> list[float]:
    m, n, k = shape
    kind = getattr(torch, dtype)
    pairs = [
        (torch.randn(m, k, device="cuda", dtype=kind), torch.randn(n, k, device="cuda", dtype=kind))
        for _ in range(sets)
    ]
    out = torch.empty(m, n, device="cuda", dtype=kind)
    events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(runs)]
    for index in range(_WARMUP + runs):
        left, right = pairs[index % sets]
        pair = events[index - _WARMUP] if index >= _WARMUP else None
        if pair:
            pair[0].record()
        torch.matmul(left, right.t(), out=out)
        if pair:
            pair[1].record()
    torch.cuda.synchronize()
    return [1e3 * first.elapsed_time(last) for first, last in events]


def _time_cupy(
    cupy: Any,  # noqa: ANN401 - a module without types here
    shape: tuple[int, int, int],
    dtype: str,
    sets: int,
    runs: int,
) -> list[float]:
    m, n, k = shape
    pairs = [
        (
            cupy.random.standard_normal((m, k)).astype(dtype),
            cupy.random.standard_normal((n, k)).astype(dtype),
        )
        for _ in range(sets)
    ]
    times = []
    for index in range(_WARMUP + runs):
        left, right = pairs[index % sets]
        first, last = cupy.cuda.Event(), cupy.cuda.Event()
        first.record()
        cupy.matmul(left, right.T)
        last.record()
        last.synchronize()
        if index >= _WARMUP:
            times.append(1e3 * float(cupy.cuda.get_elapsed_time(first, last)))
    return times


if __name__ == "__main__":
    die_with_parent()
    _m, _n, _k = map(int, sys.argv[1:4])
    found = _time(_m, _n, _k, sys.argv[4], int(sys.argv[5]))
    sys.stdout.buffer.write(msgspec.json.encode(found) + b"\n")
