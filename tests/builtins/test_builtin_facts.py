"""Are the facts of the built-in kernels what their shapes and the compiler's schedule make them?

Numbers are derived here from the kernels' sizes: trips, tiles, the shape of one instruction.  In a
software pipeline that is filled by ``p`` trips, the loop runs ``trips - p`` times and everything
in it stands once in the loop and, copies before it or uses behind it, ``p`` times outside.
"""

import math
from pathlib import Path

import msgspec
import pytest

from stagebench import kernels
from stagebench.experiment.sweep_plan import SweepPlan
from tests.lowered import results, warm

pytestmark = pytest.mark.tilelang

ARCHS = ("sm_80", "sm_90a", "sm_100a")
DEPTHS = {
    "gemm": (0, 1, 2, 3, 4),
    "gemm_nn": (2,),
    "gemm_tn": (2,),
    "flash_attention": (0, 2, 3),
    "dequant_gemm": (0, 2, 3),
}
POINTS = [(k, a, n) for k, depths in DEPTHS.items() for a in ARCHS for n in depths]
GEMMS = [point for point in POINTS if point[0].startswith("gemm")]
PIPELINED = [point for point in POINTS if point[2]]
SPECIALIZED = [point for point in PIPELINED if point[1] != "sm_80"]

KIB = 1024
TILE = 128 * 64 * 2
"""Bytes of one tile of 128 × 64 halves: every tile here but that of packed weights."""
PACKED = 128 * 32
"""Bytes of one tile of packed weights."""
TRIPS = {"gemm": 16, "gemm_nn": 16, "gemm_tn": 16, "flash_attention": 8, "dequant_gemm": 16}
"""K / 64, and keys / 128 for attention."""


@pytest.fixture(scope="module")
def lowered():
    """Every point, lowered by one worker."""
    plans = [SweepPlan(kernel=k, num_stages=d, archs=ARCHS) for k, d in DEPTHS.items()]
    warm(plans)
    found = [result for plan in plans for result in results(plan)]
    return {(r.variant.kernel, r.variant.arch, r.variant.num_stages): r for r in found}


@pytest.fixture
def facts(lowered, point):
    """The facts of one point."""
    return lowered[point].facts


def points(*chosen):
    return pytest.mark.parametrize("point", chosen, ids=["-".join(map(str, p)) for p in chosen])


def filled_by(kernel, depth):
    """Trips that a software pipeline issues before its loop.

    The GEMM uses a tile in the trip in which its copy of ``depth - 1`` trips later is issued; in
    the others a copy goes behind the use, so one more trip is in flight.
    """
    return max(1, depth - 1) if kernel.startswith("gemm") else depth


# ---- who scheduled the loop --------------------------------------------------------------------


@points(*[point for point in POINTS if not point[2]])
def test_depth_0_asks_for_nothing(facts):
    """Without stages there is no pipelined loop, no version, no barrier, no asynchronous copy."""
    assert facts.pipeline_loops == ()
    assert facts.barriers == ()
    assert {b.num_versions for b in facts.shared_buffers} == {1}
    assert {"cp_async_copy", "tma_load", "mbarrier_wait"}.isdisjoint(facts.sync_totals)
    assert {op.section for op in facts.sync_ops} == {None}
    assert facts.launch.block == (128, 1, 1)


@points(*PIPELINED)
def test_who_scheduled(facts, point):
    """sm_80: the software pipeline.  sm_90a and sm_100a: warp specialisation, before it planned."""
    kernel, arch, depth = point
    (loop,) = facts.pipeline_loops
    assert (loop.loop_var, loop.extent, loop.num_stages) == ("k", TRIPS[kernel], depth)
    assert (loop.explicit_schedule, loop.reason) == (False, None)
    if arch == "sm_80":
        assert (loop.scheduled_by, loop.pass_name) == (
            "software_pipeline", "tl.PipelinePlanning",
        )  # fmt: skip
        assert loop.pipeline_depth == filled_by(kernel, depth) + 1
    else:
        assert (loop.scheduled_by, loop.pass_name) == (
            "warp_specialization", "tl.ProducerConsumerWarpSpecialized",
        )  # fmt: skip
        assert loop.pipeline_depth is None


