"""Which operation does a called function perform?  A table of every name the compiler can print.

Three answers: it is an operation of the taxonomy (``SYNC``, ``BARRIER_METHODS``), it is known to be
none (``is_plain``), or nobody told us, and then the site is ``unknown:<callee>``.  A name is looked
up whole, without its template arguments; nothing is guessed from a part of a name.

Source: every name that TileLang 0.1.15 can print: ``src/cuda/codegen/codegen_cuda.cc``
(``VisitExpr_`` of ``CallNode``, ``CastNode``, ``MinNode``, ``MaxNode``, ``BroadcastNode``;
``PrintStorageSync``; ``VisitStmt_`` of ``AttrStmtNode`` and ``AssertStmtNode``),
``src/cuda/codegen/intrin_rule_cuda.cc`` and TVM's ``src/target/cuda/intrin_rule_cuda.cc`` (math),
``src/op/{logical,math}.cc``,
``src/backend/common/op/{reduce,scan,finalize_reducer}.h`` and ``src/cuda/op/finalize_reducer.cc``
(templates that are called by name), ``cuda/language/print.py``, ``language/customize.py``.  What a
template does was read in ``src/tl_templates/cuda/*.h``.

Not handled: fences inside atomics with a memory order (``atomic.h``); the IR has none there either.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import product as pairs

from stagebench.facts.cuda_plain import PLAIN
from stagebench.model.base import Extent

Args = dict[str, Extent]
Found = list[tuple[str, Args]]
Reader = Callable[[Sequence[Extent], Sequence[Extent]], Found]
"""From the template arguments and the call's arguments to ops and what can be read of each."""


def _op(op: str, *arguments: str, **fixed: Extent) -> Reader:
    """Read the call's arguments under these names, in order; ``""`` skips one."""

    def read(templates: Sequence[Extent], values: Sequence[Extent]) -> Found:
        del templates
        return [(op, {**fixed, **_named(arguments, values)})]

    return read


def _templated(op: str, *parameters: str, **fixed: Extent) -> Reader:
    """Read the template arguments under these names, in order."""

    def read(templates: Sequence[Extent], values: Sequence[Extent]) -> Found:
        del values
        return [(op, {**fixed, **_named(parameters, templates)})]

    return read


def _named(names: Sequence[str], values: Sequence[Extent]) -> Args:
    return {name: value for name, value in zip(names, values, strict=False) if name}


def _cp_async(templates: Sequence[Extent], values: Sequence[Extent]) -> Found:
    args = _named(("bytes",), templates) | _named(("", "", "predicate"), values)
    return [("cp_async_copy", args)]


def _tma_load(templates: Sequence[Extent], values: Sequence[Extent]) -> Found:
    """Read ``tma_load(descriptor, barrier, smem, x, …)`` or ``(smem, global, barrier, bytes)``.

    Source: tl_templates/cuda/copy_sm90.h.  Both can have four arguments: in the bulk form the
    barrier is the third, in the tensor form the second.
    """
    hint: Args = _named(("cache_hint",), templates)
    if len(values) == 4 and _is_element(values[2]) and not _is_element(values[1]):
        return [
            ("tma_load", hint | {"mode": "bulk"} | _named(("", "", "barrier", "bytes"), values))
        ]
    return [("tma_load", hint | _named(("descriptor", "barrier"), values))]


def _is_element(value: Extent) -> bool:
    return isinstance(value, str) and re.fullmatch(r"\w+\[.*\]", value) is not None


def _tma_store(templates: Sequence[Extent], values: Sequence[Extent]) -> Found:
    """Read ``tma_store(descriptor, smem, x, …)``, or ``(global, smem, bytes)`` for plain bulk.

    The two can't be told apart by their text when the tensor is one-dimensional, so the first
    argument is given under a name that fits both.
    """
    return [("tma_store", _named(("cache_hint",), templates) | _named(("destination",), values))]


def _tma_store_wait(templates: Sequence[Extent], values: Sequence[Extent]) -> Found:
    del values
    read = templates[1] if len(templates) > 1 else 1  # the template's default of `Read` is true
    return [("tma_store_wait", {**_named(("max_pending",), templates), "read": read})]


