"""What does ``num_stages`` do to the generated GEMM, and where does it stop doing anything?

Question
    The built-in GEMM (1024 x 1024 x 1024, tile 128 x 128 x 64, 128 threads, float16, NT) is lowered
    for depths 1 to 4 on sm_80 and sm_90a.  Who schedules the loop, what is versioned, what is
    synchronised, and how often is it executed?

Run
    ``stagebench check experiments/num_stages_gemm.py --all`` shows every answer with the values it
    saw, and fails if one is no longer true or any fact is not what ``dumps/num_stages_gemm`` says.

Seen (TileLang 0.1.15)
    1. Two different passes do the work: on sm_80 ``tl.PipelinePlanning`` plans a software pipeline,
       on sm_90a ``tl.ProducerConsumerWarpSpecialized`` takes the loop before it.
    2. Each stage is one more version of both tiles, 32 KiB a stage: 5 stages fit an A100's
       163 KiB, 7 a Hopper's 227 KiB.
    3. On sm_80 depths 1 and 2 have the same stages (0, 0, 1) and the same call sites; they differ
       in *order* and in how many groups may stay in flight at the wait.  ``max(stage) + 1`` is
       therefore not the depth.
    4. The number of executed commits does not depend on the depth (one for each of 16 trips).
       Call sites do: prologue and epilogue grow with the depth, so text counts alone mislead.
    5. On sm_90a the depth changes memory and barriers only: the loop bodies' calls are the same at
       every depth, with twice the threads that the kernel asked for.

Seen in the machine code (NVRTC and ptxas 13.0; ``machine_of_num_stages.svg``)
    6. What the IR says is executed is executed: at every depth the four levels (IR, CUDA, PTX,
       SASS) agree, every difference having a name, and nothing spills.
    7. sm_80 pays for depth with occupancy: two CTAs per SM up to depth 2, one from depth 3 on, by
       shared memory.  On sm_90a the registers that ``setmaxnreg`` moves allow one CTA at any depth.
    8. The frontier: 5 stages fit an A100 and 2 leave room for a second CTA; 7 and 3 on a Hopper.
    9. Of the 240 registers that each consumer gets at every depth it uses 152, of its 24 the
       producer uses 4: depth is not what registers limit.
    10. Between two waits of the steady state the sm_80 code has 128 matrix instructions to hide a
       copy behind, whatever the depth: what depth buys is how long a copy may take.

    ``stagebench sweep --num-stages 0 1 2 3 4 --machine --chart machine_of_num_stages.svg`` draws
    it.
"""

from stagebench import Case, Experiment, expect

SM_80, SM_90A = {"arch": "sm_80"}, {"arch": "sm_90a"}


def stages(v):
    """The stage of each statement of the loop."""
    return [statement.stage for statement in v.loops[0].statements]


def orders(v):
    """The order of each statement of the loop."""
    return [statement.order for statement in v.loops[0].statements]


def calls_in_bodies(v):
    """Every call of a loop's steady state with its executions."""
    return [(site.op, site.dynamic) for site in v.sync_ops if site.section == "body"]


def frontier(v):
    """The deepest num_stages with one CTA and with two, of the variant's own arch."""
    own = v.machine.frontier[0]
    return {own.arch: (own.max_num_stages, own.max_num_stages_two_ctas)}


