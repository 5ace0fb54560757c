"""Do commands that only read answer in a blink?  ``python benchmarks/commands.py [RUN]``.

Every row is the processor time of one command ÷ that of ``python -c pass``, each the best of
`REPETITIONS` taken in turns, so that a busy machine changes both sides alike.  ``RUN`` is a folder
that ``stagebench sweep --num-stages 2 3 --arch sm_80 sm_90a`` wrote (default: it is swept first).
A row over its bound makes the exit code 1.  Bytecode is written into a folder of its own, as an
installation has it.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

REPETITIONS = 9
STAGEBENCH = (sys.executable, "-m", "stagebench")
SWEEP = ("sweep", "--num-stages", "2", "3", "--arch", "sm_80", "sm_90a", "--dump-dir")


def main() -> int:
    """Measure, print the table, and return 1 if a bound is broken."""
    with tempfile.TemporaryDirectory() as place:
        environ = {
            key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"
        } | {"PYTHONPYCACHEPREFIX": f"{place}/bytecode"}
        run = Path(sys.argv[1]) if sys.argv[1:] else Path(place) / "run"
        if not sys.argv[1:]:
            command = (*STAGEBENCH, *SWEEP, str(run))
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        one, two = (str(run / "gemm" / "sm_80" / f"num_stages={depth}") for depth in (2, 3))
        rows = [
            (("--help",), 4),
            (("compilers",), 8),
            (("profile", "nosuch"), 4),
            (("bundle", "nosuch", "-o", "nosuch.tar"), 4),
            (("explain", "nosuch"), 6),
            (("explain", one), 10),
            (("diff", one, two), 35),
            (("passes", str(run)), 30),
        ]
        commands = [(sys.executable, "-c", "pass"), *((*STAGEBENCH, *words) for words, _ in rows)]
        nothing, *seconds = _best(commands, environ, place)
    broken = 0
    for (words, bound), measured in zip(rows, seconds, strict=True):
        ratio = measured / nothing
        broken += ratio > bound
        name = " ".join(word.removeprefix(f"{run}/") for word in words)
        mark = "" if ratio <= bound else "  over"
        print(f"{name[:60]:60}{measured * 1e3:8.0f} ms{ratio:8.1f}{bound:8}{mark}")
    print(f"÷ python -c pass, {nothing * 1e3:.0f} ms; best of {REPETITIONS}, in turns")
    return int(broken > 0)


def _best(commands: list[tuple[str, ...]], environ: dict[str, str], place: str) -> list[float]:
    found = [float("inf")] * len(commands)
    for turn in range(REPETITIONS + 1):
        for index, command in enumerate(commands):
            before = _used()
            subprocess.run(command, env=environ, cwd=place, capture_output=True, check=False)
            if turn:  # the first writes bytecode
                found[index] = min(found[index], _used() - before)
    return found


def _used() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    sys.exit(main())
