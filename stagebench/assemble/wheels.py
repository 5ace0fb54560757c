"""Where in this environment do the CUDA wheels keep their programs, libraries and headers?

Asks the distributions' metadata alone: nothing of theirs is imported or started.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from stagebench.errors import MachineError

INSTALL = "pip install 'stagebench[cuda]'"


@dataclass(frozen=True, kw_only=True)
class Wheel:
    """A distribution, what we need it for, and the path in ``nvidia/cuNN`` that shows it whole."""

    name: str
    purpose: str
    holds: str | None


BINDINGS = Wheel(name="cuda-bindings", purpose="calls NVRTC", holds=None)
NVRTC = Wheel(
    name="nvidia-cuda-nvrtc", purpose="compiles CUDA to PTX", holds="lib/libnvrtc.so.{major}"
)
RUNTIME = Wheel(
    name="nvidia-cuda-runtime",
    purpose="headers that generated CUDA includes",
    holds="include/cuda_runtime.h",
)
CCCL = Wheel(
    name="nvidia-cuda-cccl", purpose="headers that generated CUDA includes", holds="include/cccl"
)
CRT = Wheel(
    name="nvidia-cuda-crt", purpose="headers that generated CUDA includes", holds="include/crt"
)
PTXAS = Wheel(name="nvidia-cuda-nvcc", purpose="ptxas: assembles PTX", holds="bin/ptxas")
NVDISASM = Wheel(
    name="nvidia-cuda-nvdisasm", purpose="nvdisasm: disassembles", holds="bin/nvdisasm"
)
COMPILER_WHEELS = (BINDINGS, NVRTC, RUNTIME, CCCL, CRT)
ALL_WHEELS = (*COMPILER_WHEELS, PTXAS, NVDISASM)


@dataclass(frozen=True, kw_only=True)
class FoundWheel:
    """An installed wheel; ``root`` is the folder ``nvidia/cuNN`` that CUDA wheels share."""

    name: str
    version: str
    root: Path


def find_wheel(wheel: Wheel) -> FoundWheel | None:
    """The installed wheel, if it is whole and of CUDA 13 or later (``nvidia/cu13``)."""
    try:
        distribution = metadata.distribution(wheel.name)
    except metadata.PackageNotFoundError:
        return None
    major = distribution.version.partition(".")[0]
    root = Path(str(distribution.locate_file("nvidia"))) / f"cu{major}"
    if wheel.holds is not None and not (root / wheel.holds.format(major=major)).exists():
        return None
    return FoundWheel(name=wheel.name, version=distribution.version, root=root)


def need_wheels(*wheels: Wheel) -> tuple[FoundWheel, ...]:
    """All of them; `MachineError` names every one that is missing."""
    found = [find_wheel(wheel) for wheel in wheels]
    missing = [
        f"{wheel.name} ({wheel.purpose})"
        for wheel, there in zip(wheels, found, strict=True)
        if there is None
    ]
    if missing:
        raise MachineError(
            f"kernels can't be assembled here: {', '.join(missing)} "
            f"{'is' if len(missing) == 1 else 'are'} not installed",
            hint=INSTALL,
        )
    return tuple(there for there in found if there is not None)