def plan(result):
    """The schedule in short: statement, stage, order, commit group."""
    (loop,) = result.facts.pipeline_loops
    return [(s.summary, s.stage, s.order, s.async_group) for s in loop.statements]


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_schedule_of_the_gemm(lowered, depth):
    """Depths 1 and 2 have the same stages; at depth 1 the copies go behind their use."""
    copy_a, copy_b, gemm = (1, 2, 0) if depth == 1 else (0, 1, 2)
    assert plan(lowered["gemm", "sm_80", depth]) == [
        ("copy A → A_shared", 0, copy_a, 0),
        ("copy B → B_shared", 0, copy_b, 0),
        ("gemm A_shared, B_shared → C_local", max(1, depth - 1), gemm, None),
    ]


@pytest.mark.parametrize("depth", [2, 3])
def test_schedule_of_attention(lowered, depth):
    """Two copies in groups of their own, K issued right after its use, V at the end; 13 orders."""
    found = plan(lowered["flash_attention", "sm_80", depth])
    assert [row for row in found if row[3] is not None] == [
        ("copy K → K_shared", 0, 2, 0),
        ("copy V → V_shared", 0, 12, 1),
    ]
    assert {stage for _, stage, _, group in found if group is None} == {depth}
    assert [order for _, _, order, _ in found] == [2, 0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 12, 11]
    assert [summary for summary, *_ in found if summary.startswith("gemm")] == [
        "gemm Q_shared, K_shared → scores", "gemm weights, V_shared → output",
    ]  # fmt: skip


@pytest.mark.parametrize("depth", [2, 3])
def test_schedule_of_dequantisation(lowered, depth):
    """The widening is a use of the packed tile and a producer that computes: it is not copied."""
    found = plan(lowered["dequant_gemm", "sm_80", depth])
    assert [row[1:] for row in found] == [(0, 3, 1), (0, 1, 0), (depth, 0, None), (depth, 2, None)]


@points(*SPECIALIZED)
def test_the_producer_copies_and_nothing_else(facts):
    """Statements that copy from global memory are the producer's, all others the consumer's."""
    (loop,) = facts.pipeline_loops
    for statement in loop.statements:
        copies = statement.summary.startswith("copy") and statement.summary.endswith("_shared")
        assert statement.role == ("producer" if copies else "consumer"), statement.summary
        assert (statement.stage, statement.order, statement.async_group) == (None, None, None)


# ---- buffers and memory ------------------------------------------------------------------------

SHAPES = {
    "gemm": {"A_shared": (128, 64), "B_shared": (128, 64)},
    "gemm_nn": {"A_shared": (128, 64), "B_shared": (64, 128)},
    "gemm_tn": {"A_shared": (64, 128), "B_shared": (64, 128)},
    "flash_attention": dict.fromkeys(("Q_shared", "K_shared", "V_shared"), (128, 64)),
    "dequant_gemm": {"A_shared": (128, 64), "W_shared": (128, 32), "B_shared": (128, 64)},
}
ORDER = {
    ("dequant_gemm", "sm_80", 0): "A B W",
    ("dequant_gemm", "sm_90a", 0): "A B W",
    ("dequant_gemm", "sm_100a", 0): "A B W",
    ("dequant_gemm", "sm_80", 2): "W A B",
    ("dequant_gemm", "sm_80", 3): "W A B",
}
"""Buffers in the arena, by offset, where that is not their order of declaration."""


def versions_of(kernel, arch, depth):
    """Versions by buffer: what copies fill ahead, and on warp-specialised archs what widens too."""
    once = {"Q_shared"} | ({"B_shared"} if kernel == "dequant_gemm" and arch == "sm_80" else set())
    return {name: 1 if name in once else max(1, depth) for name in SHAPES[kernel]}


