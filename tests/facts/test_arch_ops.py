"""Is an instruction that the architecture lacks told, and one that it has never?"""

import pytest

from stagebench.facts.arch_ops import not_on_arch
from tests.facts.building import observation, ops_of, site


def told(arch, *ops):
    found = not_on_arch(ops_of(observation(*(site(op) for op in ops))), arch)
    assert {(one.severity, one.code) for one in found} <= {("error", "not-on-this-arch")}
    return [one.message for one in found]


@pytest.mark.parametrize(
    ("arch", "op", "since"),
    [
        ("sm_80", "tma_load", "sm_90"),
        ("sm_89", "mbarrier_expect_tx", "sm_90"),
        ("sm_75", "cp_async_copy", "sm_80"),
        ("sm_90a", "tcgen05_mma", "sm_100"),
        ("sm_90a", "tma_load", None),
        ("sm_80", "mbarrier_wait", None),
        ("sm_120a", "tma_load", None),
        ("sm_70", "syncthreads", None),
        ("sm_70", "unknown:tma_load", None),
    ],
)
def test_each_from_its_architecture_on(arch, op, since):
    """By number: sm_100 is newer than sm_90."""
    found = told(arch, op)
    assert [text.partition(" on)")[0] for text in found] == (
        [f"{arch} has no {op} (from {since}"] if since else []
    )


def test_one_line_for_what_an_architecture_brought():
    """Every op once, however many sites it has."""
    (said,) = told("sm_80", "tma_load", "tma_load", "mbarrier_init", "mbarrier_expect_tx")
    assert said == (
        "sm_80 has no tma_load, mbarrier_expect_tx (from sm_90 on): the kernel can't be assembled, "
        "and the compiler did not say so"
    )
