"""The tables of SMs and devices, against their sources."""

import pytest

from stagebench.facts.arch import SHARED_MEMORY_LIMIT_BYTES
from stagebench.machine.devices import DEVICES, SM_LIMITS, devices_of, sm_family, sm_limits


def test_arches_of_the_table():
    """The six that occupancy and frontier speak of."""
    assert list(SM_LIMITS) == ["sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"]


@pytest.mark.parametrize("arch", list(SM_LIMITS))
def test_a_ctas_shared_memory_agrees_with_the_lowering_facts(arch):
    """Two tables of the same limit say the same; the system's share makes up the SM's whole."""
    limits = SM_LIMITS[arch]
    assert limits.cta_smem_bytes == SHARED_MEMORY_LIMIT_BYTES[arch]
    assert limits.cta_smem_bytes + limits.smem_reserved_bytes == limits.smem_bytes


@pytest.mark.parametrize(
    ("arch", "warps", "ctas", "smem_kib"),
    [
        ("sm_80", 64, 32, 164),
        ("sm_86", 48, 16, 100),
        ("sm_89", 48, 24, 100),
        ("sm_90a", 64, 32, 228),
        ("sm_100a", 64, 32, 228),
        ("sm_120a", 48, 24, 100),
    ],
)
def test_limits_of_an_sm(arch, warps, ctas, smem_kib):
    """CUDA C++ Programming Guide, technical specifications; the feature letter doesn't matter."""
    limits = sm_limits(arch)
    assert (limits.max_warps, limits.max_ctas, limits.smem_bytes) == (warps, ctas, smem_kib * 1024)


def test_an_unknown_arch_has_no_limits():
    """Not the nearest one's."""
    assert sm_limits("sm_70") is None
    assert devices_of("sm_87") == ()
    assert sm_family("sm_103f") == "sm_103"


def test_devices_of_an_arch():
    """Code for sm_90a is for both Hopper products, in the table's order."""
    assert [device.name for device in devices_of("sm_90a")] == ["H100 SXM", "H200 SXM"]
    assert {device.arch for device in DEVICES} == set(SM_LIMITS)
    assert all(device.source for device in DEVICES)


def test_a_rate_may_depend_on_the_accumulator():
    """GeForce halves f16 with an f32 accumulator; data centre products don't; bf16 has only f32."""
    rates = {device.name: device for device in DEVICES}
    assert rates["RTX 4090"].tera_rate("f16", "f32") == 165.2
    assert rates["RTX 4090"].tera_rate("f16", "f16") == 330.3
    assert rates["RTX 4090"].tera_rate("bf16", "f16") is None
    assert rates["H100 SXM"].tera_rate("bf16", "f32") == 989.4
    assert rates["A100 80GB SXM"].tera_rate("e4m3", "f32") is None


def test_rates_are_dense():
    """A sparse rate is twice as high: f8 is twice f16, never four times."""
    for device in DEVICES:
        eight, sixteen = device.tera_rate("e4m3", "f32"), device.tera_rate("f16", "f32")
        assert eight is None or 1.9 < eight / sixteen < 2.1