@points(*POINTS)
def test_shared_buffers(facts, point):
    """Shape, versions and the pass that made them; packed one behind the other without a gap."""
    kernel, arch, _ = point
    versions = versions_of(*point)
    by = "tl.InjectSoftwarePipeline" if arch == "sm_80" else "tl.ProducerConsumerWarpSpecialized"
    assert [(b.name, b.shape, b.num_versions, b.versioned_by) for b in facts.shared_buffers] == [
        (name, shape, versions[name], by if versions[name] > 1 else None)
        for name, shape in SHAPES[kernel].items()
    ]
    for buffer in facts.shared_buffers:
        packed = buffer.name == "W_shared"
        assert buffer.scope == "shared.dyn"
        assert buffer.dtype == ("uint8" if packed else "float16")
        assert buffer.bytes_per_version == (PACKED if packed else TILE)
        assert buffer.overlaps == ()
    letters = ORDER.get(point, " ".join(name[0] for name in SHAPES[kernel])).split()
    placed = sorted(facts.shared_buffers, key=lambda buffer: buffer.offset_bytes)
    assert [buffer.name[0] for buffer in placed] == letters
    end = 0
    for buffer in placed:
        assert buffer.offset_bytes == end
        end += buffer.total_bytes
    assert facts.shared_memory.dynamic_bytes == end == facts.launch.dynamic_smem_bytes


@points(*POINTS)
def test_shared_memory(facts, point):
    """Barriers are 8 static bytes each; the limit is the arch's; everything here fits."""
    memory = facts.shared_memory
    assert memory.static_bytes == 8 * sum(barrier.count for barrier in facts.barriers)
    assert memory.total_bytes == memory.static_bytes + memory.dynamic_bytes
    assert memory.limit_bytes == (163 if point[1] == "sm_80" else 227) * KIB
    assert memory.fits is True


DEEPEST = {  # (limit - what no stage needs) / bytes of a stage, rounded down
    ("gemm", "sm_80"): 163 * KIB // (2 * TILE),
    ("gemm", "sm_90a"): 227 * KIB // (2 * TILE),
    ("flash_attention", "sm_80"): (163 * KIB - TILE) // (2 * TILE),
    ("flash_attention", "sm_90a"): (227 * KIB - TILE) // (2 * TILE),
    ("dequant_gemm", "sm_80"): (163 * KIB - TILE) // (TILE + PACKED),
    ("dequant_gemm", "sm_90a"): 227 * KIB // (2 * TILE + PACKED),
}


@points(*POINTS)
def test_the_deepest_that_fits(facts, point):
    """5 stages of the GEMM fit on sm_80, 7 on Hopper; not claimed where nothing has versions."""
    kernel, arch, depth = point
    wanted = DEEPEST[kernel.partition("_n")[0].partition("_t")[0], arch.replace("100", "90")]
    assert facts.shared_memory.max_num_stages == (wanted if depth > 1 else None)


# ---- launch ------------------------------------------------------------------------------------

ARGUMENTS = {
    "gemm": "A B C", "gemm_nn": "A B C", "gemm_tn": "A B C",
    "flash_attention": "K O Q V", "dequant_gemm": "A C W",
}  # fmt: skip


@points(*POINTS)
def test_launch(facts, point):
    """64 CTAs; warp specialisation doubles the threads; what is loaded by TMA is a descriptor."""
    kernel, arch, depth = point
    specialized = arch != "sm_80" and depth
    launch = facts.launch
    assert (launch.grid, launch.cluster) == ((8, 8, 1), None)
    assert launch.block == ((256 if specialized else 128), 1, 1)
    assert launch.function == f"{'gemm' if kernel.startswith('gemm') else kernel}_kernel_kernel"
    loaded = {"C": False, "O": False}
    assert [(p.name, p.kind) for p in launch.params] == [
        (f"{n}_desc", "tma_descriptor") if specialized and loaded.get(n, True) else (n, "tensor")
        for n in ARGUMENTS[kernel].split()
    ]
    assert [p.dtype for p in launch.params if p.kind == "tensor"] == [
        "uint8" if n == "W" else "float16"
        for n in ARGUMENTS[kernel].split()
        if not (specialized and loaded.get(n, True))
    ]


