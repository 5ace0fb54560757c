"""Which facts does each of TileLang's switches change, and would the gate see it?

Question
    A GEMM that stages its result in shared memory, depths 2 and 3, sm_90a.  Three pass configs are
    real switches: what does the generated kernel lose with each, as facts?

Run
    ``stagebench check experiments/pass_switches.py`` holds each switch's case against its baseline.
    To see the gate turn red, switch one on in the case that has none:
    ``stagebench check experiments/pass_switches.py --only as_it_is --pass-config KEY=true``

Seen (TileLang 0.1.15)
    1. ``tl.disable_warp_specialized``: the loop becomes a software pipeline, TMA loads become
       cp.async copies, no mbarrier is left, half the threads are launched.
    2. ``tl.disable_tma_lower``: the loads stay TMA (it is not for them), the bulk store of the
       result, its commit, wait and descriptor vanish.
    3. ``tirx.disable_vectorize``: no fact of the schema changes, the text of the kernel does: the
       accumulator is cleared element by element.  Only a rule for ``kernel_cu`` sees it.
"""

from stagebench import Case, Experiment, expect

KERNEL = "kernels/staged_gemm.py:staged_gemm"


def switched(name, key):
    """The case with one switch on."""
    return Case(
        kernel=KERNEL, name=name, num_stages=[2, 3], arch="sm_90a", pass_configs={key: True}
    )


EXPERIMENT = Experiment(
    question="Which facts does each of TileLang's switches change, and would the gate see it?",
    cases=[
        Case(
            kernel=KERNEL,
            name="as_it_is",
            num_stages=[2, 3],
            arch="sm_90a",
            policy={"kernel_cu": "exact"},
        ),
        switched("no_warp_specialization", "tl.disable_warp_specialized"),
        switched("no_tma_store", "tl.disable_tma_lower"),
        switched("no_vectorization", "tirx.disable_vectorize"),
    ],
    expectations=[
        expect(
            "as it is: warp specialised, TMA in and out",
            lambda v: (
                v.loops[0].scheduled_by == "warp_specialization"
                and v.totals["tma_load"].static > 0
                and v.totals["tma_store"].static == 1
            ),
            where={"case": "as_it_is"},
        ),
        expect(
            "1. a software pipeline of cp.async copies, no mbarrier, half the threads",
            lambda v: (
                v.loops[0].scheduled_by == "software_pipeline"
                and v.totals["tma_load"].static == 0
                and v.totals["cp_async_copy"].static > 0
                and v.totals["mbarrier_wait"].static == 0
                and 2 * v.launch.block[0] == v.at(case="as_it_is").launch.block[0]
            ),
            where={"case": "no_warp_specialization"},
        ),
        expect(
            "2. the bulk store is gone, the loads are not",
            lambda v: (
                v.totals["tma_store"].static == v.totals["tma_store_wait"].static == 0
                and v.totals["tma_load"] == v.at(case="as_it_is").totals["tma_load"]
            ),
            where={"case": "no_tma_store"},
        ),
        expect(
            "3. the accumulator is cleared element by element, not four at a time",
            lambda v: (
                "make_float4" not in v.kernel_cu
                and "make_float4" in v.at(case="as_it_is").kernel_cu
            ),
            where={"case": "no_vectorization"},
        ),
    ],
)

if __name__ == "__main__":
    from stagebench.cli import main

    raise SystemExit(main(["check", __file__, "--all"]))
