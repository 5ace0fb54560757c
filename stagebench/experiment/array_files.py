"""Which tensors do the arrays of ``--inputs`` and ``--expected`` belong to, and do they fit?

``.npz`` files, by the tensors' names.  What does not fit is refused here, where the bundle is made:
on the GPU host nobody could tell a wrong array from a wrong kernel.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np

from stagebench.bundle.build import BuildOptions, Candidate
from stagebench.bundle.errors import BundleError
from stagebench.bundle.launch_plan import bundled_tensors
from stagebench.bundle.records import BundledTensor, TensorRole
from stagebench.errors import UsageError
from stagebench.experiment.tensor_arrays import Array, to_bytes, to_expected
from stagebench.gpu.dtypes import UnknownDtypeError

Kind = Literal["--inputs", "--expected"]
_FITTING: dict[Kind, tuple[TensorRole, ...]] = {
    "--inputs": ("input", "inout", "unused"),
    "--expected": ("output", "inout"),
}
_Known = tuple[Candidate, Mapping[str, BundledTensor]]
_OTHER: dict[Kind, Kind] = {"--inputs": "--expected", "--expected": "--inputs"}


def with_array_values(
    candidates: Sequence[Candidate],
    inputs: Path | None,
    expected: Path | None,
    options: BuildOptions,
    warn: Callable[[str], None],
) -> list[Candidate]:
    """The candidates with the arrays of these files; `UsageError` where one does not fit."""
    known = [(one, _tensors(one, options)) for one in candidates]
    inputs_of = _values("--inputs", inputs, known, warn)
    expected_of = _values("--expected", expected, known, warn)
    return [
        replace(one, contents=contents, expected=values)
        for one, contents, values in zip(candidates, inputs_of, expected_of, strict=True)
    ]


def _values(
    kind: Kind, path: Path | None, known: Sequence[_Known], warn: Callable[[str], None]
) -> list[dict[str, bytes]]:
    """What a file gives each candidate; nothing where it did not lower, or a size is missing."""
    if path is None:
        return [{} for _ in known]
    arrays = read_arrays(path)
    _check_names(f"{kind} {path}", arrays, [tensors for _, tensors in known])
    made: dict[BundledTensor, bytes] = {}  # all depths of a case share them
    found = []
    for one, tensors in known:
        for name in arrays.keys() & tensors.keys():
            if tensors[name] not in made:
                value = _bytes(kind, f"{kind} {path}", one, tensors[name], arrays[name])
                made[tensors[name]] = value
        found.append({name: made[tensors[name]] for name in arrays if name in tensors})
    without = sum(not values and bool(of) for values, (_, of) in zip(found, known, strict=True))
    if without:
        warn(f"{without} of {len(known)} variants have no tensor that {kind} gives")
    return found


def read_arrays(path: Path) -> dict[str, Array]:
    """The arrays of an ``.npz`` file by name."""
    broken = (OSError, TypeError, ValueError, EOFError, zipfile.BadZipFile, zlib.error)
    try:
        archive = np.load(path, allow_pickle=False)
    except FileNotFoundError as exc:
        raise UsageError(f"no file {path}", hint="numpy.savez(FILE, A=…) makes one") from exc
    except broken as exc:
        said = "" if "pickle" in str(exc) else f": {exc}"  # its guess at what is no .npy either
        raise UsageError(f"{path} is no .npz file{said}", hint="numpy.savez makes one") from exc
    if not isinstance(archive, np.lib.npyio.NpzFile):
        raise UsageError(
            f"{path} holds one array without a name", hint="numpy.savez(FILE, A=…) names it"
        )
    found = {}
    with archive:
        for name in archive.files:
            try:
                found[name] = archive[name]
            except broken as exc:
                said = "Python objects, not numbers" if "pickle" in str(exc) else str(exc)
                raise UsageError(
                    f"{path}: {name}: {said}", hint="numpy.savez of arrays with a numeric dtype"
                ) from exc
    return found


def _tensors(one: Candidate, options: BuildOptions) -> Mapping[str, BundledTensor]:
    if one.launch is None:
        return {}
    try:
        tensors = bundled_tensors(one.launch, {**options.scalars, **one.scalars})
    except BundleError:
        return {}
    return {tensor.name: tensor for tensor in tensors}


def _check_names(
    said: str, arrays: Mapping[str, Array], tensors: Sequence[Mapping[str, BundledTensor]]
) -> None:
    there = dict.fromkeys(name for several in tensors for name in several)
    if not there:
        return
    for name in arrays:
        if name not in there:
            raise UsageError(
                f"{said} gives {name}, which is no tensor of the kernel",
                hint=f"it has {', '.join(there)}",
            )


def _bytes(kind: Kind, said: str, one: Candidate, tensor: BundledTensor, array: Array) -> bytes:
    if tensor.role not in _FITTING[kind]:
        what = {"output": "an output", "input": "an input"}.get(tensor.role, tensor.role)
        if tensor.role == "profiler":
            what = "the buffer of the kernel's own profiler"
        raise UsageError(
            f"{said} gives {tensor.name}, which is {what}",
            hint=f"use {_OTHER[kind]} for it"
            if tensor.role in _FITTING[_OTHER[kind]] and tensor.role != "unused"
            else f"leave {tensor.name} out",
        )
    make = to_bytes if kind == "--inputs" else to_expected
    try:
        return make(said, tensor, array)
    except UnknownDtypeError as exc:
        raise UsageError(f"{said}: {tensor.name}: {exc}") from exc
    except UsageError as exc:
        variant = one.result.variant
        of = f" ({variant.kernel} {variant.arch} num_stages={variant.num_stages})"
        raise UsageError(exc.message + of, hint=exc.hint) from exc
