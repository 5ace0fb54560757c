"""What do Apache TVM's two pipelines make of a kernel, from elementwise to a pipeline of TMA?

Question
    Four rungs in TIRx (``experiments/kernels/tvm_ladder.py``), then the GEMM three ways: scheduled
    (S-TIR) with FMAs, and in TIRx with a ring that ``cp.async`` or TMA fills.  What synchronises,
    how often, and what does a stage cost?

Run
    ``stagebench check experiments/tvm_ladder.py --all`` (needs ``stagebench[tvm]``).

Seen (Apache TVM 0.25.0.post1; the rungs on 0.26.0 and 0.27.0.post1 too)
    1. Elementwise synchronises nothing; the reduction in shared memory has two barriers in its text
       and executes one for the fill and one for each of 7 levels; shuffles leave one.
    2. The ring of depth d: d - 1 groups before the loop, one commit and one wait a trip, and the
       wait leaves d - 1 groups in flight.
    3. S-TIR's depth 1 is a pipeline of one stage without ``cp.async``: TileLang's depth 1 has
       ``cp.async`` and waits for all of it at once (``stagebench diff gemm --compiler tilelang
       tvm --num-stages 1 --arch sm_80``).
    4. S-TIR's depth d: d versions of both tiles, waits d - 1 down to 0, one commit a trip whatever
       the depth.
    5. The TMA ring has a full and an empty barrier a stage; its two copies a trip expect the bytes
       of both tiles on one of them.
"""

from stagebench import Case, Experiment, expect

KERNELS = "kernels/tvm_ladder.py"
TRIPS = 32  # K 1024 in tiles of 32


def waits(v):
    """How many groups each wait leaves in flight, in program order."""
    return [site.args["max_pending"] for site in v.sync_ops if site.op == "cp_async_wait"]


def totals(v):
    """Call sites and executions of every op."""
    return {op: (v.totals[op].static, v.totals[op].dynamic) for op in v.totals}


def rung(function, **axes):
    """A case of the ladder's file."""
    return Case(kernel=f"{KERNELS}:{function}", compiler="tvm", arch="sm_90a", **axes)


EXPERIMENT = Experiment(
    question="What synchronises in Apache TVM's kernels, how often, and what does a stage cost?",
    cases=[
        rung("elementwise"),
        rung("shared_reduction"),
        rung("warp_reduction"),
        rung("async_pipeline", num_stages=[2, 3, 4]),
        Case(kernel="gemm", compiler="tvm", arch="sm_80", num_stages=[1, 2, 3, 4]),
        Case(kernel="gemm_tirx", compiler="tvm", arch="sm_80", num_stages=[2, 3]),
        Case(kernel="gemm_tirx_tma", compiler="tvm", arch="sm_90a", num_stages=[2, 3]),
    ],
    expectations=[
        expect(
            "1. elementwise synchronises nothing",
            lambda v: totals(v) == {},
            where={"case": "elementwise"},
        ),
        expect(
            "1. one barrier for the fill, one for each of 7 levels",
            lambda v: totals(v) == {"syncthreads": (2, 8)},
            where={"case": "shared_reduction"},
        ),
        expect(
            "1. shuffles leave one barrier",
            lambda v: totals(v) == {"syncthreads": (1, 1)},
            where={"case": "warp_reduction"},
        ),
        expect(
            "2. the ring: d - 1 groups ahead, one wait a trip that leaves them in flight",
            lambda v: (
                waits(v) == [v.num_stages - 1]
                and totals(v)["cp_async_commit"] == (v.num_stages, 128 + v.num_stages - 1)
            ),
            where={"case": "async_pipeline"},
        ),
        expect(
            "3. S-TIR: a pipeline of one stage copies plainly",
            lambda v: totals(v) == {"syncthreads": (2, 2 * TRIPS)},
            where={"case": "gemm", "num_stages": 1},
        ),
        expect(
            "4. S-TIR: a version a stage, waits d - 1 to 0, one commit a trip",
            lambda v: (
                {b.name: b.num_versions for b in v.buffers}
                == {"A_shared": v.num_stages, "B_shared": v.num_stages}
                and waits(v) == list(range(v.num_stages - 1, -1, -1))
                and v.totals["cp_async_commit"].dynamic == TRIPS
            ),
            where={"case": "gemm", "num_stages": [2, 3, 4]},
        ),
        expect(
            "5. TMA: a full and an empty barrier a stage",
            lambda v: sorted(b.count for b in v.barriers) == [v.num_stages, v.num_stages],
            where={"case": "gemm_tirx_tma"},
        ),
        expect(
            "5. TMA: two copies a trip",
            lambda v: v.totals["tma_load"].dynamic == 2 * TRIPS,
            where={"case": "gemm_tirx_tma"},
        ),
    ],
)

if __name__ == "__main__":
    from stagebench.cli import main

    raise SystemExit(main(["check", __file__, "--all"]))