def _arrive_and_expect(templates: Sequence[Extent], values: Sequence[Extent]) -> Found:
    """Read ``arrive_and_expect_tx(bytes)``: one call, an arrival and an expected transaction."""
    del templates
    return [
        ("mbarrier_arrive", _named(("", "cta", "predicate"), values)),
        ("mbarrier_expect_tx", _named(("bytes", "cta", "predicate"), values)),
    ]


def _arrive_expect_function(templates: Sequence[Extent], values: Sequence[Extent]) -> Found:
    del templates
    return [
        ("mbarrier_arrive", _named(("barrier",), values)),
        ("mbarrier_expect_tx", _named(("barrier", "bytes"), values)),
    ]


def _commit(templates: Sequence[Extent], values: Sequence[Extent]) -> Found:
    """Read ``tcgen05_mma_arrive(&barrier[i])``; the barrier is named as everywhere else."""
    del templates
    barrier = str(values[0]).removeprefix("&") if values else ""
    return [("tcgen05_commit", {"barrier": barrier} if barrier else {})]


def _partial(templates: Sequence[Extent], values: Sequence[Extent]) -> Found:
    """Read ``__sync_thread_partial(id = 0, threads = 0)``: ``bar.sync id, threads``."""
    del templates
    defaults: Args = {"barrier_id": 0, "threads": 0}
    return [("partial_barrier", defaults | _named(("barrier_id", "threads"), values))]


def _matrix(op: str) -> Reader:
    """Read ``<A, B, C, M, N, K, …>``: operand types and the instruction's shape."""

    def read(templates: Sequence[Extent], values: Sequence[Extent]) -> Found:
        del values
        if len(templates) < 6:
            return [(op, {})]
        types = [str(value).removeprefix("tl::DataType::k") for value in templates[:3]]
        m, n, k = templates[3:6]
        return [(op, {"shape": f"m{m}n{n}k{k}", "types": ", ".join(types)})]

    return read


def _setmaxnreg(*, increase: int) -> Reader:
    return _templated("setmaxnreg", "registers", increase=increase)


