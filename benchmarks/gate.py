"""How long does a check take that lowers nothing?

``python benchmarks/gate.py`` needs the committed baselines of ``num_stages_gemm`` and, for the
first table, TileLang (it lowers 8 variants once).  Times are the best of three, in this process
and, for the cached check, as a command.

1. 12 experiments of 8 variants, all in the cache: what ``stagebench check`` costs in CI when
   nothing changed.  Promise: under 2 s.
2. 1,000 recorded variants against 1,000 baselines, without lowering: read, compare, judge; all
   equal, and every one with a changed fact.  Promise: under 5 s, memory bounded.
"""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from stagebench.dump.files import read_dump
from stagebench.gate.baselines import read_baselines
from stagebench.gate.judge import judge
from stagebench.gate.policy import make_policy

ROOT = Path(__file__).parents[1]
ACCEPTED = ROOT / "dumps" / "num_stages_gemm" / "gemm"
EXPERIMENT = """\
from stagebench import Case, Experiment

EXPERIMENT = Experiment(
    question="q",
    cases=[Case(kernel="gemm", num_stages=[1, 2, 3, 4], arch=["sm_80", "sm_90a"])],
)
"""


def best_of_three(work):
    """The shortest of three runs, in seconds."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def run(folder, *arguments):
    """One command, which must succeed."""
    done = subprocess.run(
        [sys.executable, "-m", "stagebench", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)


def cached_check(folder):
    """12 experiments of 8 variants; the first `accept` lowers what the cache lacks."""
    (folder / "pyproject.toml").write_text("")
    (folder / "experiments").mkdir()
    for number in range(12):
        (folder / "experiments" / f"e{number:02}.py").write_text(EXPERIMENT)
    run(folder, "accept")
    print(
        f"12 cached experiments x 8 variants: {best_of_three(lambda: run(folder, 'check')):.2f} s"
    )


def recorded(folder):
    """1,000 variants against 1,000 baselines."""
    sources = [read_dump(path.parent) for path in sorted(ACCEPTED.rglob("variant.json"))]
    for number in range(1000):
        source = Path(sources[number % len(sources)].folder)
        shutil.copytree(source, folder / "dumps" / f"v{number:04}")
    policy = make_policy()

    def compare(change):
        known = read_baselines(folder / "dumps", shown="dumps", said="")
        drifts = 0
        for number, baseline in enumerate(known.baselines):
            source = sources[number % len(sources)]
            found = judge(change(source.result), source.kernel_cu, baseline, policy, shown="dumps")
            drifts += len(found.drifts)
        return drifts

    def changed(result):
        memory = msgspec.structs.replace(result.facts.shared_memory, dynamic_bytes=7)
        facts = msgspec.structs.replace(result.facts, shared_memory=memory)
        return msgspec.structs.replace(result, facts=facts)

    print(f"1,000 against 1,000, equal:   {best_of_three(lambda: compare(lambda r: r)):.2f} s")
    print(f"1,000 against 1,000, changed: {best_of_three(lambda: compare(changed)):.2f} s")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory of this process:  {peak:.0f} MiB")


def main():
    """Measure and print."""
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        recorded(Path(first))
        cached_check(Path(second))


if __name__ == "__main__":
    main()
