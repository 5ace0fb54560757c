"""Does `--only` choose the same variants in verdicts and in times, and no more than are meant?"""

import functools
from pathlib import Path

import pytest

from stagebench.bundle.selection import chosen
from stagebench.errors import UsageError
from stagebench.timing.recorded import read_recorded
from stagebench.timing.select import select

HOPPER = Path(__file__).parents[2] / "experiments" / "hopper"


@functools.cache
def recorded():
    return read_recorded(HOPPER, print)


@pytest.mark.parametrize(
    ("only", "kernels", "count"),
    [
        (["gemm/sm_90a"], {"gemm"}, 5),
        (["gemm/"], {"gemm"}, 10),
        (["gemm"], {"gemm"}, 10),
        (["dequant"], {"dequant_gemm"}, 10),
        (["gemm/sm_90a", "flash_attention/sm_80/num_stages=2"], {"gemm", "flash_attention"}, 6),
        (["num_stages=4"], {"gemm", "dequant_gemm"}, 4),
    ],
)
def test_one_selection_for_both(only, kernels, count):
    """A sweep's name is not that of another kernel's that ends in it."""
    profile, measured = select(recorded().profile, recorded().measured, only)
    assert {one.variant.kernel for one in profile.variants} == kernels
    assert {sweep.variant.kernel for sweep in measured.sweeps} == kernels
    assert len(profile.variants) == count
    assert sum(len(sweep.timings) for sweep in measured.sweeps) == count
    assert all(len(sweep.rates) == len(sweep.timings) for sweep in measured.sweeps)
    assert {one.case.rpartition("-")[0] for one in profile.libraries} <= kernels
    assert profile.libraries == measured.libraries


def test_what_means_nothing_is_refused():
    """With the names that there are."""
    with pytest.raises(UsageError, match="--only gem/sm_90a: nothing has that") as caught:
        select(recorded().profile, recorded().measured, ["gem/sm_90a"])
    assert "gemm/sm_80, gemm/sm_90a" in caught.value.hint


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("num_stages=1", {1}),
        ("num_stages=1,block=64", {1}),
        ("num_stages=16", {16}),
        ("k.py:gemm/sm_90a", {1, 16}),
        ("gemm", {1, 16}),
        ("emm", {1, 16, 2}),
        ("block=64", {1}),
        ("block=6", {1, 2}),
        ("gemm/", {1, 16}),
        ("sm_80", {2}),
        ("sm_100", set()),
    ],
)
def test_whole_words_before_parts(text, found):
    """A depth is not the longer one that starts like it; a part means what has it."""
    names = {
        1: ["k.py:gemm/sm_90a/num_stages=1,block=64"],
        16: ["k.py:gemm/sm_90a/num_stages=16"],
        2: ["dequant_gemm/sm_80/num_stages=2,block=640"],
    }
    assert chosen(text, names) == found