SYNC: dict[str, Reader] = {
    # copy.h
    "tl::cp_async_gs": _cp_async,
    "tl::cp_async_gs_conditional": _cp_async,
    "tl::cp_async_commit": _op("cp_async_commit"),
    "tl::cp_async_wait": _templated("cp_async_wait", "max_pending"),
    # copy_sm90.h, copy_sm100.h
    "tl::tma_load": _tma_load,
    "tl::tma_load_2sm": _op("tma_load", "descriptor", "barrier", mode="2sm"),
    "tl::tma_load_multicast": _op(
        "tma_load", "descriptor", "barrier", "", "mask", mode="multicast"
    ),
    "tl::tma_load_im2col": _op("tma_load", "descriptor", "barrier", mode="im2col"),
    "tl::tma_load_gather4": _op("tma_load", "descriptor", "barrier", mode="gather4"),
    "tl::tma_store": _tma_store,
    "tl::tma_store_add": _op("tma_store", mode="reduce"),
    "tl::tma_store_scatter4": _op("tma_store", "descriptor", mode="scatter4"),
    "tl::tma_store_cluster": _op(
        "tma_store", "", "", "cta", "bytes", "barrier", mode="cluster"
    ),
    "tl::prefetch_tma_descriptor": _op("tma_prefetch_descriptor", "descriptor"),
    # barrier.h
    "tl::tma_store_arrive": _op("tma_store_commit"),
    "tl::tma_store_wait": _tma_store_wait,
    "tl::fence_proxy_async": _op("fence_proxy_async"),
    "tl::fence_barrier_init": _op("fence_barrier_init"),
    "tl::mbarrier_cp_async_arrive": _op("mbarrier_arrive", "barrier", via="cp_async"),
    "tl::mbarrier_cp_async_arrive_noinc": _op("mbarrier_arrive", "barrier", via="cp_async_noinc"),
    "tl::mbarrier_init": _op("mbarrier_init", "barrier", "count"),
    "tl::mbarrier_try_wait": _op("mbarrier_try_wait", "barrier", "parity"),
    "tl::mbarrier_wait": _op("mbarrier_wait", "barrier", "parity"),
    "tl::mbarrier_arrive": _op("mbarrier_arrive", "barrier"),
    "tl::mbarrier_expect_tx": _op("mbarrier_expect_tx", "barrier", "bytes"),
    "tl::mbarrier_arrive_expect_tx": _arrive_expect_function,
    # common.h
    "tl::__sync_thread_partial": _partial,
    "tl::__named_barrier_arrive": _op("partial_barrier_arrive", "barrier_id", "threads"),
    # cluster.h
    "tl::cluster_arrive": _op("cluster_arrive"),
    "tl::cluster_arrive_relaxed": _op("cluster_arrive", order="relaxed"),
    "tl::cluster_wait": _op("cluster_wait"),
    "tl::cluster_sync": _op("cluster_sync"),
    # an asynchronous request that completes on an mbarrier; the taxonomy has no word for it
    "tl::clc_try_cancel": _op("unknown:clc_try_cancel", "", "barrier"),
    "tl::clc_try_cancel_multicast": _op("unknown:clc_try_cancel_multicast", "", "barrier"),
    # intrin.h, instruction/wgmma.h, instruction/wgmma_sp.h
    "tl::warpgroup_arrive": _op("wgmma_fence"),
    "tl::warpgroup_commit_batch": _op("wgmma_commit"),
    "tl::warpgroup_wait": _templated("wgmma_wait", "max_pending"),
    "tl::wait_wgmma": _templated("wgmma_wait", "max_pending"),
    "tl::warpgroup_reg_alloc": _setmaxnreg(increase=1),
    "tl::warpgroup_reg_dealloc": _setmaxnreg(increase=0),
    **{
        f"tl::{name}": _matrix("wgmma")
        for name in ("wgmma_ss", "wgmma_rs", "wgmma_sp_ss", "wgmma_sp_rs")
    },
    # instruction/mma*.h
    **{
        f"tl::{name}": _matrix("mma_sync")
        for name in ("mma_sync", "mma_sync_sm70", "mma_sp_sync")
    },
    "tl::sm120_mma_sync_blockscaled": _templated("mma_sync", "kind"),
    "nvcuda::wmma::mma_sync": _op("mma_sync", mode="wmma"),
    "nvcuda::wmma::bmma_sync": _op("mma_sync", mode="wmma"),
    # tcgen_05.h, instruction/tcgen05mma.h
    **{
        f"tl::{name}": _templated("tcgen05_mma", "type")
        for name in (
            "tcgen05mma_ss", "tcgen05mma_ts", "tcgen05mma_ws_ss", "tcgen05mma_blockscaled_ss",
        )
    },
    "tl::tcgen05_mma_arrive": _commit,
    "tl::tcgen05_before_thread_sync": _op("tcgen05_fence", when="before"),
    "tl::tcgen05_after_thread_sync": _op("tcgen05_fence", when="after"),
    "tl::fence_view_async_tmem_load": _op("tcgen05_wait", kind="ld"),
    "tl::fence_view_async_tmem_store": _op("tcgen05_wait", kind="st"),
    "tl::tmem_allocate": _op("tcgen05_alloc", "", "columns"),
    "tl::tmem_deallocate": _op("tcgen05_dealloc", "", "columns"),
    # CUDA C++ Programming Guide: synchronisation, fences, cooperative groups; runtime API (PDL)
    "__syncthreads": _op("syncthreads"),
    "__syncthreads_and": _op("syncthreads", reduction="and"),
    "__syncthreads_or": _op("syncthreads", reduction="or"),
    "__syncthreads_count": _op("syncthreads", reduction="count"),
    "__syncwarp": _op("warp_sync", "mask"),
    "__threadfence": _op("threadfence", scope="gpu"),
    "__threadfence_block": _op("threadfence", scope="cta"),
    "__threadfence_system": _op("threadfence", scope="sys"),
    "cudaGridDependencySynchronize": _op("griddepcontrol", kind="wait"),
    "cudaTriggerProgrammaticLaunchCompletion": _op("griddepcontrol", kind="launch_dependents"),
}  # fmt: skip

