"""How is one variant lowered by Apache TVM and observed?  The worker's side of a `LowerRequest`.

The pipeline is a pass config of its own, ``tir_pipeline`` (``s_tir`` or ``tirx``); where none is
given it is the one that the kernel is written for.  The variant always says which it was.

Runs in a forked child (see `stagebench.worker.server`).  Importing this module imports TVM.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from stagebench.dump import snapshots
from stagebench.errors import UsageError
from stagebench.facts.derive import derive_facts
from stagebench.model import Compiler, Observation, Scalar
from stagebench.worker import replies
from stagebench.worker.apache_tvm import tvm
from stagebench.worker.loading.stage_param import NoDepthParameterError
from stagebench.worker.protocol import Lowered, LowerRequest, Raised, Rejected, Reply, Times
from stagebench.worker.stderr_log import compiler_warnings
from stagebench.worker.tir import nodes as ir
from stagebench.worker.tir.nodes import tirx
from stagebench.worker.tir.pass_events import plain_instruments
from stagebench.worker.tir.tensors import read_tensors
from stagebench.worker.tvm.device_ir import read_device_function
from stagebench.worker.tvm.host_ir import read_descriptors
from stagebench.worker.tvm.load import LoadedModule, load_module
from stagebench.worker.tvm.pass_recorder import ModuleRecorder
from stagebench.worker.tvm.profiler_marks import profiler_names, read_profilers
from stagebench.worker.tvm.tensor_ops import TENSOR_OPS

COMPILER = Compiler(name="tvm", version=version("apache-tvm"))
PIPELINE = "tir_pipeline"
_PIPELINES = ("s_tir", "tirx")
_WRAPPERS = ("_pipeline", "sequential")
"""What each pipeline is as a module pass (``tvm/s_tir/pipeline.py``,
``tvm/tirx/compilation_pipeline.py``), and the name of any ``tvm.transform.Sequential``: they only
run others."""


class NoDeviceCodeError(Exception):
    """The module was lowered and nothing in it runs on the device."""


def lower(request: LowerRequest, report_pass: Callable[[str], None]) -> Reply:
    """Load, lower and observe one variant in this process."""
    begun = time.perf_counter()
    loaded: LoadedModule | None = None
    files: list[str] = []
    recorder = ModuleRecorder(report_pass)
    try:
        loaded = load_module(request, on_files=files.extend)
        configs = _configs(request, loaded)
        profiler_names(_host(loaded.module))  # an author's mistake is told before lowering
        load_seconds = time.perf_counter() - begun
        lowering_began = time.perf_counter()
        kernel_cu = run_pipeline(loaded.module, request.arch, configs, recorder)
        lower_seconds = time.perf_counter() - lowering_began
    except UsageError as exc:
        code = "no-depth" if isinstance(exc, NoDepthParameterError) else "usage"
        return Rejected(code=code, message=exc.message, hint=exc.hint)
    except Exception as exc:  # noqa: BLE001 - whatever the kernel or the compiler raises is a result
        return _raised(exc, request, loaded, files, recorder)
    facts_began = time.perf_counter()
    facts = derive_facts(
        observe(recorder), kernel_cu, arch=request.arch, num_stages=request.num_stages
    )
    return Lowered(
        variant=replies.variant_of(request, COMPILER, configs, (loaded.params, loaded.stage_param)),
        facts=facts,
        kernel_cu=kernel_cu,
        snapshots=snapshots.pack(recorder.snapshots),
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
    module: Any, arch: str, configs: dict[str, Scalar], recorder: ModuleRecorder | None
) -> str:
    """TVM's own lowering to CUDA text; no GPU and no nvcc.  ``recorder`` observes it."""
    target = tvm.target.Target({"kind": "cuda", "arch": arch})
    settings = {key: value for key, value in configs.items() if key != PIPELINE}
    with (
        plain_instruments(recorder, _WRAPPERS) as instruments,
        tvm.transform.PassContext(opt_level=3, config=settings, instruments=instruments),
    ):
        built = tvm.compile(module, target=target, tir_pipeline=configs[PIPELINE])
    imported = list(built.mod.imports)
    if not imported:
        raise NoDeviceCodeError("the module was lowered, and nothing in it runs on the device")
    return ir.text_of(imported[0].inspect_source())


def observe(recorder: ModuleRecorder) -> Observation:
    """Read everything that one lowering left: the final device IR, host IR, passes, warnings."""
    functions = [
        (str(name.name_hint), function)
        for name, function in recorder.device_module.functions.items()
        if isinstance(function, tirx.PrimFunc)
    ]
    name, function = functions[0]
    descriptors = read_descriptors(recorder.first_module)
    tensors = read_tensors(_host(recorder.first_module), function, descriptors, TENSOR_OPS)
    history = recorder.history
    profilers = read_profilers(_host(recorder.first_module), function)
    return Observation(
        kernel=read_device_function(name, function, descriptors, tensors, history.rings, profilers),
        other_kernels=tuple(other for other, _ in functions[1:]),
        requests=history.requests(),
        buffers=history.buffers(),
        passes=tuple(recorder.passes),
        warnings=compiler_warnings(),
    )


def _host(module: Any) -> Any:
    """The function as its author wrote it (the first of several)."""
    return next(f for f in module.functions.values() if isinstance(f, tirx.PrimFunc))


def _configs(request: LowerRequest, loaded: LoadedModule | None) -> dict[str, Scalar]:
    """All pass configs, and which pipeline they are for."""
    known = (str(key) for key in tvm.transform.PassContext.list_configs())
    declared = loaded.pass_configs if loaded else {}
    merged = replies.merge_pass_configs((*known, PIPELINE), declared, request.pass_configs)
    pipeline = merged.get(PIPELINE)
    if pipeline is not None and pipeline not in _PIPELINES:
        raise UsageError(
            f"{PIPELINE} is {pipeline!r}", hint=f"it is one of {', '.join(_PIPELINES)}"
        )
    if pipeline is None and loaded is not None:
        merged[PIPELINE] = _written_for(loaded.module)
    return dict(sorted(merged.items()))


def _written_for(module: Any) -> str:
    """S-TIR's functions say so (``T.prim_func(s_tir=True)``, schedules, ``te``)."""
    functions = [f for f in module.functions.values() if isinstance(f, tirx.PrimFunc)]
    scheduled = any(f.attrs is not None and "s_tir" in f.attrs for f in functions)
    return "s_tir" if scheduled else "tirx"


def _raised(
    exc: Exception,
    request: LowerRequest,
    loaded: LoadedModule | None,
    files: list[str],
    recorder: ModuleRecorder,
) -> Raised:
    configs = dict(request.pass_configs)
    with contextlib.suppress(UsageError):
        configs = _configs(request, loaded)
    seen = (loaded.params, loaded.stage_param) if loaded else None
    return replies.raised(
        exc,
        request,
        replies.variant_of(request, COMPILER, configs, seen),
        loaded=loaded is not None,
        files=files,
        open_passes=recorder.open_passes,
        notes=(),
    )


sys.setrecursionlimit(max(sys.getrecursionlimit(), 10_000))  # IR nests deeper than Python's default
