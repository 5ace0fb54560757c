"""How is one variant lowered by TileLang and observed?  The worker's side of a `LowerRequest`.

Runs in a forked child (see `stagebench.worker.server`).  Importing this module imports TileLang.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any

# Statements keep the Python line that they came from only if the builder is told to, at import.
os.environ["TILELANG_ENABLE_IR_SPAN"] = "1"

import tilelang
from tilelang import tvm

from stagebench.errors import UsageError
from stagebench.model import Compiler, Diagnostic, Observation, Scalar
from stagebench.worker import replies
from stagebench.worker.loading.other_compiler import for_apache_tvm
from stagebench.worker.protocol import LowerRequest, Reply
from stagebench.worker.tilelang import ir
from stagebench.worker.tilelang.device_ir import read_device_function
from stagebench.worker.tilelang.host_ir import read_descriptors
from stagebench.worker.tilelang.load import KernelRequest, LoadedKernel, load_kernel
from stagebench.worker.tilelang.pass_events import pass_instruments
from stagebench.worker.tilelang.pipeline_history import PipelineHistory
from stagebench.worker.tilelang.tensor_ops import TENSOR_OPS
from stagebench.worker.tir.one_lowering import Steps, device_functions, observation, reply_to
from stagebench.worker.tir.pass_recorder import PassRecorder
from stagebench.worker.tir.tensors import read_tensors

COMPILER = Compiler(name="tilelang", version=version("tilelang"))
Recorder = PassRecorder[PipelineHistory]


def lower(request: LowerRequest, report_pass: Callable[[str], None]) -> Reply:
    """Load, lower and observe one variant in this process."""
    return reply_to(_TileLang(), request, report_pass)


class _TileLang(Steps[LoadedKernel, Any, Recorder]):
    compiler = COMPILER

    def recorder(self, report_pass: Callable[[str], None]) -> Recorder:
        """What observes one lowering."""
        return PassRecorder(report_pass, PipelineHistory())

    def load(
        self, request: LowerRequest, on_files: Callable[[tuple[str, ...]], None]
    ) -> LoadedKernel:
        """The kernel, as TileLang would build it for the target."""
        wanted = KernelRequest(
            path=request.path,
            function=request.function,
            params=request.params,
            num_stages=request.num_stages,
            stage_param=request.stage_param,
            arch=request.arch,
        )
        return load_kernel(wanted, on_files=on_files)

    def configs(self, request: LowerRequest, loaded: LoadedKernel | None) -> dict[str, Scalar]:
        """The kernel's own pass configs, overridden by the request's."""
        if loaded is None:
            return dict(request.pass_configs)
        return merge_pass_configs(loaded.pass_configs, request.pass_configs)

    def lower(
        self, loaded: LoadedKernel, arch: str, configs: dict[str, Scalar], recorder: Recorder
    ) -> Any:
        """TileLang's artifact: host IR and CUDA text."""
        return run_pipeline(loaded.prim_func, arch, configs, recorder)

    def kernel_cu(self, artifact: Any) -> str:
        """Its source."""
        return ir.text_of(artifact.kernel_source)

    def observe(self, loaded: LoadedKernel, artifact: Any, recorder: Recorder) -> Observation:
        """Read the final device IR, and the host's."""
        return observe(loaded.prim_func, artifact, recorder)

    def notes(self, loaded: LoadedKernel) -> tuple[Diagnostic, ...]:
        """What loading has to say about the kernel."""
        return loaded.diagnostics

    def mistaken(
        self, request: LowerRequest, files: Sequence[str], error: Exception
    ) -> UsageError | None:
        """A file of Apache TVM's is told so, whatever it raised."""
        told = for_apache_tvm(request.path, files, error)
        return told or super().mistaken(request, files, error)


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
    (name, function), *others = device_functions(recorder.device_module)
    descriptors = read_descriptors(artifact.host_mod)
    tensors = read_tensors(prim_func, function, descriptors, TENSOR_OPS)
    kernel = read_device_function(name, function, descriptors, tensors)
    return observation(kernel, [other for other, _ in others], recorder, recorder.history)


def merge_pass_configs(
    declared: dict[str, object], requested: dict[str, Scalar]
) -> dict[str, Scalar]:
    """The kernel's own pass configs, overridden by the request's; `UsageError` for unknown keys."""
    known = (str(key) for key in tvm.transform.PassContext.list_configs())
    return replies.merge_pass_configs(known, declared, requested)


sys.setrecursionlimit(max(sys.getrecursionlimit(), 10_000))  # IR nests deeper than Python's default
