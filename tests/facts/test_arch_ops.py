"""Is an instruction that the architecture lacks told, and one that it has never?"""

import pytest

from stagebench.facts.arch import SHARED_MEMORY_LIMIT_BYTES
from stagebench.facts.arch_ops import NEEDS, not_on_arch
from stagebench.model.facts import SYNC_OPS
from tests.facts.building import observation, ops_of, site


def told(arch, *ops):
    found = not_on_arch(ops_of(observation(*(site(op) for op in ops))), arch)
    assert {(one.severity, one.code) for one in found} <= {("error", "not-on-this-arch")}
    return [one.message for one in found]


def test_every_op_of_the_taxonomy_has_its_architectures():
    """A new word needs a line in the table; no line is of a word that there is not."""
    assert sorted(NEEDS) == sorted(SYNC_OPS)
    assert all(
        needs.archs and needs.archs <= set(SHARED_MEMORY_LIMIT_BYTES) for needs in NEEDS.values()
    )


@pytest.mark.parametrize(
    ("op", "lack"),
    [
        ("cp_async_copy", "sm_70 sm_75"),
        ("mbarrier_wait", "sm_70 sm_75"),
        ("tma_load", "sm_70 sm_75 sm_80 sm_86 sm_87 sm_89"),
        ("mbarrier_expect_tx", "sm_70 sm_75 sm_80 sm_86 sm_87 sm_89"),
        ("mma_sync", ""),
        ("syncthreads", ""),
        ("unknown:tma_load", ""),
    ],
)
def test_what_came_with_an_architecture_stayed(op, lack):
    """By number: sm_100 is newer than sm_90, and sm_120 has TMA."""
    archs = SHARED_MEMORY_LIMIT_BYTES
    assert [arch for arch in archs if told(arch, op)] == lack.split()


@pytest.mark.parametrize(
    ("op", "have"),
    [
        ("wgmma", "sm_90a"),
        ("wgmma_wait", "sm_90a"),
        ("tcgen05_mma", "sm_100a sm_103a sm_110a"),
        ("tcgen05_fence", "sm_100a sm_103a sm_110a"),
        ("setmaxnreg", "sm_90a sm_100a sm_103a sm_110a sm_120a sm_121a"),
    ],
)
def test_what_is_bound_to_an_architecture_is_in_no_other(op, have):
    """Neither in the plain one of that number nor in a newer one (wgmma on sm_100a)."""
    archs = SHARED_MEMORY_LIMIT_BYTES
    assert [arch for arch in archs if not told(arch, op)] == have.split()


def test_of_an_unknown_architecture_nothing_is_said():
    """What sm_107a has is not in the table; sm_90 is."""
    assert told("sm_107a", "wgmma", "tcgen05_mma") == []


def test_one_line_for_what_is_said_alike():
    """Every op once, however many sites it has."""
    lost = "the kernel can't be assembled, and the compiler did not say so"
    ops = ["tma_load", "tma_load", "mbarrier_init", "wgmma", "mbarrier_expect_tx", "setmaxnreg"]
    assert told("sm_80", *ops) == [
        f"sm_80 has no tma_load, mbarrier_expect_tx (from sm_90 on): {lost}",
        f"sm_80 has no wgmma (only in sm_90a): {lost}",
        "sm_80 has no setmaxnreg (only in sm_90a, sm_100a, sm_103a, sm_110a, sm_120a, sm_121a): "
        + lost,
    ]