BARRIER_METHODS: dict[str, Reader] = {
    "init": _op("mbarrier_init", "count"),
    "wait": _op("mbarrier_wait", "parity"),
    "try_wait": _op("mbarrier_try_wait", "parity"),
    "test_wait": _op("mbarrier_try_wait", "parity", "predicate"),
    "arrive": _op("mbarrier_arrive", "cta", "predicate"),
    "expect_transaction": _op("mbarrier_expect_tx", "bytes"),
    "arrive_and_expect_tx": _arrive_and_expect,
}
"""Methods of ``struct Barrier`` (tl_templates/cuda/barrier.h), on an element of a barrier array."""

GROUP_METHODS: dict[tuple[str, str], str] = {
    ("this_grid", "sync"): "grid_sync",
    ("this_cluster", "sync"): "cluster_sync",
    ("this_thread_block", "sync"): "syncthreads",
}
"""``cooperative_groups::<function>().<method>()``; codegen_cuda.cc prints the first."""

PLAIN_METHODS = frozenset(
    ("to_half", "to_nv_bfloat16", "raw", "map_shared_rank", "num_blocks", "block_rank",
     "thread_rank", "size")
)  # fmt: skip
"""Methods that read a value (codegen_cuda.cc: casts, ``ptx_cluster_store``)."""


def is_plain(name: str) -> bool:
    """Whether a callee (without template arguments) is known to be no site itself."""
    return name in PLAIN or name in _HIDING


Hidden = list[tuple[str, int, Args]]
"""Op, times per call, arguments."""


def hidden_syncs(name: str, templates: Sequence[Extent]) -> Hidden:
    """Return what one call of a library template synchronises inside."""
    return _HIDING[name](templates) if name in _HIDING else []


def _all_reduce(templates: Sequence[Extent]) -> Hidden:
    """Count two barriers for each level of the butterfly that crosses warps (offset >= 32).

    Source: tl_templates/cuda/reduce.h, ``AllReduce::butterfly_reduce_scalar``: barrier 1, store,
    barrier 2, load; ``NamedBarrier<n>`` is ``bar.sync id, n``, the default is ``__syncthreads``.
    """
    threads, scale = (templates[1], templates[2]) if len(templates) > 2 else ("?", "?")
    if not isinstance(threads, int) or not isinstance(scale, int) or scale < 1:
        return [("unknown:tl::AllReduce", 1, {})]
    levels = 0
    while threads > scale:
        threads //= 2
        levels += threads >= 32
    if not levels:
        return []
    barrier = templates[4] if len(templates) > 4 else "tl::SyncThreadsBarrier"
    match = re.fullmatch(r"(?:tl::)?NamedBarrier<(.*)>", str(barrier))
    if match is None:
        return [("syncthreads", 2 * levels, {})]
    width: Extent = int(match[1]) if match[1].strip().isdigit() else match[1].strip()
    return [
        ("partial_barrier", levels, {"barrier_id": barrier_id, "threads": width})
        for barrier_id in (1, 2)
    ]


def _always(*found: tuple[str, Args]) -> Callable[[Sequence[Extent]], Hidden]:
    return lambda _templates: [(op, 1, args) for op, args in found]


_CLC_READ = _always(("fence_proxy_async", {}))
_HIDING: dict[str, Callable[[Sequence[Extent]], Hidden]] = {
    "tl::AllReduce::run": _all_reduce,
    "tl::AllReduce::run_batch": _all_reduce,
    "tl::tcgen05_sf_warp_transpose": _always(("warp_sync", {})),
    "tl::clc_is_canceled": _CLC_READ,
    "tl::clc_get_first_ctaid_x": _CLC_READ,
    "tl::clc_get_first_ctaid_y": _CLC_READ,
    "tl::clc_get_first_ctaid_z": _CLC_READ,
    "tl::tma_store_cluster": _always(
        ("mbarrier_arrive", {}), ("mbarrier_expect_tx", {}), ("fence_proxy_async", {})
    ),
    **{
        f"tl::tcgen05_{verb}_{datapaths}dp{bits}bNx": _always(("tcgen05_wait", {"kind": verb}))
        for verb, datapaths, bits in pairs(("ld", "st"), (16, 32), (32, 64, 128, 256))
    },
}  # fmt: skip
"""Templates that synchronise inside; ``tcgen05_ld_*`` ends with ``tcgen05.wait::ld``."""