SWIZZLE_128B, L2_256B, FLOAT16, UINT8 = 3, 2, 6, 0
"""Values of `CUtensorMapSwizzle`, `CUtensorMapL2promotion` and `CUtensorMapDataType`."""

SQUARE = {"shape": (1024, 1024), "strides": (2, 2048)}
HEADS = {"shape": (64, 1024, 8, 1), "strides": (2, 128, 2**17, 2**20), "box": (64, 128, 1, 1)}
DESCRIPTORS = {
    # 64 halves are 128 bytes: as wide as a swizzled box may be
    "gemm": {"A": {**SQUARE, "box": (64, 128)}, "B": {**SQUARE, "box": (64, 128)}},
    "gemm_nn": {"A": {**SQUARE, "box": (64, 128)}, "B": {**SQUARE, "box": (64, 64)}},
    "gemm_tn": {"A": {**SQUARE, "box": (64, 64)}, "B": {**SQUARE, "box": (64, 64)}},
    "flash_attention": {"K": HEADS, "Q": HEADS, "V": HEADS},
    "dequant_gemm": {
        "A": {**SQUARE, "box": (64, 128)},
        "W": {"shape": (512, 1024), "strides": (1, 512), "box": (32, 128), "plain": True},
    },
}


@points(*POINTS)
def test_tma_descriptors(facts, point):
    """Every field of every tensor map; none where nothing is loaded by TMA."""
    kernel, arch, depth = point
    wanted = DESCRIPTORS[kernel] if arch != "sm_80" and depth else {}
    found = {d.tensor: d for d in facts.launch.tma_descriptors}
    assert list(found) == list(wanted)
    for name, want in wanted.items():
        d = found[name]
        plain = want.get("plain", False)
        assert (d.name, d.kind, d.rank) == (f"{name}_desc", "tiled", len(want["shape"]))
        assert (d.global_shape, d.global_strides_bytes) == (want["shape"], want["strides"])
        assert (d.box, d.element_strides) == (want["box"], (1,) * d.rank)
        assert (d.data_type, d.swizzle) == ((UINT8, 0) if plain else (FLOAT16, SWIZZLE_128B))
        assert (d.interleave, d.l2_promotion, d.oob_fill) == (0, L2_256B, 0)
        assert d.fields == (
            *d.global_shape, *d.global_strides_bytes, *d.box, *d.element_strides,
            d.interleave, d.swizzle, d.l2_promotion, d.oob_fill,
        )  # fmt: skip


# ---- barriers ----------------------------------------------------------------------------------


def rings(kernel, depth):
    """Runs of barriers: first, count, arrivals, kind, guards."""
    groups = {
        "gemm": [("A_shared", "B_shared")],
        "flash_attention": [("K_shared",), ("V_shared",)],
        "dequant_gemm": [("A_shared",), ("W_shared",)],
    }["gemm" if kernel.startswith("gemm") else kernel]
    full = [(i * depth, depth, 1, "full", guards) for i, guards in enumerate(groups)]
    size = depth * len(groups)
    once = [(2 * size, 1, 1, "full", ("Q_shared",))] if kernel == "flash_attention" else []
    return [*full, (size, size, 128, "empty", ()), *once]


@points(*PIPELINED)
def test_barriers(facts, point):
    """A full barrier (one arrival) and an empty one (128) per stage of each ring; Q has one."""
    kernel, arch, depth = point
    found = [(b.first, b.count, b.arrive_count, b.kind, b.guards) for b in facts.barriers]
    assert found == ([] if arch == "sm_80" else rings(kernel, depth))
    assert {b.name for b in facts.barriers} <= {"mbarrier"}


# ---- synchronisation ---------------------------------------------------------------------------

