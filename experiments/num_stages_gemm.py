"""What does ``num_stages`` do to the generated GEMM, and where does it stop doing anything?

Question
    The built-in GEMM (1024 x 1024 x 1024, tile 128 x 128 x 64, 128 threads, float16, NT) is lowered
    for depths 1 to 4 on sm_80 and sm_90a.  Who schedules the loop, what is versioned, what is
    synchronised, and how often is it executed?

Run
    ``python experiments/num_stages_gemm.py`` prints the answers below from the facts and fails if
    one of them is no longer true.  It rewrites nothing; ``dumps/`` holds what it saw
    (``stagebench sweep --num-stages 1 2 3 4 --dump-dir dumps``).

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

from __future__ import annotations

import stagebench


def main() -> None:
    """Sweep, check each claim of the docstring, and print it with its numbers."""
    run = stagebench.sweep("gemm", num_stages=[1, 2, 3, 4], arch=["sm_80", "sm_90a"])
    facts = {}
    for result in run.variants:
        if result.facts is None:
            raise SystemExit(f"{result.variant}: {result.failure}")
        facts[result.variant.arch, result.variant.num_stages] = result.facts

    def loop(arch: str, depth: int):
        (only,) = facts[arch, depth].pipeline_loops
        return only

    def stages(depth: int) -> list[int]:
        return [statement.stage for statement in loop("sm_80", depth).statements]

    def orders(depth: int) -> list[int]:
        return [statement.order for statement in loop("sm_80", depth).statements]

    passes = {arch: loop(arch, 2).pass_name for arch in ("sm_80", "sm_90a")}
    assert passes == {
        "sm_80": "tl.PipelinePlanning",
        "sm_90a": "tl.ProducerConsumerWarpSpecialized",
    }
    print("1. scheduled by", passes)

    for (arch, depth), seen in facts.items():
        assert {b.name: b.num_versions for b in seen.shared_buffers} == {
            "A_shared": depth,
            "B_shared": depth,
        }, (arch, depth)
    deepest = {arch: facts[arch, 2].shared_memory.max_num_stages for arch in passes}
    assert deepest == {"sm_80": 5, "sm_90a": 7}
    print("2. one version of each tile a stage; the deepest that fits:", deepest)

    assert stages(1) == stages(2) == [0, 0, 1]
    assert (orders(1), orders(2)) == ([1, 2, 0], [0, 1, 2])
    print("3. sm_80, depths 1 and 2: stages", stages(1), "orders", orders(1), orders(2))

    commits = {d: facts["sm_80", d].sync_totals["cp_async_commit"] for d in (1, 2, 3, 4)}
    assert {total.dynamic for total in commits.values()} == {16}
    assert [total.static for total in commits.values()] == [2, 2, 3, 4]
    print("4. sm_80 commits: call sites", [t.static for t in commits.values()], "executions 16")

    bodies = {
        depth: [
            (op.op, op.dynamic) for op in facts["sm_90a", depth].sync_ops if op.section == "body"
        ]
        for depth in (1, 2, 3, 4)
    }
    assert all(body == bodies[1] for body in bodies.values())
    assert all(facts["sm_90a", depth].launch.block == (256, 1, 1) for depth in bodies)
    print("5. sm_90a:", len(bodies[1]), "calls in the loop bodies at every depth, 256 threads")


if __name__ == "__main__":
    main()
