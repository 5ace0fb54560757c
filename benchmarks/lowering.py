"""Are the promises about speed kept?  ``python benchmarks/lowering.py`` prints a table of ratios.

Every row is a ratio of two times taken in this one run, on this machine, so that a slow or busy
machine changes both sides alike.  A row over its bound makes the exit code 1.

1. observed ÷ bare: lowering the default sweep's variants with all facts and snapshots, against
   TileLang's own lowering alone, both in one process that has imported it (medians of repetitions).
2. cold sweep ÷ (bare ÷ cores + one import): what a user waits for against what can't be avoided;
   the two are measured in turns, and the row is the turn with the median ratio, because a shared
   machine is now and then half as fast as a minute before.
3. cached sweep ÷ cold sweep.
4. ``--help`` ÷ ``python -c pass``.
5. the largest dump of the default sweep ÷ 100 KB.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPETITIONS = 5
VARIANTS = [(arch, depth) for arch in ("sm_80", "sm_90a") for depth in (1, 2, 3, 4)]
DUMP_LIMIT_BYTES = 100_000


def main() -> int:
    """Measure, print the table, and return 1 if a bound is broken."""
    if sys.argv[1:2] == ["--lower"]:
        json.dump(_lower_in_this_process(int(sys.argv[2])), sys.stdout)
        return 0
    lowering = _lowering(REPETITIONS)
    cores = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as place:
        turns, cached, dump = _sweeps(Path(place), cores)
    cold, unavoidable = turns[len(turns) // 2]
    help_ = _best([sys.executable, "-m", "stagebench", "--help"])
    nothing = _best([sys.executable, "-c", "pass"])
    rows = [
        ("observed ÷ bare lowering", lowering["observed"], lowering["bare"], 1.3),
        ("cold sweep ÷ (bare ÷ cores + import)", cold, unavoidable, 1.3),
        ("cached sweep ÷ cold sweep", cached, cold, 1 / 15),
        ("--help ÷ python -c pass", help_, nothing, 15),
        ("largest dump ÷ 100 KB", dump, DUMP_LIMIT_BYTES, 1),
    ]
    print(f"{'':40}{'measured':>12}{'against':>12}{'ratio':>9}{'bound':>9}")
    broken = 0
    for name, measured, against, bound in rows:
        ratio = measured / against
        broken += ratio > bound
        unit = (lambda v: f"{v / 1000:.1f} KB") if "dump" in name else (lambda v: f"{v:.3f} s")
        mark = "" if ratio <= bound else "  over"
        print(f"{name:40}{unit(measured):>12}{unit(against):>12}{ratio:9.3f}{bound:9.3f}{mark}")
    print(f"{cores} cores, medians of {REPETITIONS}, best of 10 for start-up")
    return int(broken > 0)


def _lowering(repetitions: int) -> dict[str, float]:
    return json.loads(_output(sys.executable, __file__, "--lower", str(repetitions)))


def _lower_in_this_process(repetitions: int) -> dict[str, float]:
    """Seconds for the import, and for all variants bare and observed, interleaved."""
    began = time.perf_counter()
    from stagebench.worker.protocol import LowerRequest
    from stagebench.worker.tilelang import adapter
    from stagebench.worker.tilelang.load import KernelRequest, load_kernel

    seconds = {"import": time.perf_counter() - began, "bare": 0.0, "observed": 0.0}
    for arch, depth in VARIANTS:
        kernel = KernelRequest(
            path=None, function="gemm", params={}, num_stages=depth, stage_param=None, arch=arch
        )
        request = LowerRequest(kernel="gemm", pass_configs={}, **_fields(kernel))
        bare, observed = [], []
        for _ in range(repetitions):
            function = load_kernel(kernel).prim_func
            start = time.perf_counter()
            adapter.run_pipeline(function, arch, {}, None)
            bare.append(time.perf_counter() - start)
            start = time.perf_counter()
            reply = adapter.lower(request, lambda _: None)
            observed.append(time.perf_counter() - start - reply.times.load)
        seconds["bare"] += statistics.median(bare)
        seconds["observed"] += statistics.median(observed)
    return seconds


def _fields(record) -> dict:
    return {name: getattr(record, name) for name in record.__struct_fields__}


def _sweeps(place: Path, cores: int) -> tuple[list[tuple[float, float]], float, int]:
    """Cold sweeps with what can't be avoided, by ratio; a cached sweep; bytes of a dump."""
    turns, cached = [], []
    for index in range(5):
        bare = _lowering(1)
        os.environ["STAGEBENCH_CACHE_DIR"] = str(place / f"cache{index}")
        command = [sys.executable, "-m", "stagebench", "sweep", "--dump-dir", str(place / "dumps")]
        turns.append((_seconds(command), bare["bare"] / cores + bare["import"]))
        cached.append(statistics.median(_seconds(command) for _ in range(3)))
    turns.sort(key=lambda turn: turn[0] / turn[1])
    sizes = [
        sum(file.stat().st_size for file in path.parent.iterdir())
        for path in (place / "dumps").rglob("variant.json")
    ]
    return turns, statistics.median(cached), max(sizes)


def _best(command: list[str]) -> float:
    return min(_seconds(command) for _ in range(10))


def _seconds(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def _output(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


if __name__ == "__main__":
    sys.exit(main())
