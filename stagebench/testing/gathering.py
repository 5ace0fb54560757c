"""Which checks do some tests make, so that ``stagebench accept --pytest`` can accept them?

The tests are run by pytest in a process of its own, where ``stagebench.check`` writes down what it
is asked for and neither lowers nor judges.  A check that is not reached is not accepted.
"""

from __future__ import annotations

import importlib.util
import itertools
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from stagebench.errors import UsageError
from stagebench.experiment.experiment_file import ExperimentFile
from stagebench.model.codec import decode, encode_pretty
from stagebench.testing.definition import AskedCheck, as_experiment

OPTION = "--stagebench-record"
_PASSED, _FAILED, _NO_TESTS = 0, 1, 5
_TAIL_LINES = 15
_numbers = itertools.count()


def find_tests(tests: Sequence[str], tell: Callable[[str], None]) -> tuple[ExperimentFile, ...]:
    """The checks of the tests (files, folders, node ids) as experiments, sorted by place.

    Raises `UsageError` where pytest can't run them, or none makes a check.
    """
    if importlib.util.find_spec("pytest") is None:
        raise UsageError("pytest is not installed here", hint="pip install pytest")
    with tempfile.TemporaryDirectory(prefix="stagebench-") as folder:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *tests, OPTION, folder, "-q"],
            capture_output=True,
            text=True,
            check=False,
        )
        tail = "\n".join((done.stdout + done.stderr).strip().splitlines()[-_TAIL_LINES:])
        if done.returncode not in (_PASSED, _FAILED, _NO_TESTS):
            raise UsageError(f"pytest can't run {' '.join(tests)}:\n{tail}")
        found = {
            (check.file, check.label): check
            for path in sorted(Path(folder).glob("*.json"))
            for check in [decode(path.read_bytes(), AskedCheck, str(path))]
        }
    if not found:
        raise UsageError(
            f"no test of {' '.join(tests)} reached a stagebench.check(…)", hint=f"pytest:\n{tail}"
        )
    if done.returncode == _FAILED:
        tell("some of these tests fail beside their checks: what they did not reach stays as it is")
    return tuple(as_experiment(check) for _, check in sorted(found.items()))


def record(check: AskedCheck, folder: Path) -> None:
    """Write a check down for `find_tests`; several processes may do so."""
    name = f"{os.getpid()}-{next(_numbers)}.json"
    (folder / name).write_bytes(encode_pretty(check))
