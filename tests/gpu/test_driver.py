"""Is no return code overlooked, and does every refusal of the machine say what to do?"""

import pytest

from stagebench.errors import MachineError
from stagebench.gpu.device import read_device, runs_on
from stagebench.gpu.driver import Driver, DriverError, check_driver
from tests.gpu.fake_driver import RESULT, FakeApi


def test_a_code_becomes_an_error_with_the_drivers_name():
    """Any code but success raises, with the function and the driver's own name."""
    driver = Driver(FakeApi(faults={"cuMemAlloc": RESULT.CUDA_ERROR_OUT_OF_MEMORY}))
    with pytest.raises(DriverError, match="cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY") as raised:
        driver.call("cuMemAlloc", 8)
    assert (raised.value.call, raised.value.name) == ("cuMemAlloc", "CUDA_ERROR_OUT_OF_MEMORY")


@pytest.mark.parametrize(
    ("code", "sticky"),
    [
        (RESULT.CUDA_ERROR_ILLEGAL_ADDRESS, True),
        (RESULT.CUDA_ERROR_ASSERT, True),
        (RESULT.CUDA_ERROR_LAUNCH_FAILED, True),
        (RESULT.CUDA_ERROR_OUT_OF_MEMORY, False),
        (RESULT.CUDA_ERROR_INVALID_VALUE, False),
    ],
)
def test_sticky_errors(code, sticky):
    """A fault of a kernel loses the context; a refused call does not."""
    with pytest.raises(DriverError) as raised:
        Driver(FakeApi(faults={"cuCtxSynchronize": code})).call("cuCtxSynchronize")
    assert raised.value.sticky is sticky


@pytest.mark.parametrize(
    ("api", "said", "hint"),
    [
        (FakeApi(faults={"cuInit": RESULT.CUDA_ERROR_NO_DEVICE}), "CUDA_ERROR_NO_DEVICE", "nvidia"),
        (FakeApi(version=11_080), "for CUDA 11.8, 12.0 is needed", "update"),
        (FakeApi(devices=0), "sees no device", "CUDA_VISIBLE_DEVICES"),
    ],
)
def test_a_machine_that_will_not_do(api, said, hint):
    """No device, a driver that is too old: the message says which, the hint what next."""
    with pytest.raises(MachineError, match=said) as raised:
        check_driver(Driver(api))
    assert hint in raised.value.hint


def test_no_driver():
    """Bindings that find no libcuda are no crash."""

    class NoLibrary:
        @staticmethod
        def cuInit(_):  # noqa: N802 - the driver's name
            raise RuntimeError("Failed to dlopen libcuda.so.1")

    with pytest.raises(MachineError, match="no CUDA driver on this machine"):
        check_driver(Driver(NoLibrary()))


def test_the_device_is_read_and_never_set():
    """Facts of the device are as the driver has them; what it does not say is not known."""
    api = FakeApi()
    device = read_device(Driver(api))
    assert (device.name, device.compute_capability, device.sms) == ("Fake GPU", (9, 0), 4)
    assert (device.clock_khz, device.memory_clock_khz) == (1_980_000, None)
    assert not [name for name in api.names() if "Set" in name]


@pytest.mark.parametrize(
    ("arch", "capability", "runs"),
    [
        ("sm_90a", (9, 0), True),
        ("sm_90a", (9, 1), False),
        ("sm_80", (8, 6), True),
        ("sm_86", (8, 0), False),
        ("sm_80", (9, 0), False),
        ("sm_100f", (10, 3), True),
        ("sm_103a", (10, 0), False),
        ("compute_90", (9, 0), False),
    ],
)
def test_which_cubin_runs_where(arch, capability, runs):
    """The compatibility rules of the CUDA Programming Guide."""
    assert runs_on(arch, capability) is runs
