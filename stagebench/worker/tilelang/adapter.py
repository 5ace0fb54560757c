"""How is one variant lowered by TileLang and observed?  The worker's side of a `LowerRequest`.

Runs in a forked child (see `stagebench.worker.server`).  Importing this module imports TileLang.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

# Statements keep the Python line that they came from only if the builder is told to, at import.
os.environ["TILELANG_ENABLE_IR_SPAN"] = "1"

import tilelang
from tilelang import tvm

from stagebench.dump import snapshots
from stagebench.errors import UsageError
from stagebench.facts.derive import derive_facts
from stagebench.model import Compiler, Observation, Scalar, Variant
from stagebench.worker import replies
from stagebench.worker.loading.other_compiler import for_apache_tvm
from stagebench.worker.loading.stage_param import NoDepthParameterError
from stagebench.worker.protocol import Lowered, LowerRequest, Raised, Rejected, Reply, Times
from stagebench.worker.stderr_log import compiler_warnings
from stagebench.worker.tilelang import ir
from stagebench.worker.tilelang.device_ir import read_device_function
from stagebench.worker.tilelang.host_ir import read_descriptors
from stagebench.worker.tilelang.load import KernelRequest, LoadedKernel, load_kernel
from stagebench.worker.tilelang.pass_events import pass_instruments
from stagebench.worker.tilelang.pipeline_history import PipelineHistory
from stagebench.worker.tilelang.tensor_ops import TENSOR_OPS
from stagebench.worker.tir.pass_recorder import PassRecorder
from stagebench.worker.tir.tensors import read_tensors

COMPILER = Compiler(name="tilelang", version=version("tilelang"))
Recorder = PassRecorder[PipelineHistory]


def lower(request: LowerRequest, report_pass: Callable[[str], None]) -> Reply:
    """Load, lower and observe one variant in this process."""
    begun = time.perf_counter()
    loaded: LoadedKernel | None = None
    files: list[str] = []
    recorder = PassRecorder(report_pass, PipelineHistory())
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
    except NoDepthParameterError as exc:
        return Rejected(code="no-depth", message=exc.message, hint=exc.hint)
    except UsageError as exc:
        told = for_apache_tvm(request.path, files, exc) or exc
        return Rejected(code="usage", message=told.message, hint=told.hint)
    except Exception as exc:  # noqa: BLE001 - whatever the kernel or the compiler raises is a result
        other = for_apache_tvm(request.path, files, exc)
        if other is not None:
            return Rejected(code="usage", message=other.message, hint=other.hint)
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
    prim_func: Any, arch: str, pass_configs: dict[str, Scalar], recorder: Recorder | None
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


def observe(prim_func: Any, artifact: Any, recorder: Recorder) -> Observation:
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
            name, function, descriptors, read_tensors(prim_func, function, descriptors, TENSOR_OPS)
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
    """The kernel's own pass configs, overridden by the request's; `UsageError` for unknown keys."""
    known = (str(key) for key in tvm.transform.PassContext.list_configs())
    return replies.merge_pass_configs(known, declared, requested)


def _variant(
    request: LowerRequest, loaded: LoadedKernel | None, configs: dict[str, Scalar]
) -> Variant:
    seen = (loaded.params, loaded.stage_param) if loaded else None
    return replies.variant_of(request, COMPILER, configs, seen)


def _raised(
    exc: Exception,
    request: LowerRequest,
    loaded: LoadedKernel | None,
    files: list[str],
    recorder: Recorder,
) -> Raised:
    configs = dict(request.pass_configs)
    if loaded is not None:
        with contextlib.suppress(UsageError):
            configs = merge_pass_configs(loaded.pass_configs, request.pass_configs)
    return replies.raised(
        exc,
        request,
        _variant(request, loaded, configs),
        loaded=loaded is not None,
        files=files,
        open_passes=recorder.open_passes,
        notes=loaded.diagnostics if loaded else (),
    )


sys.setrecursionlimit(max(sys.getrecursionlimit(), 10_000))  # IR nests deeper than Python's default
