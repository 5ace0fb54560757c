"""What do an author's ``inputs`` and ``reference`` say?  The process in which they are called.

``python -m stagebench.experiment.value_functions FOLDER`` reads ``request.json`` there and writes
the arrays beside it, then ``answer.json``.  The author's code may import a compiler, print, hang or
crash: nothing of it reaches the process that packs the bundle.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from stagebench.bundle.records import BundledTensor
from stagebench.errors import StagebenchError, UsageError
from stagebench.experiment.experiment_file import NAME, load_experiment
from stagebench.gpu.inputs import generator_of, random_input
from stagebench.model import ParamValue, Record

REQUEST, ANSWER = "request.json", "answer.json"
_MODULE = "_stagebench_values"
_DEFINES = re.compile(rf"^{NAME}\s*[:=]".encode(), re.MULTILINE)
_READ = ("input", "inout")
_WRITTEN = ("output", "inout")

ValueFunction = Callable[[Any, Any], Any]


class ValuesRequest(Record, frozen=True, kw_only=True):
    """Whose values: ``case`` is an experiment's case, ``None`` for the functions of ``file``.

    ``variants`` names what must agree (`stagebench.bundle.references.case_of`).
    """

    file: str
    case: str | None
    variants: str
    seed: int
    kernel: str
    params: dict[str, ParamValue]
    scalars: dict[str, int | float]
    tensors: tuple[BundledTensor, ...]


class ValuesAnswer(Record, frozen=True, kw_only=True):
    """Files in the folder by tensor; ``error`` with its ``hint`` where there is none of them."""

    contents: dict[str, str]
    expected: dict[str, str]
    error: str | None = None
    hint: str | None = None


@dataclass(frozen=True)
class Asked:
    """What ``inputs(asked, random)`` and ``reference(asked, inputs)`` are asked for.

    ``params`` are the kernel's but for the depth: all depths get the same values.  ``tensors`` have
    ``shape``, ``dtype`` and ``role`` (``input``, ``output`` or ``inout``); ``scalars`` are those of
    ``--scalar``.
    """

    kernel: str
    params: Mapping[str, ParamValue]
    scalars: Mapping[str, int | float]
    tensors: Mapping[str, BundledTensor]


def value_functions(
    path: Path, case: str | None
) -> tuple[ValueFunction | None, ValueFunction | None]:
    """The functions ``inputs`` and ``reference`` of a case, or of a file that is no experiment."""
    if case is not None:
        experiment = load_experiment(path).experiment
        one = next((one for one in experiment.cases if one.label == case), None)
        if one is None:
            raise UsageError(f"{path} has no case {case}")
        return one.inputs or experiment.inputs, one.reference or experiment.reference
    spec = importlib.util.spec_from_file_location(_MODULE, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} can't be imported as Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[_MODULE] = module
    spec.loader.exec_module(module)
    return getattr(module, "inputs", None), getattr(module, "reference", None)


def is_experiment(path: Path) -> bool:
    """Does the file say that it is one?"""
    return _DEFINES.search(path.read_bytes()) is not None


def made(request: ValuesRequest, folder: Path) -> ValuesAnswer:
    """Call the functions and write what they give."""
    from stagebench.experiment.tensor_arrays import as_seen, by_name, to_bytes, to_expected

    inputs, reference = value_functions(Path(request.file), request.case)
    asked = Asked(
        kernel=request.kernel,
        params=request.params,
        scalars=request.scalars,
        tensors={one.name: one for one in request.tensors if one.role in (*_READ, *_WRITTEN)},
    )
    read = {name: one for name, one in asked.tensors.items() if one.role in _READ}
    values: dict[str, bytes] = {}
    if inputs is not None:
        random = generator_of(request.seed, request.variants, "inputs()")
        for name, value in by_name("inputs()", inputs(asked, random), read).items():
            values[name] = to_bytes("inputs()", read[name], value)
    expected: dict[str, bytes] = {}
    if reference is not None:
        for name, one in read.items():  # what the reference saw is what the kernel must get
            if name not in values:
                values[name] = random_input(one, request.seed, request.variants).tobytes()
        seen = {name: as_seen(read[name], values[name]) for name in read}
        written = {name: one for name, one in asked.tensors.items() if one.role in _WRITTEN}
        given = by_name("reference()", reference(asked, seen), written)
        missing = [name for name in written if name not in given]
        if missing:
            raise UsageError(
                f"reference() does not give {missing[0]}, which the kernel writes",
                hint=f"{missing[0]!r}: None leaves it out of the comparison",
            )
        for name, value in given.items():
            if value is not None:
                expected[name] = to_expected("reference()", written[name], value)
    return ValuesAnswer(
        contents=_kept(values, folder, "contents"), expected=_kept(expected, folder, "expected")
    )


def _kept(values: Mapping[str, bytes], folder: Path, kind: str) -> dict[str, str]:
    files = {}
    for number, (name, data) in enumerate(values.items()):
        files[name] = f"{kind}-{number}"
        (folder / files[name]).write_bytes(data)
    return files


def _said(exc: BaseException, path: Path) -> ValuesAnswer:
    """An exception of the author's code, with the line of their file."""
    if isinstance(exc, StagebenchError):
        return ValuesAnswer(contents={}, expected={}, error=exc.message, hint=exc.hint)
    lines = [f.lineno for f in traceback.extract_tb(exc.__traceback__) if f.filename == str(path)]
    place = f"{path}:{lines[-1]}" if lines else str(path)
    said = f"{place}: {type(exc).__name__}: {exc}"
    return ValuesAnswer(contents={}, expected={}, error=said)


def main() -> int:
    """Answer the request in the folder; whatever happens is an answer."""
    folder = Path(sys.argv[1])
    request = msgspec.json.decode((folder / REQUEST).read_bytes(), type=ValuesRequest)
    os.dup2(2, 1)  # what the author prints is no output of ours
    path = Path(request.file)
    sys.path.insert(0, str(path.parent))
    sys.argv = [str(path)]
    try:
        answer = made(request, folder)
    except BaseException as exc:  # noqa: BLE001 - SystemExit too is the author's
        answer = _said(exc, path)
    (folder / ANSWER).write_bytes(msgspec.json.encode(answer))
    return 0


if __name__ == "__main__":
    sys.exit(main())
