"""How is a kernel's PrimFunc had when the file itself compiles it, launches nothing and tunes?

Files call ``tilelang.compile(f)``, a ``@tilelang.jit`` function or an ``@autotune`` one, at import
or inside the function that builds the kernel.  While a kernel loads, all of these end at
`JITKernel` objects that hold their PrimFunc and nothing compiled; a launch or a benchmark of one
is an error that names the line.  ``@autotune`` takes its first config (``autotune``).

Source: tilelang 0.1.15, ``tilelang.jit.compile`` and ``JITImpl.compile`` end at the module global
``tilelang.jit.cached``; ``AutoTuneImpl.__call__`` and ``AutoTuner.run`` end at a benchmark.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from tilelang.jit.kernel import JITKernel

from stagebench.worker.loading.notes import Notes
from stagebench.worker.loading.user_tree import UserTree
from stagebench.worker.tilelang.autotune import RESERVED_KEY, first_config
from stagebench.worker.tilelang.gpu_needed import gpu_needed
from stagebench.worker.tilelang.offer import Offer
from stagebench.worker.tilelang.replaced import replace
from stagebench.worker.tilelang.signature import Signature, bind, signature_of

_NOT_COMPILED = "// not compiled: stagebench lowers this kernel itself\n"
_TEXT = ("get_kernel_source", "get_host_source", "get_ptx", "get_sass", "_get_ptx", "_get_sass")
_TEXT_PROPERTIES = ("kernel_source", "host_source")
_SILENT = ("show_source", "show_ptx", "show_sass", "print_source_code")
_LAUNCHES = ("run_once", "get_profiler")
_EXPORTS = ("export_sources", "export_library", "export_ptx", "export_sass")


class _Seams:
    def __init__(self, tree: UserTree, notes: Notes, offer: Offer) -> None:
        self._tree = tree
        self._notes = notes
        self._offer = offer

    def hold(self, kernel: Any, func: Any = None, *args: Any, **kwargs: Any) -> None:
        """Stand in for ``JITKernel.__init__``: keep what was asked for, compile nothing."""
        kernel.prim_func = func
        kernel.pass_configs = dict(kwargs.get("pass_configs") or {})
        kernel.compile_flags = kwargs.get("compile_flags")
        kernel.target = kwargs.get("target")
        kernel.uncompiled_place = self._tree.current_line()
        kernel.uncompiled_out_idx = args[0] if args else kwargs.get("out_idx")

    def cached(self, func: Any = None, out_idx: Any = None, *_: Any, **kwargs: Any) -> Any:
        """Stand in for ``tilelang.jit.cached`` and ``tilelang.cache.cached``."""
        return JITKernel(func, out_idx, **kwargs)

    def refuse(self, what: str) -> Callable[..., Any]:
        """Make a method that can't work without a compiled kernel."""

        def refused(*_args: object, **_kwargs: object) -> object:
            raise gpu_needed(self._tree, what)

        return refused

    def tune(self, tuned: Any, *args: Any, **kwargs: Any) -> Any:
        """Stand in for ``AutoTuneImpl.__call__``: the user's values, then the first config's."""
        return_kernel = kwargs.pop("__return_kernel", False)
        impl = tuned.jit_impl
        signature = signature_of("the tuned kernel", impl)
        called = impl.signature.bind_partial(*args, **kwargs).arguments
        config = first_config(tuned.configs, called, signature.names)
        lacking = self._lacking(signature, called, config)
        mode = impl.initialize_jit_mode(*args, **kwargs, **lacking)
        kernel = impl.compile(*args, **kwargs, **lacking)
        kernel.pass_configs.update(config.get(RESERVED_KEY) or {})
        return kernel if mode == "lazy" or return_kernel else kernel()

    def run_tuner(self, tuner: Any, *_args: object, **_kwargs: object) -> Any:
        """Stand in for ``AutoTuner.run``: the user's values, then the first config's."""
        from tilelang.autotuner.param import AutotuneResult

        signature = signature_of("the tuned kernel", tuner.fn)
        config = first_config(tuner.configs, {}, signature.names)
        arguments = self._lacking(signature, {}, config)
        made = tuner.fn(**arguments)
        kernel = made if isinstance(made, JITKernel) else JITKernel(made)
        kernel.pass_configs.update(config.get(RESERVED_KEY) or {})
        return AutotuneResult(
            latency=None,
            config=arguments,
            ref_latency=None,
            libcode=_NOT_COMPILED,
            func=kernel.prim_func,
            kernel=kernel,
        )

    def _lacking(
        self, signature: Signature, called: Mapping[str, Any], config: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Find the arguments that a call lacks, and note those that come from the config."""
        given = {k: v for k, v in self._offer.given.items() if k not in called}
        bound = bind(signature, given, {**config, **called})
        self._offer.record(bound.values, bound.used)
        taken = {k: v for k, v in config.items() if k != RESERVED_KEY and k not in called}
        taken = {k: v for k, v in taken.items() if k not in bound.used}
        self._note_config(taken)
        return {k: bound.values[k] for k in (*bound.used, *taken) if k in bound.values}

    def _note_config(self, taken: dict[str, Any]) -> None:
        if taken:
            shown = ", ".join(f"{name}={value!r}" for name, value in taken.items())
            self._notes.add(
                "autotune-config-used",
                f"not tuned: the first autotune config gave {shown}",
                self._tree.current_line(),
            )


@contextmanager
def compiling_nothing(tree: UserTree, notes: Notes, offer: Offer) -> Iterator[None]:
    """Make every compile of the user's file return an uncompiled kernel while this is open."""
    seams = _Seams(tree, notes, offer)
    with ExitStack() as stack:
        for module in ("tilelang.jit", "tilelang.cache"):
            if module in sys.modules:
                replace(stack, sys.modules[module], "cached", seams.cached)
        _hold_kernels(stack, seams)
        tuner = sys.modules.get("tilelang.autotuner.tuner")
        if tuner is not None:
            replace(stack, tuner.AutoTuneImpl, "__call__", _method(seams.tune))
            replace(stack, tuner.AutoTuner, "run", _method(seams.run_tuner))
            replace(stack, tuner.AutoTuner, "set_compile_args", lambda this, **_kwargs: this)
        yield


def _hold_kernels(stack: ExitStack, seams: _Seams) -> None:
    replace(stack, JITKernel, "__init__", _method(seams.hold))
    replace(stack, JITKernel, "__call__", seams.refuse("launches a kernel"))
    for name in _LAUNCHES:
        replace(stack, JITKernel, name, seams.refuse(f"runs a kernel ({name})"))
    for name in _EXPORTS:
        replace(stack, JITKernel, name, seams.refuse(f"needs a compiled kernel ({name})"))
    for name in _TEXT:
        replace(stack, JITKernel, name, lambda *_args, **_kwargs: _NOT_COMPILED)
    for name in _SILENT:
        replace(stack, JITKernel, name, lambda *_args, **_kwargs: None)
    for name in _TEXT_PROPERTIES:
        replace(stack, JITKernel, name, _NOT_COMPILED)
    replace(stack, JITKernel, "out_idx", property(lambda this: this.uncompiled_out_idx))


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a plain function of a bound method, to be looked up on a class."""

    def method(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return method