EXPERIMENT = Experiment(
    question="What does num_stages do to the generated GEMM, and where does it do nothing?",
    cases=[Case(kernel="gemm", num_stages=[1, 2, 3, 4], arch=["sm_80", "sm_90a"], machine=True)],
    expectations=[
        expect(
            "1. sm_80: PipelinePlanning plans a software pipeline",
            lambda v: (
                (v.loops[0].scheduled_by, v.loops[0].pass_name)
                == ("software_pipeline", "tl.PipelinePlanning")
            ),
            where=SM_80,
        ),
        expect(
            "1. sm_90a: warp specialisation takes the loop first",
            lambda v: (
                (v.loops[0].scheduled_by, v.loops[0].pass_name)
                == ("warp_specialization", "tl.ProducerConsumerWarpSpecialized")
            ),
            where=SM_90A,
        ),
        expect(
            "2. one version of each tile a stage",
            lambda v: (
                {buffer.name: buffer.num_versions for buffer in v.buffers}
                == {"A_shared": v.num_stages, "B_shared": v.num_stages}
            ),
        ),
        expect(
            "2. sm_80: 5 stages fit",
            lambda v: v.shared_memory.max_num_stages == 5,
            where={**SM_80, "num_stages": [2, 3, 4]},
        ),
        expect(
            "2. sm_90a: 7 stages fit",
            lambda v: v.shared_memory.max_num_stages == 7,
            where={**SM_90A, "num_stages": [2, 3, 4]},
        ),
        expect(
            "3. sm_80: depths 1 and 2 have the same stages, in another order",
            lambda v: (
                stages(v) == stages(v.at(num_stages=2)) == [0, 0, 1]
                and (orders(v), orders(v.at(num_stages=2))) == ([1, 2, 0], [0, 1, 2])
            ),
            where={**SM_80, "num_stages": 1},
        ),
        expect(
            "4. sm_80: one executed commit for each of 16 trips, whatever the depth",
            lambda v: v.totals["cp_async_commit"].dynamic == 16,
            where=SM_80,
        ),
        expect(
            "4. sm_80: call sites of the commit grow with the depth",
            lambda v: v.totals["cp_async_commit"].static == max(2, v.num_stages),
            where=SM_80,
        ),
        expect(
            "5. sm_90a: the loop bodies' calls are the same at every depth",
            lambda v: calls_in_bodies(v) == calls_in_bodies(v.at(num_stages=1)),
            where=SM_90A,
        ),
        expect(
            "5. sm_90a: twice the threads that the kernel asked for",
            lambda v: v.launch.block == (2 * v.params["threads"], 1, 1),
            where=SM_90A,
        ),
        expect(
            "6. the four levels agree and nothing spills",
            lambda v: all(row.agreed for row in v.machine.levels) and v.machine.spill_bytes == 0,
        ),
        expect(
            "6. the PTX executes what the IR says",
            lambda v: (
                {op: v.machine.sync_ptx[op].executed for op in v.totals}
                == {op: v.totals[op].dynamic for op in v.totals}
            ),
        ),
        expect(
            "7. sm_80: a second CTA fits an SM up to depth 2",
            lambda v: v.machine.occupancy.ctas_per_sm == (2 if v.num_stages <= 2 else 1),
            where=SM_80,
        ),
        expect(
            "7. sm_90a: one CTA at any depth, by registers",
            lambda v: (
                v.machine.occupancy.ctas_per_sm == 1 and "registers" in v.machine.occupancy.limiters
            ),
            where=SM_90A,
        ),
        expect(
            "8. the frontier of each arch, for one CTA and for two",
            lambda v: (
                frontier(v) == ({"sm_80": (5, 2)} if v.arch == "sm_80" else {"sm_90": (7, 3)})
            ),
            where={"num_stages": [2, 3, 4]},
        ),
        expect(
            "9. sm_90a: what each role uses of its registers",
            lambda v: (
                {r.role: (r.used, r.budget) for r in v.machine.resources.role_registers}
                == {"producer": (4, 24), "consumer": (152, 240)}
            ),
            where=SM_90A,
        ),
        expect(
            "10. sm_80: 128 matrix instructions between two waits of the steady state",
            lambda v: [w.mma for w in v.machine.overlap if w.section == "body"] == [128],
            where=SM_80,
        ),
    ],
)

if __name__ == "__main__":
    from stagebench.cli import main

    raise SystemExit(main(["check", __file__, "--all"]))
