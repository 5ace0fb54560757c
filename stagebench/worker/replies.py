"""What does an adapter answer?  The variant as it was lowered, and what was raised instead.

The same for every compiler: identity, pass configs by key, and an exception as a record.
"""

from __future__ import annotations

import difflib
import traceback
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from stagebench.errors import UsageError
from stagebench.model import Compiler, Diagnostic, ParamValue, Scalar, Variant
from stagebench.worker.loading.kernel_file import raised_by_import
from stagebench.worker.places import without_places
from stagebench.worker.protocol import LowerRequest, Raised
from stagebench.worker.stderr_log import compiler_warnings


def merge_pass_configs(
    known: Iterable[str], declared: Mapping[str, object], requested: Mapping[str, Scalar]
) -> dict[str, Scalar]:
    """The kernel's own pass configs, overridden by the request's.

    Raises `UsageError` for a requested key that is not among ``known``, with the nearest one.
    """
    names = list(known)
    for key in requested:
        if key not in names:
            near = difflib.get_close_matches(key, names, n=1, cutoff=0.5)
            raise UsageError(
                f"unknown pass config {key!r}",
                hint=f"did you mean {near[0]}?" if near else None,
            )
    merged: dict[str, Scalar] = {}
    for key, value in {**declared, **requested}.items():
        merged[key] = value if isinstance(value, bool | int | float | str) else str(value)
    return dict(sorted(merged.items()))


def variant_of(
    request: LowerRequest,
    compiler: Compiler,
    configs: dict[str, Scalar],
    loaded: tuple[Mapping[str, ParamValue], str | None] | None,
) -> Variant:
    """The variant's identity; ``loaded`` holds the kernel's parameters and the depth's own name."""
    params = dict(loaded[0] if loaded else request.params)
    if request.num_stages is not None:
        params["num_stages"] = request.num_stages
    return Variant(
        kernel=request.kernel,
        params=dict(sorted(params.items())),
        stage_param=loaded[1] if loaded else request.stage_param,
        arch=request.arch,
        compiler=compiler,
        pass_configs=configs,
    )


def raised(
    exc: Exception,
    request: LowerRequest,
    variant: Variant,
    *,
    loaded: bool,
    files: Sequence[str],
    open_passes: Sequence[str],
    notes: Sequence[Diagnostic],
) -> Raised:
    """An exception as a record: by the kernel's own Python unless the kernel was ``loaded``."""
    warnings = [
        Diagnostic(severity="warning", code="compiler-warning", message=text)
        for text in compiler_warnings()
    ]
    text = without_places(_text_of(exc), request.path, files)
    file, line = _raised_at(exc, request.path)
    return Raised(
        variant=variant,
        where="compiler" if loaded else "file" if raised_by_import(exc) else "kernel",
        error=type(exc).__name__,
        message=text,
        file=file,
        line=line,
        pass_name=open_passes[-1] if open_passes else None,
        out_of_memory=isinstance(exc, MemoryError) or "std::bad_alloc" in text,
        diagnostics=(*notes, *warnings),
        module_files=tuple(files),
    )


def unreadable(
    exc: Exception,
    request: LowerRequest,
    variant: Variant,
    *,
    files: Sequence[str],
    pass_name: str | None,
    notes: Sequence[Diagnostic],
) -> Raised:
    """What reading the IR of a lowering raised that had gone well: stagebench's own failure."""
    found = raised(exc, request, variant, loaded=True, files=files, open_passes=(), notes=notes)
    where = traceback.extract_tb(exc.__traceback__)
    return msgspec.structs.replace(
        found,
        where="reader",
        pass_name=pass_name,
        file=Path(where[-1].filename).name if where else None,
        line=where[-1].lineno if where else None,
    )


def _text_of(exc: Exception) -> str:
    """What an exception says, even one whose own text can't be had or encoded."""
    try:
        text = str(exc)
    except Exception as broken:  # noqa: BLE001 - the kernel's own __str__ may do anything
        text = f"(its text can't be had: {type(broken).__name__})"
    return text.encode(errors="replace").decode()


def _raised_at(exc: Exception, path: str | None) -> tuple[str | None, int | None]:
    """The innermost frame of the exception in the kernel's own file."""
    frames = traceback.extract_tb(exc.__traceback__)
    mine = [frame for frame in frames if path is not None and frame.filename == path]
    return (Path(mine[-1].filename).name, mine[-1].lineno) if mine else (None, None)
