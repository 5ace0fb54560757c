"""Questions for the GPU, at import and while building."""

# Written as users write kernels, not as we write Python.
# ruff: noqa: BLE001, N803, T201

import tilelang
import torch
from tilelang import tvm
from tilelang.carver.arch import driver
from tilelang.contrib import nvcc
from tiny import build

HAS_GPU = torch.cuda.is_available()


def by_capability(N: int = 256, num_stages: int = 2):
    major, minor = torch.cuda.get_device_capability()
    return build(N * major + 64 * minor, 64, num_stages)


def by_sms(num_stages: int = 2):
    props = torch.cuda.get_device_properties(torch.cuda.current_device())
    return build(64 * props.multi_processor_count, 64, num_stages)


def by_driver(num_stages: int = 2):
    return build(64 * driver.get_num_sms(), 64, num_stages)


def by_attribute(num_stages: int = 2):
    return build(driver.get_max_dynamic_shared_size_bytes(), 64, num_stages)


def by_tvm(num_stages: int = 2):
    device = tvm.cuda(0)
    assert device.exist
    return build(64 * device.multi_processor_count, 64, num_stages)


def by_target(num_stages: int = 2):
    version = nvcc.get_target_compute_version()
    target = tilelang.backend.target.determine_target("auto", return_object=True)
    return build(64 * int(version.split(".")[0]) * len(str(target.attrs["arch"])), 64, num_stages)


def by_carver(num_stages: int = 2):
    arch = tilelang.carver.arch.CUDA("cuda")
    return build(64 * arch.compute_max_core, 64, num_stages)


def by_unknown(num_stages: int = 2):
    props = torch.cuda.get_device_properties(0)
    assert getattr(props, "gcnArchName", "none") == "none"
    return build(props.clock_rate, 64, num_stages)


def allocating(num_stages: int = 2):
    torch.empty(4, device="cuda")
    return build(256, 64, num_stages)


def timing(num_stages: int = 2):
    torch.cuda.Event(enable_timing=True)
    return build(256, 64, num_stages)


def benchmarking(num_stages: int = 2):
    kernel = tilelang.compile(build(256, 64, num_stages))
    print(len(kernel.get_kernel_source()))
    kernel.get_profiler()
    return kernel


def guarded(num_stages: int = 2):
    try:
        torch.zeros(4).cuda()
    except Exception:
        return build(256, 64, num_stages)
    return None
