"""Which runs do the report's tests read?  Run this to record them again after a change of facts.

``python tests/report/record_runs.py`` writes ``data/*.json`` (the run, with few of its passes) and
``data/*.cu.json`` (the CUDA texts' digests, enough to see which are equal).  Needs TileLang.
"""

from __future__ import annotations

import json
import sys
from hashlib import blake2b
from pathlib import Path

import msgspec

from stagebench.experiment.sweep import SweepOptions, run_sweep
from stagebench.experiment.sweep_plan import SweepPlan
from stagebench.model import Run, VariantResult
from stagebench.model.codec import encode_pretty

DATA = Path(__file__).parent / "data"
PASSES = 8
CORPUS = Path(__file__).parent.parent / "corpus" / "kernels"


def _plan(kernel: str, archs: str, depths: str, **params: object) -> SweepPlan:
    return SweepPlan(
        kernel=kernel if kernel == "gemm" else str(CORPUS / kernel),
        num_stages=tuple(int(depth) for depth in depths),
        archs=tuple(archs.split()),
        params={name: (value,) for name, value in params.items()},
    )


PLANS = {
    "gemm_sm80": _plan("gemm", "sm_80", "1234"),
    "gemm_sm90a": _plan("gemm", "sm_90a", "01234"),
    "attention": _plan(
        "k21_attention.py:attention", "sm_80 sm_90a", "123",
        causal=False, S=512, D=64, bm=64, bn=64, threads=128,
    ),
    "nested": _plan(
        "k26_nested.py:nested_both", "sm_80 sm_90a", "123",
        M=128, N=128, K=512, bm=64, bn=64, bk=32, outer=4, outer_stages=2,
    ),
    "refill": _plan(
        "k02_war_refill.py:consume_then_refill", "sm_80 sm_90a", "1234",
        steps=16, width=512, threads=128,
    ),
    "overflow": _plan(
        "k28_smem_overflow.py:big_tile_gemm", "sm_80 sm_90a", "12345",
        M=512, N=512, K=1024, bm=128, bn=256, bk=64, threads=256,
    ),
    "failing": _plan(
        "k04_read_after_loop.py:last_tile_epilogue", "sm_80 sm_90a", "0123",
        M=256, N=256, K=256, bm=64, bn=64, bk=32,
    ),
}  # fmt: skip


def _slim(result: VariantResult) -> VariantResult:
    if result.facts is None:
        return result
    passes = [run for run in result.facts.lowering.passes if run.depth or run.changed]
    cost = msgspec.structs.replace(result.facts.lowering, passes=tuple(passes[:PASSES]))
    facts = msgspec.structs.replace(result.facts, lowering=cost)
    return msgspec.structs.replace(result, facts=facts)


def main(names: list[str]) -> None:
    """Record the named runs, or all of them."""
    DATA.mkdir(exist_ok=True)
    for name in names or list(PLANS):
        result = run_sweep(PLANS[name], SweepOptions(jobs=2))
        run = Run(variants=tuple(_slim(variant) for variant in result.run.variants))
        packed = msgspec.json.encode(run, order="deterministic") + b"\n"
        (DATA / f"{name}.json").write_bytes(packed)
        digests = [
            None if text is None else blake2b(text.encode(), digest_size=8).hexdigest()
            for text in result.kernel_cus
        ]
        (DATA / f"{name}.cu.json").write_text(json.dumps(digests) + "\n")
        sys.stderr.write(f"{name}: {len(encode_pretty(run))} bytes\n")


if __name__ == "__main__":
    main(sys.argv[1:])
