"""What does a kernel's file learn when it asks for the GPU?  What the chosen arch says.

Files ask at import and while they build: is there a GPU, which capability, how many SMs?  The
answer is the chosen arch's (``devices``), also on a machine that has another GPU, so that the same
request gives the same kernel everywhere.  Each answer to the user's own line is noted.  What the
arch does not determine, and everything that would run on the GPU, is an error that names the line.

Not handled: programs that the file starts (``nvidia-smi``), NVML, Triton's driver, the CUDA
runtime called through ctypes.  They fail as they do on any machine without a GPU.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from types import ModuleType
from typing import Any

import torch
from tilelang import tvm

from stagebench.facts.arch import capability_of
from stagebench.worker.loading.notes import Notes
from stagebench.worker.loading.user_tree import UserTree
from stagebench.worker.tilelang.devices import Device, device_of
from stagebench.worker.tilelang.gpu_needed import gpu_needed, unknown_property
from stagebench.worker.tilelang.replaced import replace

_CUDA_DEVICE_TYPE = 2  # DLDeviceType.kDLCUDA, dlpack.h
_SMEM_PER_BLOCK_BYTES = 48 * 1024  # without opting in, on every arch
_WARP_SIZE = 32
_THREADS_PER_BLOCK = 1024
_REGISTERS = 65536


class GpuProbes:
    """Answers for one arch."""

    def __init__(self, arch: str, tree: UserTree, notes: Notes) -> None:
        self._arch = arch
        self._capability = capability_of(arch)
        self._device = device_of(arch)
        self._tree = tree
        self._notes = notes

    def note(self, asked: str, answer: object) -> None:
        """Note the answer to a question of the user's own line."""
        place = self._tree.current_line()
        if place is not None:
            self._notes.add(
                "gpu-probe-answered", f"{asked} was answered with {answer} for {self._arch}", place
            )

    def answer(self, asked: str, value: object) -> Callable[..., Any]:
        """Make a function that answers ``value`` whatever its arguments."""

        def probe(*_args: object, **_kwargs: object) -> object:
            self.note(asked, value)
            return value

        return probe

    def device(self, asked: str) -> Device:
        """Return the representative device; an error that names the line where there is none."""
        if self._device is None:
            what = f"asks for {asked}, and no device is known for {self._arch}"
            raise unknown_property(self._tree, what)
        return self._device

    def device_name(self, *_args: object, **_kwargs: object) -> str:
        """Answer ``torch.cuda.get_device_name``."""
        name = self.device("the GPU's name").name
        self.note("torch.cuda.get_device_name", name)
        return name

    def device_properties(self, *_args: object, **_kwargs: object) -> DeviceProperties:
        """Answer ``torch.cuda.get_device_properties``."""
        return DeviceProperties(self, self._tree, self._capability)

    def lazy_init(self, *_args: object, **_kwargs: object) -> None:
        """Refuse ``torch.cuda._lazy_init``: all that touches a GPU through torch comes by here."""
        raise gpu_needed(self._tree, "uses the GPU through torch (a CUDA tensor, stream or event)")

    def tvm_attribute(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Answer ``tvm.runtime.Device``'s attributes, by ``tvm::runtime::DeviceAttrKind``."""

        def probe(this: object, device_type: int, device_id: int, kind: int) -> object:
            if device_type != _CUDA_DEVICE_TYPE:
                return original(this, device_type, device_id, kind)
            if kind == 0:
                self.note("tvm.cuda().exist", answer=True)
                return 1
            name, value = self._tvm_value(kind)
            self.note(f"tvm.cuda().{name}", value)
            return value

        return probe

    def _tvm_value(self, kind: int) -> tuple[str, object]:
        constants: dict[int, tuple[str, object]] = {
            1: ("max_threads_per_block", _THREADS_PER_BLOCK),
            2: ("warp_size", _WARP_SIZE),
            3: ("max_shared_memory_per_block", _SMEM_PER_BLOCK_BYTES),
            4: ("compute_version", f"{self._capability[0]}.{self._capability[1]}"),
        }
        if kind in constants:
            return constants[kind]
        device = self.device("a property of the GPU through tvm")
        known: dict[int, tuple[str, object]] = {
            5: ("device_name", device.name),
            7: ("multi_processor_count", device.sms),
            13: ("l2_cache_size_bytes", device.l2_bytes),
            14: ("total_global_memory", device.memory_bytes),
        }
        if kind not in known:
            what = f"asks tvm for device attribute {kind}, which {self._arch} does not determine"
            raise unknown_property(self._tree, what)
        return known[kind]

    def runtime_attribute(self, attribute: int, _device_id: int = 0) -> int:
        """Answer ``cudaDeviceGetAttribute`` as TileLang's carver calls it (``cudaDeviceAttr``)."""
        device = self.device(f"CUDA device attribute {attribute}")
        known = {
            1: _THREADS_PER_BLOCK,
            12: _REGISTERS,
            16: device.sms,
            38: device.l2_bytes,
            39: device.threads_per_sm,
            75: device.major,
            76: device.minor,
            81: device.smem_per_sm_bytes,
            97: device.smem_optin_bytes,
        }
        if attribute not in known:
            what = f"asks for CUDA device attribute {attribute}, which the arch does not determine"
            raise unknown_property(self._tree, what)
        self.note(f"cudaDeviceGetAttribute({attribute})", known[attribute])
        return known[attribute]


class DeviceProperties:
    """What ``torch.cuda.get_device_properties`` returns: each property is noted when it is read."""

    def __init__(self, probes: GpuProbes, tree: UserTree, capability: tuple[int, int]) -> None:
        self._probes = probes
        self._tree = tree
        self._capability = capability

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        value = self._value(name)
        self._probes.note(f"torch.cuda.get_device_properties().{name}", value)
        return value

    def _value(self, name: str) -> object:
        constants: dict[str, object] = {
            "major": self._capability[0],
            "minor": self._capability[1],
            "warp_size": _WARP_SIZE,
            "max_threads_per_block": _THREADS_PER_BLOCK,
            "regs_per_multiprocessor": _REGISTERS,
            "shared_memory_per_block": _SMEM_PER_BLOCK_BYTES,
            "is_integrated": 0,
            "is_multi_gpu_board": 0,
        }
        if name in constants:
            return constants[name]
        device = self._probes.device(f"the GPU's {name}")
        known: dict[str, object] = {
            "name": device.name,
            "multi_processor_count": device.sms,
            "total_memory": device.memory_bytes,
            "L2_cache_size": device.l2_bytes,
            "shared_memory_per_multiprocessor": device.smem_per_sm_bytes,
            "shared_memory_per_block_optin": device.smem_optin_bytes,
            "max_threads_per_multi_processor": device.threads_per_sm,
        }
        if name not in known:
            what = f"asks for the GPU's {name}, which the arch does not determine"
            raise unknown_property(self._tree, what)
        return known[name]


@contextmanager
def answered_probes(arch: str, tree: UserTree, notes: Notes) -> Iterator[None]:
    """Answer every question for the GPU from ``arch`` while the context is open."""
    probes = GpuProbes(arch, tree, notes)
    drivers = _carver_drivers()  # 0.1.9 asks for the GPU at its import: it must hear of none
    with ExitStack() as stack:
        cuda = torch.cuda
        replace(stack, cuda, "is_available", probes.answer("torch.cuda.is_available", value=True))
        replace(stack, cuda, "device_count", probes.answer("torch.cuda.device_count", 1))
        replace(stack, cuda, "current_device", probes.answer("torch.cuda.current_device", 0))
        replace(stack, cuda, "set_device", probes.answer("torch.cuda.set_device", None))
        replace(
            stack,
            cuda,
            "get_device_capability",
            probes.answer("torch.cuda.get_device_capability", capability_of(arch)),
        )
        replace(stack, cuda, "get_device_name", probes.device_name)
        replace(stack, cuda, "get_device_properties", probes.device_properties)
        replace(stack, cuda, "_lazy_init", probes.lazy_init)
        device_class = tvm.runtime.Device
        original = getattr(device_class, "_GetDeviceAttr", None)
        if original is not None:
            replace(stack, device_class, "_GetDeviceAttr", probes.tvm_attribute(original))
        for driver in drivers:
            # It makes a torch.device of a number, which a torch without CUDA refuses.
            replace(stack, driver, "get_cuda_device_properties", probes.device_properties)
            replace(stack, driver, "get_device_attribute", probes.runtime_attribute)
        yield


def _carver_drivers() -> list[ModuleType]:
    """Import TileLang's driver and the package that re-exports it; 0.1.9 loads them late."""
    package = "tilelang.carver.arch.driver"
    with suppress(ImportError):
        return [importlib.import_module(name) for name in (package, f"{package}.cuda_driver")]
    return []
