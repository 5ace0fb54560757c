"""How is one variant lowered by TileLang and observed?  The worker's side of a `LowerRequest`.

Runs in a forked child (see `stagebench.worker.server`).  Importing this module imports TileLang.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import sys
import time
import traceback
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

# Statements keep the Python line that they came from only if the builder is told to, at import.
os.environ["TILELANG_ENABLE_IR_SPAN"] = "1"

import tilelang
from tilelang import tvm

from stagebench.dump import snapshots
from stagebench.errors import UsageError
from stagebench.facts.derive import derive_facts
from stagebench.model import Compiler, Diagnostic, Observation, Scalar, Variant
from stagebench.worker.places import without_places
from stagebench.worker.protocol import Lowered, LowerRequest, Raised, Rejected, Reply, Times
from stagebench.worker.stderr_log import compiler_warnings
from stagebench.worker.tilelang import ir
from stagebench.worker.tilelang.device_ir import read_device_function
from stagebench.worker.tilelang.host_ir import read_descriptors
from stagebench.worker.tilelang.load import KernelRequest, LoadedKernel, load_kernel
from stagebench.worker.tilelang.pass_events import pass_instruments
from stagebench.worker.tilelang.pass_recorder import PassRecorder
from stagebench.worker.tilelang.stage_param import NoDepthParameterError
from stagebench.worker.tilelang.tensors import read_tensors

COMPILER = Compiler(name="tilelang", version=version("tilelang"))


def lower(request: LowerRequest, report_pass: Callable[[str], None]) -> Reply:
    """Load, lower and observe one variant in this process."""
    begun = time.perf_counter()
    loaded: LoadedKernel | None = None
    files: list[str] = []
    recorder = PassRecorder(report_pass)
    try:
        loaded = load_kernel(
            KernelRequest(
                path=request.path,
                function=request.function,
                params=request.params,
                num_stages=request.num_stages,
                stage_param=request.stage_param,
                arch=request.arch,
            ),
            on_files=files.extend,
        )
        configs = merge_pass_configs(loaded.pass_configs, request.pass_configs)
        load_seconds = time.perf_counter() - begun
        lowering_began = time.perf_counter()
        artifact = run_pipeline(loaded.prim_func, request.arch, configs, recorder)
        lower_seconds = time.perf_counter() - lowering_began
    except UsageError as exc:
        code = "no-depth" if isinstance(exc, NoDepthParameterError) else "usage"
        return Rejected(code=code, message=exc.message, hint=exc.hint)
    except Exception as exc:  # noqa: BLE001 - whatever the kernel or the compiler raises is a result
        return _raised(exc, request, loaded, files, recorder)
    facts_began = time.perf_counter()
    observation = observe(loaded.prim_func, artifact, recorder)
    kernel_cu = ir.text_of(artifact.kernel_source)
    facts = derive_facts(
        observation,
        kernel_cu,
        arch=request.arch,
        num_stages=request.num_stages,
        notes=loaded.diagnostics,
    )
    frame = snapshots.pack(recorder.snapshots)
    return Lowered(
        variant=_variant(request, loaded, configs),
        facts=facts,
        kernel_cu=kernel_cu,
        snapshots=frame,
        times=Times(
            load=load_seconds,
            lower=lower_seconds,
            observe=recorder.observe_seconds,
            facts=time.perf_counter() - facts_began,
            passes=tuple(recorder.times),
        ),
        module_files=loaded.module_files,
    )


def run_pipeline(
    prim_func: Any, arch: str, pass_configs: dict[str, Scalar], recorder: PassRecorder | None
) -> Any:
    """TileLang's own lowering to device IR, host IR and CUDA text; no GPU and no nvcc.

    ``recorder`` observes it; ``None`` runs it bare (the benchmarks' yardstick).
    """
    target = {"kind": "cuda", "arch": arch}
    with (
        pass_instruments(recorder) as instruments,
        tvm.transform.PassContext(opt_level=3, config=pass_configs, instruments=instruments),
        tvm.target.Target(target),
    ):
        return tilelang.lower(prim_func, target=target, enable_device_compile=False)


def observe(prim_func: Any, artifact: Any, recorder: PassRecorder) -> Observation:
    """Read everything that one lowering left: the final device IR, host IR, passes, warnings."""
    module = recorder.device_module
    functions = [
        (str(name.name_hint), function)
        for name, function in module.functions.items()
        if isinstance(function, ir.tirx.PrimFunc)
    ]
    descriptors = read_descriptors(artifact.host_mod)
    name, function = functions[0]
    return Observation(
        kernel=read_device_function(
            name, function, descriptors, read_tensors(prim_func, function, descriptors)
        ),
        other_kernels=tuple(other for other, _ in functions[1:]),
        requests=recorder.history.requests(),
        buffers=recorder.history.buffers(),
        passes=tuple(recorder.passes),
        warnings=compiler_warnings(),
    )


def merge_pass_configs(
    declared: dict[str, object], requested: dict[str, Scalar]
) -> dict[str, Scalar]:
    """The kernel's own pass configs, overridden by the request's.

    Raises `UsageError` for a key that the compiler does not know, with the nearest one.
    """
    known = {str(key) for key in tvm.transform.PassContext.list_configs()}
    for key in requested:
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
            raise UsageError(
                f"unknown pass config {key!r}",
                hint=f"did you mean {near[0]}?" if near else None,
            )
    merged: dict[str, Scalar] = {}
    for key, value in {**declared, **requested}.items():
        merged[key] = value if isinstance(value, bool | int | float | str) else str(value)
    return dict(sorted(merged.items()))


def _variant(
    request: LowerRequest, loaded: LoadedKernel | None, configs: dict[str, Scalar]
) -> Variant:
    params = dict(loaded.params) if loaded else dict(request.params)
    if request.num_stages is not None:
        params["num_stages"] = request.num_stages
    return Variant(
        kernel=request.kernel,
        params=dict(sorted(params.items())),
        stage_param=loaded.stage_param if loaded else request.stage_param,
        arch=request.arch,
        compiler=COMPILER,
        pass_configs=configs,
    )


def _raised(
    exc: Exception,
    request: LowerRequest,
    loaded: LoadedKernel | None,
    files: list[str],
    recorder: PassRecorder,
) -> Raised:
    configs = dict(request.pass_configs)
    if loaded is not None:
        with contextlib.suppress(UsageError):
            configs = merge_pass_configs(loaded.pass_configs, request.pass_configs)
    notes = [
        Diagnostic(severity="warning", code="compiler-warning", message=text)
        for text in compiler_warnings()
    ]
    text = without_places(_text_of(exc), request.path, files)
    file, line = _raised_at(exc, request.path)
    return Raised(
        variant=_variant(request, loaded, configs),
        where="kernel" if loaded is None else "compiler",
        error=type(exc).__name__,
        message=text,
        file=file,
        line=line,
        pass_name=recorder.open_passes[-1] if recorder.open_passes else None,
        out_of_memory=isinstance(exc, MemoryError) or "std::bad_alloc" in text,
        diagnostics=(*(loaded.diagnostics if loaded else ()), *notes),
        module_files=tuple(files),
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


sys.setrecursionlimit(max(sys.getrecursionlimit(), 10_000))  # IR nests deeper than Python's default
