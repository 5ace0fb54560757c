"""How is one variant lowered by Apache TVM and observed?  The worker's side of a `LowerRequest`.

The pipeline is a pass config of its own, ``tir_pipeline`` (``s_tir`` or ``tirx``); where none is
given it is the one that the kernel is written for.  The variant always says which it was.

Runs in a forked child (see `stagebench.worker.server`).  Importing this module imports TVM.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from stagebench.errors import UsageError
from stagebench.model import Compiler, Observation, Scalar
from stagebench.worker import replies
from stagebench.worker.apache_tvm import tvm
from stagebench.worker.protocol import TIR_PIPELINE, LowerRequest, Reply
from stagebench.worker.tir import nodes as ir
from stagebench.worker.tir.one_lowering import Steps, observation, reply_to
from stagebench.worker.tir.pass_events import plain_instruments
from stagebench.worker.tir.tensors import read_tensors
from stagebench.worker.tvm.chosen_kernel import choose_kernel, device_name, functions_of
from stagebench.worker.tvm.device_ir import read_device_function
from stagebench.worker.tvm.host_ir import read_descriptors, read_dynamic_bytes
from stagebench.worker.tvm.load import LoadedModule, load_module
from stagebench.worker.tvm.pass_recorder import ModuleRecorder
from stagebench.worker.tvm.profiler_marks import profiler_names, read_profilers
from stagebench.worker.tvm.tensor_ops import TENSOR_OPS

COMPILER = Compiler(name="tvm", version=version("apache-tvm"))
_PIPELINES = ("s_tir", "tirx")
_WRAPPERS = ("_pipeline", "sequential")
"""What each pipeline is as a module pass (``tvm/s_tir/pipeline.py``,
``tvm/tirx/compilation_pipeline.py``), and the name of any ``tvm.transform.Sequential``: they only
run others."""


class NoDeviceCodeError(Exception):
    """The module was lowered and nothing in it runs on the device."""


class OtherPipelineError(Exception):
    """The module is not written for the pipeline that was asked for."""


def lower(request: LowerRequest, report_pass: Callable[[str], None]) -> Reply:
    """Load, lower and observe one variant in this process."""
    return reply_to(_ApacheTvm(), request, report_pass)


class _ApacheTvm(Steps[LoadedModule, str, ModuleRecorder]):
    compiler = COMPILER

    def recorder(self, report_pass: Callable[[str], None]) -> ModuleRecorder:
        """What observes one lowering."""
        return ModuleRecorder(report_pass)

    def load(
        self, request: LowerRequest, on_files: Callable[[tuple[str, ...]], None]
    ) -> LoadedModule:
        """The module; an author's mistake in it is told before lowering."""
        loaded = load_module(request, on_files=on_files)
        for function in functions_of(loaded.module).values():
            profiler_names(function)
        return loaded

    def configs(self, request: LowerRequest, loaded: LoadedModule | None) -> dict[str, Scalar]:
        """All pass configs, and which pipeline they are for."""
        return _configs(request, loaded)

    def lower(
        self, loaded: LoadedModule, arch: str, configs: dict[str, Scalar], recorder: ModuleRecorder
    ) -> str:
        """The CUDA text is all that TVM gives."""
        cuda = run_pipeline(loaded.module, arch, configs, recorder)
        if recorder.unreadable is None:
            device_name(recorder.first_module, recorder.device_module, loaded.kernel)
        return cuda

    def kernel_cu(self, artifact: str) -> str:
        """The artifact itself."""
        return artifact

    def observe(self, loaded: LoadedModule, artifact: str, recorder: ModuleRecorder) -> Observation:
        """Read the final device IR, and the host's from the module as its author wrote it."""
        del artifact
        return observe(recorder, loaded)


def run_pipeline(
    module: Any, arch: str, configs: dict[str, Scalar], recorder: ModuleRecorder | None
) -> str:
    """TVM's own lowering to CUDA text; no GPU and no nvcc.  ``recorder`` observes it."""
    target = tvm.target.Target({"kind": "cuda", "arch": arch})
    settings = {key: value for key, value in configs.items() if key != TIR_PIPELINE}
    with (
        plain_instruments(recorder, _WRAPPERS) as instruments,
        tvm.transform.PassContext(opt_level=3, config=settings, instruments=instruments),
    ):
        built = _compiled(module, target, configs[TIR_PIPELINE])
    imported = list(built.mod.imports)
    if not imported:
        raise NoDeviceCodeError(
            "the module was lowered, and nothing in it runs on the device: a schedule binds loops "
            "to blockIdx and threadIdx (`tvm.s_tir.dlight` has rules for it)"
        )
    return ir.text_of(imported[0].inspect_source())


def _compiled(module: Any, target: Any, pipeline: Scalar) -> Any:
    """TVM's result; blocks that the other pipeline never lowers end in a cast that says nothing."""
    try:
        return tvm.compile(module, target=target, tir_pipeline=pipeline)
    except Exception as exc:
        if pipeline == "s_tir" or _written_for(module) != "s_tir":
            raise
        first = str(exc).strip().partition("\n")[0]
        raise OtherPipelineError(
            f"the module is S-TIR (a schedule, or te), and --pipeline {pipeline} lowers none of "
            f"its blocks: leave it out, or give s_tir ({type(exc).__name__}: {first})"
        ) from exc


def observe(recorder: ModuleRecorder, loaded: LoadedModule) -> Observation:
    """Read everything that one lowering left: the final device IR, host IR, passes, warnings."""
    chosen = choose_kernel(recorder.first_module, recorder.device_module, loaded.kernel)
    name, function, author = chosen.name, chosen.function, chosen.author_function
    history = recorder.history.of(chosen.author_name)
    launching = recorder.launching_module or recorder.first_module
    descriptors = read_descriptors(launching, name, function)
    dynamic = read_dynamic_bytes(launching, name, function)
    tensors = read_tensors(author, function, descriptors, TENSOR_OPS)
    profilers = read_profilers(author, function)
    kernel = read_device_function(
        name, function, descriptors, tensors, history.rings, profilers, dynamic
    )
    return observation(
        kernel, chosen.others, recorder, history, other_reference=loaded.other_reference
    )


def _configs(request: LowerRequest, loaded: LoadedModule | None) -> dict[str, Scalar]:
    """All pass configs, and which pipeline they are for."""
    known = (str(key) for key in tvm.transform.PassContext.list_configs())
    declared = loaded.pass_configs if loaded else {}
    merged = replies.merge_pass_configs((*known, TIR_PIPELINE), declared, request.pass_configs)
    pipeline = merged.get(TIR_PIPELINE)
    if pipeline is not None and pipeline not in _PIPELINES:
        raise UsageError(
            f"{TIR_PIPELINE} is {pipeline!r}", hint=f"it is one of {', '.join(_PIPELINES)}"
        )
    if pipeline is None and loaded is not None:
        merged[TIR_PIPELINE] = _written_for(loaded.module)
    return dict(sorted(merged.items()))


def _written_for(module: Any) -> str:
    """S-TIR's functions say so (``T.prim_func(s_tir=True)``, schedules, ``te``)."""
    functions = functions_of(module).values()
    scheduled = any(f.attrs is not None and "s_tir" in f.attrs for f in functions)
    return "s_tir" if scheduled else "tirx"


sys.setrecursionlimit(max(sys.getrecursionlimit(), 10_000))  # IR nests deeper than Python's default
