"""Theoretical occupancy, by hand and as cuda_occupancy.h of CUDA 13.0 computes it."""

import pytest

from stagebench.errors import UsageError
from stagebench.machine.occupancy import occupancy

_KIB = 1024


@pytest.mark.parametrize(
    ("case", "ctas", "limiters"),
    [
        # by hand: 228 KiB / (96 KiB + 48 + 1 KiB, in 128) = 2; 65536 / (168 · 384) = 1
        (("sm_90a", 384, 168, 48, 96 * _KIB), 1, ("registers",)),
        # the built-in GEMM on Ampere, depth 3: 164 KiB / 97 KiB = 1; 4 warps · 228 registers: 2
        (("sm_80", 128, 228, 0, 96 * _KIB), 1, ("shared_memory",)),
        # Static memory over 48 KiB can't be had, but on an architecture-specific target
        (("sm_80", 128, 32, 48 * _KIB, 0), 3, ("shared_memory",)),
        (("sm_80", 128, 32, 48 * _KIB + 1, 0), 0, ("shared_memory",)),
        (("sm_90", 128, 32, 100 * _KIB, 0), 0, ("shared_memory",)),
        (("sm_90a", 128, 32, 100 * _KIB, 0), 2, ("shared_memory",)),
        # 2048 threads in CTAs of 256: 8; 32 registers · 32 · 64 warps = all 65536
        (("sm_80", 256, 32, 0, 0), 8, ("registers", "threads")),
        # 33 registers are 1280 a warp (units of 256), 12 warps a sub-partition: 6 CTAs of 8
        (("sm_80", 256, 33, 0, 0), 6, ("registers",)),
        (("sm_80", 32, 16, 0, 0), 32, ("ctas",)),
        (("sm_86", 32, 16, 0, 0), 16, ("ctas",)),
        (("sm_89", 64, 40, 0, 0), 24, ("registers", "threads", "ctas")),
        # 1 KiB is the system's: 2 · (50 KiB + 1 KiB) > 100 KiB, 2 · (49 + 1) is not
        (("sm_89", 128, 32, 0, 50 * _KIB), 1, ("shared_memory",)),
        (("sm_89", 128, 32, 0, 49 * _KIB), 2, ("shared_memory",)),
        # one byte more is 128 more
        (("sm_89", 128, 32, 1, 49 * _KIB), 1, ("shared_memory",)),
        # the limit itself fits, a byte more does not
        (("sm_90", 128, 32, 0, 227 * _KIB), 1, ("shared_memory",)),
        (("sm_90", 128, 32, 1, 227 * _KIB), 0, ("shared_memory",)),
        # 1024 threads can't have 65 registers each
        (("sm_100a", 1024, 64, 0, 0), 1, ("registers",)),
        (("sm_100a", 1024, 65, 0, 0), 0, ("registers",)),
        # the launch check fills every sub-partition: 5 warps of 255 count as 8
        (("sm_80", 160, 255, 0, 0), 1, ("registers",)),
        (("sm_80", 288, 255, 0, 0), 0, ("registers",)),
        (("sm_120", 1025, 32, 0, 0), 0, ("threads",)),
        (("sm_80", 128, 256, 0, 0), 0, ("registers",)),
    ],
)
def test_ctas_and_what_limits_them(case, ctas, limiters):
    """Whole CTAs, and every resource that allows no more."""
    found = occupancy(*case)
    assert (found.ctas_per_sm, found.limiters) == (ctas, limiters)
    assert found.warps_per_sm == ctas * -(-case[1] // 32)


def test_no_registers_limit_nothing():
    """A count of 0 divides nothing."""
    assert occupancy("sm_80", 64, 0, 0, 0).limiters == ("threads", "ctas")


def test_barriers_limit_from_hopper_on():
    """64 named barriers for an SM's CTAs: of 16 each 4 fit; an Ampere SM isn't limited."""
    found = occupancy("sm_90a", 64, 32, 0, 0, barriers=16)
    assert (found.ctas_per_sm, found.limiters) == (4, ("barriers",))
    assert occupancy("sm_80", 64, 32, 0, 0, barriers=16).ctas_per_sm == 32
    assert occupancy("sm_90a", 64, 32, 0, 0).ctas_per_sm == 32


def test_an_unknown_arch_is_not_guessed():
    """``None``, not another arch's answer."""
    assert occupancy("sm_75", 128, 32, 0, 0) is None


@pytest.mark.parametrize(
    "case", [(0, 32, 0, 0), (-32, 32, 0, 0), (128, -1, 0, 0), (128, 32, 0, -1)]
)
def test_nonsense_is_refused(case):
    """No thread, or less than nothing of a resource, is the caller's mistake."""
    with pytest.raises(UsageError, match="no occupancy of"):
        occupancy("sm_80", *case)
