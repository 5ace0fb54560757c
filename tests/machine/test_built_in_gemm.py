"""What really runs of the built-in GEMM?  Every number by value, at depths 0 to 4 on two archs."""

from pathlib import Path

import pytest

from stagebench.experiment.sweep import SweepOptions, run_sweep
from stagebench.experiment.sweep_plan import SweepPlan
from stagebench.lowering.cache_folder import default_cache_folder

pytestmark = pytest.mark.tilelang

DEPTHS = (0, 1, 2, 3, 4)
KERNELS = Path(__file__).parent / "kernels"


def swept(**plan):
    options = SweepOptions(assembler="nvrtc", cache_dir=default_cache_folder(), jobs=2)
    return run_sweep(SweepPlan(**plan), options).run.variants


@pytest.fixture(scope="module")
def machines():
    """The facts by arch and depth."""
    variants = swept(kernel="gemm", num_stages=DEPTHS, archs=("sm_80", "sm_90a"))
    return {(one.variant.arch, one.variant.num_stages): one.facts for one in variants}


def counts(machines, arch, op):
    """Static and executed PTX, static SASS, by depth."""
    found = []
    for depth in DEPTHS:
        machine = machines[arch, depth].machine
        ptx, sass = machine.sync_ptx.get(op), machine.sync_sass.get(op)
        found.append(
            (ptx.static if ptx else 0, ptx.executed if ptx else 0, sass.static if sass else 0)
        )
    return found


@pytest.mark.parametrize(
    ("arch", "op", "expected"),
    [
        ("sm_80", "syncthreads", [(2, 32, 32), (3, 31, 3), (3, 31, 3), (4, 30, 4), (5, 29, 5)]),
        ("sm_80", "cp_async_commit", [(0, 0, 0), (2, 16, 4), (2, 16, 3), (3, 16, 4), (4, 16, 5)]),
        ("sm_80", "cp_async_wait", [(0, 0, 0), (2, 16, 2), (2, 16, 2), (3, 16, 3), (4, 16, 4)]),
        ("sm_80", "cp_async_copy",
         [(0, 0, 0), (32, 256, 32), (32, 256, 32), (48, 256, 48), (64, 256, 64)]),
        ("sm_80", "mma_sync",
         [(128, 2048, 2048), (256, 2048, 256), (256, 2048, 256), (384, 2048, 384),
          (512, 2048, 512)]),
        ("sm_90a", "tma_load",
         [(0, 0, 0), (32, 32, 32), (32, 32, 32), (32, 32, 32), (32, 32, 32)]),
        ("sm_90a", "mbarrier_wait",
         [(0, 0, 0), (20, 32, 20), (18, 32, 18), (18, 32, 18), (18, 32, 18)]),
        ("sm_90a", "wgmma", [(8, 128, 8), (32, 128, 32), (16, 128, 16), (16, 128, 16),
                             (16, 128, 16)]),
        ("sm_90a", "mbarrier_init", [(0, 0, 0), (2, 2, 2), (4, 4, 4), (6, 6, 6), (8, 8, 8)]),
    ],
)  # fmt: skip
def test_static_and_executed_counts(machines, arch, op, expected):
    """Static counts move with unrolling; what is executed does not."""
    assert counts(machines, arch, op) == expected


def test_the_four_levels_agree(machines):
    """Every difference between neighbouring levels has a name, at every depth."""
    differ = {
        key: [row.op for row in facts.machine.levels if not row.agreed]
        for key, facts in machines.items()
    }
    assert set(map(tuple, differ.values())) == {()}
    assert all(facts.machine.walk.complete for facts in machines.values())


def test_executed_counts_are_those_of_the_ir(machines):
    """The walk of the PTX is an oracle for every dynamic count of the IR."""
    for facts in machines.values():
        for op, total in facts.sync_totals.items():
            assert facts.machine.sync_ptx[op].executed == total.dynamic, op


