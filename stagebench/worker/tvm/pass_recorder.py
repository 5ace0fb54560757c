"""Which modules of one lowering by Apache TVM do we read: the author's and the device's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stagebench.worker.tir.pass_events import PassEvent
from stagebench.worker.tir.pass_recorder import PassRecorder
from stagebench.worker.tvm.chosen_kernel import functions_of
from stagebench.worker.tvm.pipeline_history import ModuleHistory

LAUNCH_PARAMS = "tirx.kernel_launch_params"
"""A device function's attribute: what the last arguments of its launch are."""
_CONVENTION, _KERNEL_LAUNCH = "calling_conv", 2
"""``CallingConv::kDeviceKernelLaunch`` of ``tvm/ir/function.h``."""


class ModuleRecorder(PassRecorder[ModuleHistory]):
    """Records the passes, and keeps three modules.

    The first one, the first one in which the host launches what runs on the device, and the last
    one that is all device code.
    """

    def __init__(self, report_pass: Callable[[str], None]) -> None:
        super().__init__(report_pass, ModuleHistory())
        self.first_module: Any = None
        self.launching_module: Any = None

    def pass_started(self, mod: Any, event: PassEvent) -> Any:
        """Keep the module that comes first."""
        if self.first_module is None:
            self.first_module = mod
        return super().pass_started(mod, event)

    def pass_finished(self, mod: Any, event: PassEvent, state: Any) -> None:
        """Keep what code is generated from: the host's passes may run after the device's."""
        super().pass_finished(mod, event, state)
        with self.reading(event.name):
            if _is_device(mod):
                self.device_module = mod
            elif self.launching_module is None and any(
                map(is_launched, functions_of(mod).values())
            ):
                self.launching_module = mod

    def codegen(self, name: str, mod: Any, generate: Callable[[], Any]) -> Any:
        """TVM announces none: ``mod`` is what the last pass left, on whichever side."""
        del name, mod
        return generate()


def is_launched(function: Any) -> bool:
    """Whether the host launches a function; an author may say with what before any pass runs."""
    attrs = function.attrs
    if attrs is None or LAUNCH_PARAMS not in attrs or _CONVENTION not in attrs:
        return False
    return int(attrs[_CONVENTION]) == _KERNEL_LAUNCH


def _is_device(mod: Any) -> bool:
    """Whether every function of a module is one that the host launches."""
    launched = _launched(mod)
    return bool(launched) and all(launched)


def _launched(mod: Any) -> list[bool]:
    return [is_launched(function) for function in functions_of(mod).values()]