TENSOR = {
    # Warps of one CTA share the tile: 4 warps (m16n8k16), 1 warpgroup (m64nNk16).
    "gemm": (128 * 128 * 64 // (16 * 8 * 16) // 4, (128 // 64) * (64 // 16)),
    "dequant_gemm": (128 * 128 * 64 // (16 * 8 * 16) // 4, (128 // 64) * (64 // 16)),
    "flash_attention": (
        2 * 128 * 128 * 64 // (16 * 8 * 16) // 4,
        (128 // 64) * (64 // 16) + (128 // 64) * (128 // 16),
    ),
}
"""mma_sync and wgmma in one trip, each counted for one thread."""


def tensor_ops(kernel, arch, copies=1):
    """Tensor-core work, whose code stands ``copies`` times.  A GEMM has 2 mma_sync sites."""
    family = "gemm" if kernel.startswith("gemm") else kernel
    gemms = 2 if kernel == "flash_attention" else 1
    trips = TRIPS[kernel]
    mma, wgmma = TENSOR[family]
    if arch != "sm_90a":
        return {"mma_sync": (2 * gemms * copies, mma * trips)}
    around = {f"wgmma_{what}": (gemms, gemms * trips) for what in ("fence", "commit", "wait")}
    return {"wgmma": (gemms, wgmma * trips), **around}


def plain_totals(kernel, arch):
    """Depth 0: a barrier before and behind each use; Hopper fences what it wrote to shared."""
    trips = TRIPS[kernel]
    barriers = {"flash_attention": (4, 4 * trips), "dequant_gemm": (3, 3 * trips)}
    totals = {"syncthreads": barriers.get(kernel, (2, 2 * trips)), **tensor_ops(kernel, arch)}
    if arch == "sm_90a":
        gemms = 2 if kernel == "flash_attention" else 1
        totals["fence_proxy_async"] = (gemms, gemms * trips)
    return totals


def pipelined_totals(kernel, depth):
    """The software pipeline of sm_80: every copy and use once in the loop and ``p`` times out."""
    trips, p = TRIPS[kernel], filled_by(kernel, depth)
    groups = 1 if kernel.startswith("gemm") else 2
    per_copy = 128 * 64 * 2 // 16 // 128  # cp.async of 16 bytes for each of 128 threads
    per_trip = {"dequant_gemm": per_copy + PACKED // 16 // 128}.get(kernel, 2 * per_copy)
    # in the loop: before and behind each use; outside: before it; attention waits for Q once
    inside, outside, before = {
        "flash_attention": (4, 2, 1), "dequant_gemm": (4, 2, 0),
    }.get(kernel, (2, 1, 0))  # fmt: skip
    return {
        "cp_async_copy": (2 * (p + 1), per_trip * trips),
        "cp_async_commit": (groups * (p + 1), groups * trips),
        "cp_async_wait": (groups * (p + 1), groups * trips),
        "syncthreads": (
            before + inside + outside * p,
            before + inside * (trips - p) + outside * p,
        ),
        **tensor_ops(kernel, "sm_80", copies=p + 1),
    }


def specialized_totals(kernel, arch, depth):
    """Warp specialisation: counts don't depend on the depth, but for the barriers made."""
    trips = TRIPS[kernel]
    attention, dequant = kernel == "flash_attention", kernel == "dequant_gemm"
    rings_, once = (1 if kernel.startswith("gemm") else 2), int(attention)
    boxes = {"gemm_nn": 3, "gemm_tn": 4}.get(kernel, 2)  # a tile 128 wide is two swizzled boxes
    barriers = 2 * rings_ * depth + once
    tensors = 3 if attention else 2
    totals = {
        "tma_prefetch_descriptor": (tensors, tensors),
        "mbarrier_init": (barriers, barriers),
        "fence_barrier_init": (1, 1),
        "setmaxnreg": (2, 2),
        "syncthreads": (1 + once, 1 + once),
        "tma_load": (2 + once, boxes * trips + once),
        "mbarrier_expect_tx": (2 + once, 2 * trips + once),
        # both sides of each ring; attention's consumer also looks at Q's barrier in every trip
        "mbarrier_wait": (2 * rings_ + once, (2 * rings_ + once) * trips),
        "mbarrier_arrive": (2 * rings_ + once, 2 * rings_ * trips + once),
        **tensor_ops(kernel, arch),
    }
    if dequant:  # the consumer's warps agree before and after they widen
        totals["partial_barrier"] = (2, 2 * trips)
        if arch == "sm_90a":
            totals["fence_proxy_async"] = (1, trips)
    return totals


@points(*POINTS)
def test_sync_totals(facts, point):
    """Call sites and executions of every op: nothing more, nothing less."""
    kernel, arch, depth = point
    if not depth:
        wanted = plain_totals(kernel, arch)
    elif arch == "sm_80":
        wanted = pipelined_totals(kernel, depth)
    else:
        wanted = specialized_totals(kernel, arch, depth)
    assert {op: (t.static, t.dynamic) for op, t in facts.sync_totals.items()} == wanted


def test_what_was_measured_before(lowered):
    """The GEMM on sm_80, depths 1 to 4: __syncthreads as FINDINGS.md has it, commits constant."""
    found = [lowered["gemm", "sm_80", depth].facts.sync_totals for depth in (1, 2, 3, 4)]
    assert [t["syncthreads"].static for t in found] == [3, 3, 4, 5]
    assert [t["syncthreads"].dynamic for t in found] == [31, 31, 30, 29]
    assert {t["cp_async_commit"].dynamic for t in found} == {16}


@points(*[point for point in PIPELINED if point[1] == "sm_80"])
def test_wait_depths(facts, point):
    """In the loop all but the groups of the trips ahead are waited for; then they are drained."""
    kernel, _, depth = point
    ahead = depth - 1 if kernel.startswith("gemm") else 2 * depth - 1
    groups = 1 if kernel.startswith("gemm") else 2
    waits = [op for op in facts.sync_ops if op.op == "cp_async_wait"]
    assert [op.args["max_pending"] for op in waits if op.section == "body"] == [ahead] * groups
    drained = [op.args["max_pending"] for op in waits if op.section == "epilogue"]
    assert drained == list(range(len(drained) - 1, -1, -1))
    assert len(drained) == groups * filled_by(kernel, depth)


@points(*PIPELINED)
def test_sections_and_roles(facts, point):
    """sm_80 fills, runs and drains; specialised warps load on one side and compute on the other."""
    _, arch, _ = point
    where = {(op.op, op.role, op.section) for op in facts.sync_ops}
    if arch == "sm_80":
        assert {role for _, role, _ in where} == {"all"}
        assert {s for op, _, s in where if op == "cp_async_copy"} == {"prologue", "body"}
        assert {s for op, _, s in where if op == "cp_async_wait"} == {"body", "epilogue"}
        assert {s for op, _, s in where if op == "mma_sync"} == {"body", "epilogue"}
    else:
        in_loop = {(op, role) for op, role, section in where if section == "body"}
        assert {op for op, role in in_loop if role == "producer"} == {
            "mbarrier_wait", "mbarrier_expect_tx", "mbarrier_arrive", "tma_load",
        }  # fmt: skip
        assert ("tma_load", "consumer") not in in_loop
        assert {s for op, _, s in where if op == "mbarrier_init"} == {"prologue"}
        assert "epilogue" not in {section for *_, section in where}
        assert {(op, role) for op, role in in_loop if op in ("mma_sync", "wgmma")} == {
            ("wgmma" if arch == "sm_90a" else "mma_sync", "consumer")
        }


# ---- lines -------------------------------------------------------------------------------------


def source_of(result):
    home = "gemm" if result.variant.kernel.startswith("gemm") else result.variant.kernel
    return (Path(kernels.__file__).parent / f"{home}.py").read_text().splitlines()


@points(*POINTS)
def test_lines_point_at_the_statement(lowered, point):
    """Copies at their T.copy, tensor-core work at its T.gemm where it is the only one, else the
    loop; what stands outside of every statement has no line.
    """  # noqa: D205 - one sentence
    result = lowered[point]
    source = source_of(result)
    operand = {"A_desc": "A[", "B_desc": "B[", "W_desc": "W[", "K_desc": "K[", "V_desc": "V[",
               "Q_desc": "Q["}  # fmt: skip
    for op in result.facts.sync_ops:
        assert (op.line is None) == (op.file is None) == (op.line_kind is None)
        if op.line is None:
            assert op.section != "body", op
            continue
        text = source[op.line - 1]
        if op.op == "tma_load":
            assert f"T.copy({operand[op.args['descriptor']]}" in text
        elif op.op == "cp_async_copy":
            assert "T.copy(" in text
            assert "_shared)" in text
        elif point[2] and point[0] != "flash_attention" and op.op.startswith(("mma_sync", "wgmma")):
            assert "T.gemm(" in text
        else:
            assert "for k in T.Pipelined(" in text, op


@points(*PIPELINED)
def test_exact_and_synthetic_lines(facts, point):
    """What the software pipeline copies keeps its own line; what a pass made does not claim one."""
    exact = {op.op for op in facts.sync_ops if op.line_kind == "exact"}
    if point[1] == "sm_80":
        assert exact == {"cp_async_copy"}
    else:
        assert exact == ({"tma_load"} if point[0] == "flash_attention" else set())


@points(*GEMMS)
def test_statements_have_their_lines(lowered, point):
    """Each statement of the loop is the line of the kernel that says it."""
    result = lowered[point]
    source = source_of(result)
    for loop in result.facts.pipeline_loops:
        assert "T.Pipelined(" in source[loop.line - 1]
        texts = [source[s.line - 1].strip() for s in loop.statements]
        assert [text.partition("[")[0].partition("(\n")[0] for text in texts[:2]] == [
            "T.copy(A", "T.copy(B",
        ]  # fmt: skip
        assert texts[2].startswith("T.gemm(")


# ---- trust -------------------------------------------------------------------------------------


@points(*POINTS)
def test_nothing_is_unsure(facts):
    """IR and CUDA agree, nothing is unknown; only a wait behind ``k == 0`` is worth a word."""
    said = [d.message for d in facts.diagnostics if d.code != "every-branch-taken"]
    bounds = [d.message for d in facts.diagnostics if d.code == "every-branch-taken"]
    assert said == []
    assert all(message.endswith("behind `k == 0` (mbarrier_wait)") for message in bounds)


@points(*POINTS)
def test_every_site_has_its_line_of_cuda(facts):
    """Sites pair up one to one, and lines go forward within each op."""
    lines = {}
    for op in facts.sync_ops:
        assert op.cuda_line is not None
        lines.setdefault(op.op, []).append(op.cuda_line)
    for found in lines.values():
        assert found == sorted(found)


def _walk(value):
    yield value
    if isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            yield from _walk(getattr(value, name))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _walk(key)
            yield from _walk(item)
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _walk(item)


@points(*POINTS)
def test_facts_are_plain_values(lowered, point):
    """No string or number of the compiler's own kind is left in a record."""
    plain = {str, int, float, bool, type(None), tuple, dict}
    for value in _walk(lowered[point]):
        assert isinstance(value, msgspec.Struct) or type(value) in plain, repr(value)


@points(*POINTS)
def test_passes(facts, point):
    """Every run is listed in order, and the passes that take the credit are among them."""
    passes = facts.lowering.passes
    assert [run.sequence for run in passes] == list(range(len(passes)))
    assert all(run.snapshot and run.ir_bytes for run in passes)
    assert {run.changed for run in passes} == {True, False}
    names = {run.name for run in passes if run.changed}
    for buffer in facts.shared_buffers:
        assert buffer.versioned_by is None or buffer.versioned_by in names
    for loop in facts.pipeline_loops:
        assert loop.pass_name in names
    assert math.prod(facts.launch.block) in (128, 256)
    assert facts.lowering.seconds is None, point