def test_registers_and_occupancy(machines):
    """Shared memory ends the second CTA on sm_80 at depth 3, registers on sm_90a at any depth."""
    ctas = {key: facts.machine.occupancy.ctas_per_sm for key, facts in machines.items()}
    assert [ctas["sm_80", depth] for depth in DEPTHS] == [2, 2, 2, 1, 1]
    assert [ctas["sm_90a", depth] for depth in DEPTHS] == [2, 1, 1, 1, 1]
    assert machines["sm_80", 3].machine.occupancy.limiters == ("shared_memory",)
    assert [machines["sm_90a", depth].machine.registers for depth in DEPTHS[1:]] == [240] * 4
    roles = machines["sm_90a", 2].machine.resources.role_registers
    assert {role.role: role.budget for role in roles} == {"producer": 24, "consumer": 240}
    assert {facts.machine.spill_bytes for facts in machines.values()} == {0}


def test_the_frontier(machines):
    """Largest depth for one CTA and for two, on the variant's own arch first."""
    own = {arch: machines[arch, 3].machine.frontier[0] for arch in ("sm_80", "sm_90a")}
    assert [(p.arch, p.max_num_stages, p.max_num_stages_two_ctas) for p in own.values()] == [
        ("sm_80", 5, 2), ("sm_90", 7, 3),
    ]  # fmt: skip
    assert machines["sm_90a", 0].machine.frontier[0].max_num_stages is None


def test_arithmetic(machines):
    """2·M·N·K FLOPs whatever the instruction; each tensor once is 6 MiB."""
    for facts in machines.values():
        work = facts.machine.arithmetic
        assert (work.flops, work.compulsory_bytes) == (2 * 1024**3, 6 << 20)
    names = {shape.instruction: shape.executed
             for shape in machines["sm_90a", 2].machine.arithmetic.mma}  # fmt: skip
    assert names == {"wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16": 128}
    floor = next(f for f in machines["sm_90a", 2].machine.arithmetic.floors if "H200" in f.device)
    assert (floor.bound_by, round(floor.floor_us, 2)) == ("compute", 2.17)


def test_who_executes_what(machines):
    """The producer's one thread loads, the consumer's 128 multiply."""
    walk = machines["sm_90a", 3].machine.walk
    loads = [(p.role, p.threads) for p in walk.paths if p.counts.get("tma_load")]
    assert loads == [("producer", 1)]
    multiplies = [p for p in walk.paths if p.counts.get("wgmma")]
    assert sum(path.threads for path in multiplies) == 128
    assert {path.role for path in multiplies} == {"consumer"}
    assert walk.bytes_loaded == 16 * 2 * 16384
    assert machines["sm_80", 3].machine.walk.bytes_loaded == 16 * 2 * 16384


def test_what_a_wait_can_overlap(machines):
    """In the steady state of sm_80 code 128 MMAs stand between two waits."""
    windows = [w for w in machines["sm_80", 3].machine.overlap if w.section == "body"]
    assert [(w.mma, w.async_copies) for w in windows] == [(128, 16)]


def test_a_kernel_that_does_not_assemble_keeps_its_other_facts():
    """The compiler's own first line, and the line of kernel.cu that it is about."""
    (result,) = swept(
        kernel=f"{KERNELS / 'undefined_function.py'}:calls_what_nobody_defines",
        num_stages=(2,),
        archs=("sm_80",),
    )
    assert result.outcome == "lowered"
    assert result.facts.machine is None
    (said,) = [d for d in result.facts.diagnostics if d.code == "not-assembled"]
    assert 'identifier "nobody_defines_this" is undefined' in said.message
    assert [(e.artifact, e.line is not None) for e in said.evidence] == [("kernel.cu", True)]


def test_variants_with_the_same_text_all_get_their_facts():
    """A text is assembled once, however many depths it is of."""
    variants = swept(
        kernel=f"{KERNELS / 'depth_without_effect.py'}:copies_in_registers",
        num_stages=(1, 2, 3),
        archs=("sm_80",),
    )
    assert len({one.facts.machine.registers for one in variants}) == 1
    assert [one.facts.machine.walk.bytes_loaded for one in variants] == [512] * 3
