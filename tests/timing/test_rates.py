"""What of the device's best was reached: by value, and what is not known."""

from types import SimpleNamespace

import pytest

from stagebench.machine.arithmetic import Traffic, arithmetic
from stagebench.model.timing import Measurement
from stagebench.timing.rates import find_device, rates

WGMMA = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16"


def machine(executed):
    grid = {name: 64 * count for name, count in executed.items()}
    traffic = Traffic(moved_bytes=None, tensor_bytes=[2 << 20] * 3)
    work = arithmetic("sm_90a", executed, grid, traffic)
    return SimpleNamespace(arithmetic=work)


def taking(microseconds):
    return Measurement(
        median_us=microseconds, low_us=microseconds, high_us=microseconds, runs=50, level=0.95
    )


def test_a_gemm():
    """2·1024³ FLOPs in 10 µs are 21.7 % of 989.4 TFLOP/s, 6 MiB are 13.1 % of 4.8 TB/s."""
    found = rates(machine({WGMMA: 128}), "NVIDIA H200", taking(10.0))
    assert (found.tera_flops, found.of_peak, found.of_bandwidth) == (214.7, 0.217, 0.131)


def test_without_matrix_instructions_there_is_no_rate():
    """Other arithmetic is not counted: no 0 TFLOP/s is claimed."""
    found = rates(machine({}), "NVIDIA H200", taking(10.0))
    assert (found.tera_flops, found.of_peak, found.of_bandwidth) == (None, None, 0.131)


@pytest.mark.parametrize(
    ("name", "device"),
    [("NVIDIA H200", "H200 SXM"), ("NVIDIA A100-SXM4-80GB", "A100 80GB SXM"), ("NVIDIA H20", None)],
)
def test_the_device_by_its_model(name, device):
    """H20 is no H200."""
    found = find_device(name)
    assert (None if found is None else found.name) == device


def test_no_time_no_rate():
    """Nothing is claimed of what was not timed, or not assembled."""
    assert rates(machine({WGMMA: 128}), "NVIDIA H200", None) is None
    assert rates(None, "NVIDIA H200", taking(1.0)) is None
