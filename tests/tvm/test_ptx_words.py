"""Which operation is an instruction of TIRx's PTX table?  By its words alone; no compiler."""

import pytest

from stagebench.worker.tir.intrinsic import Intrinsic
from stagebench.worker.tvm.ptx_words import Instruction, is_marker, read

TMA = "cp async bulk tensor 2d shared::cluster global mbarrier::complete_tx::bytes"
BULK = "cp async bulk shared::cluster global mbarrier::complete_tx::bytes"


def reading(words, is_barrier_0=False, **operands):
    """What an instruction is that is said by ``words`` and has ``operands`` at these places."""
    return read(Instruction(tuple(words.split()), operands, is_barrier_0))


@pytest.mark.parametrize(
    ("words", "operands", "ops", "args", "constants"),
    [
        ("cp async cg shared global", {"cp_size": 2}, ["cp_async_copy"], {"bytes": 2}, {}),
        ("cp async commit_group", {}, ["cp_async_commit"], {}, {}),
        ("cp async wait_group", {"group": 0}, ["cp_async_wait"], {"max_pending": 0}, {}),
        ("cp async wait_all", {}, ["cp_async_wait"], {}, {"max_pending": 0}),
        (
            TMA, {"dst_mem": 0, "tmap": 1, "coords": 2, "mbar": 4}, ["tma_load"],
            {"barrier": 4, "descriptor": 1}, {},
        ),
        (
            f"{TMA} multicast::cluster", {"tmap": 1, "mbar": 4, "cta_mask": 5}, ["tma_load"],
            {"barrier": 4, "descriptor": 1}, {"mode": "multicast"},
        ),
        (
            BULK, {"dst_mem": 0, "size": 2, "mbar": 3}, ["tma_load"],
            {"barrier": 3, "bytes": 2}, {"mode": "bulk"},
        ),
        ("cp async bulk tensor 2d global shared::cta", {"tmap": 0}, ["tma_store"], {}, {}),
        (
            "cp async bulk shared::cluster shared::cta mbarrier::complete_tx::bytes", {"size": 2},
            ["tma_store"], {"bytes": 2}, {"mode": "cluster"},
        ),
        ("cp async bulk commit_group", {}, ["tma_store_commit"], {}, {}),
        (
            "cp async bulk wait_group read", {"group": 0}, ["tma_store_wait"],
            {"max_pending": 0}, {"read": 1},
        ),
        ("cp async bulk prefetch tensor 2d L2 global tile", {"tmap": 0}, ["tma_prefetch"], {}, {}),
        ("prefetch tensormap", {"addr": 0}, ["tma_prefetch_descriptor"], {"descriptor": 0}, {}),
        (
            "mbarrier arrive expect_tx shared b64", {"addr": 0, "tx_count": 1},
            ["mbarrier_arrive", "mbarrier_expect_tx"], {"barrier": 0, "bytes": 1}, {},
        ),
        (
            "mbarrier try_wait parity shared b64", {"wait_complete": 0, "addr": 1, "phase": 2},
            ["mbarrier_wait"], {"barrier": 1, "parity": 2}, {},
        ),
        ("fence proxy async shared::cta", {}, ["fence_proxy_async"], {}, {}),
        ("fence proxy alias", {}, ["fence_proxy"], {}, {"kind": "alias"}),
        ("fence mbarrier_init release cluster", {}, ["fence_barrier_init"], {}, {}),
        ("fence acq_rel gpu", {}, ["threadfence"], {}, {"scope": "gpu"}),
        ("bar warp sync", {"membermask": 0}, ["warp_sync"], {"mask": 0}, {}),
        ("barrier cluster arrive relaxed", {}, ["cluster_arrive"], {}, {"order": "relaxed"}),
        ("wgmma wait_group sync aligned", {"group": 0}, ["wgmma_wait"], {"max_pending": 0}, {}),
        ("tcgen05 wait::ld sync aligned", {}, ["tcgen05_wait"], {}, {"kind": "ld"}),
        (
            "setmaxnreg dec sync aligned u32", {"nreg": 0}, ["setmaxnreg"],
            {"registers": 0}, {"increase": 0},
        ),
        ("griddepcontrol wait", {}, ["griddepcontrol"], {}, {"kind": "wait"}),
    ],
)  # fmt: skip
def test_what_synchronises(words, operands, ops, args, constants):
    """Op, the places of its arguments, and what the words themselves fix."""
    assert reading(words, **operands) == Intrinsic(tuple(ops), args, constants)


def test_a_barrier_of_the_whole_cta():
    """``bar.sync 0`` is ``__syncthreads``; with a thread count, or of another number, it is not."""
    whole = reading("bar sync", True, a=0)
    assert whole.ops == ("syncthreads",)
    some = Intrinsic(("partial_barrier",), {"barrier_id": 0, "threads": 1})
    assert reading("bar sync", True, a=0, b=1) == some
    assert reading("barrier cta sync aligned", False, a=0).ops == ("partial_barrier",)


@pytest.mark.parametrize(
    "words",
    [
        "add rn f32", "ld global b32", "tcgen05 ld sync aligned", "mbarrier inval shared b64",
        "prefetch global L2", "shfl_sync bfly b32", "clusterlaunchcontrol query_cancel b128",
    ],
)  # fmt: skip
def test_what_is_no_site(words):
    """Neighbours of what synchronises that do nothing of the kind."""
    assert reading(words) is None


@pytest.mark.parametrize(
    "words",
    [
        "cp async sideways", "fabric submit", "st_async weak shared::cluster", "red_async relaxed",
        "applypriority async bulk L2::evict_normal", "mbarrier reset shared b64",
        "tcgen05 fold", "fence sideways", "clusterlaunchcontrol sideways",
    ],
)  # fmt: skip
def test_what_nobody_knows_is_named(words):
    """Never dropped, never counted as something near it."""
    assert reading(words) == Intrinsic((f"unknown:{words.replace(' ', '.')}",))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", True), ("pred", True), ("pred,keep,s0", True), ("p1", True),
        ("gpu", False), ("sync", False),
    ],
)  # fmt: skip
def test_the_marker_at_the_end(text, expected):
    """A scope at the end of an older release's fence is none."""
    assert is_marker(text) is expected


def test_what_the_other_levels_call_the_same():
    """The taxonomy has no word for a request for a cluster's work; all levels name it alike."""
    words = "clusterlaunchcontrol try_cancel async shared::cta mbarrier::complete_tx::bytes b128"
    assert reading(words).ops == ("unknown:clc_try_cancel",)
    assert reading("clusterlaunchcontrol query_cancel is_canceled pred b128") is None
