# ruff: noqa: T201 - a tool that prints its table
"""Do `profile`'s verdicts agree with what a Hopper GPU was measured to compute on the corpus?

``python tests/gpu/corpus_truth.py build DIR`` lowers and assembles the points of
``hopper_truth.csv`` (needs TileLang, both Apache TVMs and the assembler) and bundles them;
``stagebench profile DIR -o OUT --runs 0 --repeats 15`` runs them on a Hopper GPU;
``python tests/gpu/corpus_truth.py compare DIR OUT [FILE]`` prints the agreement, writes each point
with its verdict to ``FILE``, and ends with 1 where a point that was run disagrees.
``corpus_verdicts.csv`` is what that wrote on a Hopper GPU.
"""

import csv
import json
import sys
from collections import Counter
from pathlib import Path

import msgspec

ROOT = Path(__file__).resolve().parents[2]
TRUTH = Path(__file__).with_name("hopper_truth.csv")
POINTS = "points.json"
DEVICE_ARCH = "sm_90"
SCALARS = {"K": 256}
"""The symbolic K of k09."""
RANGES = {"first": (0, 2), "last": (2, 5)}
"""k07: a block takes part from ``first`` up to, not including, ``last``."""
TVM = "tvm"
"""The file of a point of Apache TVM is ``tvm`` and its release."""
ORDERS = {"consumer_first": (1, 2, 0), "producer_first": (0, 1, 2)}
"""The S-TIR GEMM's two schedules; its ``num_stages`` is the product's stage."""
VERDICTS = Path(__file__).with_name("corpus_verdicts.csv")
BAD = ("wrong", "race", "fails", "hangs")
PROVEN = {"ok": ("correct", "not_compared"), "wrong": ("wrong", "race"), "error": ("fails",)}
"""The truth's status → the verdicts that agree with it."""


def read_truth():
    """Rows by point: file, function, arch, depth."""
    with TRUTH.open(newline="") as stream:
        return {
            (row["file"], row["fn"], row["arch"], int(row["num_stages"])): row
            for row in csv.DictReader(stream)
        }


def build(target, *only):
    """Lower, assemble and bundle every point, or those whose case has one of ``only`` in it."""
    sys.path.insert(0, str(ROOT))
    from stagebench.bundle.assembling import Assembling
    from stagebench.bundle.build import BuildOptions, Candidate, build_bundle
    from stagebench.bundle.records import ValueRange
    from stagebench.experiment.sweep import SweepOptions, run_sweep
    from stagebench.gpu.poison_ptx import PTX
    from tests.corpus.ground_truth import read_cases
    from tests.corpus.test_ground_truth import plan_of
    from tests.lowered import warm

    truth = read_truth()
    candidates, points = [], []
    cases = [c for c in read_cases() if not only or any(text in c.key for text in only)]
    warm([plan_of(case) for case in cases if case.arch in ("sm_80", "sm_90a")])
    for case in cases:
        wanted = {d for d in case.depths if (case.file, case.entry, case.arch, d) in truth}
        if not wanted:
            continue
        result = run_sweep(plan_of(case), SweepOptions(warn=_say))
        for variant, cuda in zip(result.run.variants, result.kernel_cus, strict=True):
            if variant.variant.num_stages in wanted:
                point = (case.file, case.entry, case.arch, variant.variant.num_stages)
                candidates.append(Candidate(result=variant, kernel_cu=cuda))
                points.append((variant.variant, point))
        _say(f"lowered {case.key}: {len(candidates)} points")
    for point, variant, cuda in _tvm_points(truth, only):
        if all(variant.variant != one for one, _ in points):  # depth 0 has no order
            candidates.append(Candidate(result=variant, kernel_cu=cuda))
        points.append((variant.variant, point))
    ranges = {name: ValueRange(low=low, high=high) for name, (low, high) in RANGES.items()}
    options = BuildOptions(device_arch=DEVICE_ARCH, scalars=SCALARS, values=ranges)
    with Assembling(_say) as source:
        bundle = build_bundle(
            target, candidates, source, options, poison=source.ptx(PTX, ["sm_90"]),
            progress=lambda done, total: _say(f"assembled {done} of {total}"),
        )  # fmt: skip
    named = {}
    for variant in bundle.variants:
        named[variant.id] = [point for one, point in points if one == variant.variant]
    (target / POINTS).write_text(json.dumps(named, indent=1))
    for one in bundle.skipped:
        _say(f"skipped {one.variant.kernel} {one.variant.arch} {one.variant.num_stages}: "
             f"{one.reason.splitlines()[0]}")  # fmt: skip
    size = sum(path.stat().st_size for path in target.rglob("*") if path.is_file())
    _say(f"{len(bundle.variants)} variants, {size / 1e6:.1f} MB in {target}")


def _tvm_points(truth, only):
    """The S-TIR GEMM by each release that has points, lowered as they were: stage (0, 0, depth)."""
    from stagebench.experiment.sweep import SweepOptions, run_sweep
    from stagebench.experiment.sweep_plan import SweepPlan

    for point in truth:
        file, function, arch, depth = point
        if not file.startswith(TVM) or (only and not any(text in file for text in only)):
            continue
        params = {"stage": ((0, 0, depth),), "order": (ORDERS[function],)} if depth else {}
        plan = SweepPlan(
            kernel="gemm", num_stages=(depth + 1 if depth else 0,), archs=(arch,), params=params,
            compilers=(f"{TVM}=={file.removeprefix(TVM)}",),
        )  # fmt: skip
        result = run_sweep(plan, SweepOptions(warn=_say))
        yield point, result.run.variants[0], result.kernel_cus[0]


def compare(target, out, kept=None):
    """Print where verdicts and truth part; returns the exit code."""
    from stagebench.gpu.records import PROFILE, Profile

    truth = read_truth()
    read = json.loads((target / POINTS).read_text())
    named = {key: [tuple(point) for point in points] for key, points in read.items()}
    found = msgspec.json.decode((out / PROFILE).read_bytes(), type=Profile)
    table, disagreements = tally(truth, named, found.variants)
    for line in disagreements:
        print(line)
    if kept is not None:
        with kept.open("w", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(["file", "fn", "arch", "num_stages", "verdict"])
            writer.writerows(
                sorted(
                    (*at, one.correctness.verdict) for one in found.variants for at in named[one.id]
                )
            )
    for (status, verdict), count in sorted(table.items()):
        print(f"{status:6} {verdict:13} {count}")
    ran = sum(table.values())
    agreed = ran - len(disagreements)
    print(f"{agreed} of {ran} points agree; {len(truth) - ran} of {len(truth)} were not run")
    return 1 if disagreements else 0


def tally(truth, named, variants):
    """Counts by (status, verdict), and a line for each point that disagrees."""
    table, disagreements = Counter(), []
    for one in variants:
        verdict = one.correctness.verdict
        for point in named[one.id]:
            row = truth[point]
            table[row["status"], verdict] += 1
            if verdict not in PROVEN[row["status"]]:
                disagreements.append(
                    f"{point}: truth {row['status']} ({row['fraction_wrong']} wrong, "
                    f"{row['error']}), verdict {verdict}: {_why(one)}"
                )
    return table, disagreements


def _why(one):
    if one.error:
        return one.error.message
    return "; ".join(
        f"{t.tensor} error {t.relative_error} wrong {t.fraction_wrong:.3f}"
        for t in one.correctness.tensors
    )


def _say(message):
    print(message, file=sys.stderr, flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "build":
        build(Path(sys.argv[2]), *sys.argv[3:])
    else:
        sys.exit(compare(*(Path(argument) for argument in sys.argv[2:])))
