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


EXPERIMENT = Experiment(
    question="What does num_stages do to the generated GEMM, and where does it do nothing?",
    cases=[Case(kernel="gemm", num_stages=[1, 2, 3, 4], arch=["sm_80", "sm_90a"])],
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
    ],
)

if __name__ == "__main__":
    from stagebench.cli import main

    raise SystemExit(main(["check", __file__, "--all"]))
