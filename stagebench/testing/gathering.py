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
from stagebench.experiment.compared_with import Compared
from stagebench.experiment.experiment_file import ExperimentFile
from stagebench.experiment.planned_variants import plan_variants
from stagebench.model import Record
from stagebench.model.codec import decode, encode_pretty
from stagebench.testing.definition import NOBODY, AskedCheck, as_experiment

OPTION = "--stagebench-record"
_PASSED, _FAILED, _NO_TESTS = 0, 1, 5
_TAIL_LINES = 15
_MOST_NAMES = 4
_REFUSED = ".refused"
_numbers = itertools.count()


class RefusedCheck(Record, frozen=True, kw_only=True):
    """A check that asks for what can't be: ``node`` is its test, the rest says why."""

    node: str
    message: str
    hint: str | None


def find_tests(tests: Sequence[str], tell: Callable[[str], None]) -> tuple[ExperimentFile, ...]:
    """The checks of the tests (files, folders, node ids) as experiments, sorted by place.

    Raises `UsageError` where pytest can't run them, or none makes a check.
    """
    if importlib.util.find_spec("pytest") is None:
        raise UsageError("pytest is not installed here", hint="pip install pytest")
    with tempfile.TemporaryDirectory(prefix="stagebench-") as folder:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *tests, OPTION, folder, "-q", "-rfE"],
            capture_output=True,
            text=True,
            check=False,
        )
        tail = "\n".join((done.stdout + done.stderr).strip().splitlines()[-_TAIL_LINES:])
        if done.returncode not in (_PASSED, _FAILED, _NO_TESTS):
            raise UsageError(f"pytest can't run {' '.join(tests)}:\n{tail}")
        for path in sorted(Path(folder).glob(f"*{_REFUSED}")):
            refused = decode(path.read_bytes(), RefusedCheck, str(path))
            raise UsageError(f"{refused.node}: {refused.message}", hint=refused.hint)
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
        tell(
            f"some of these tests fail beside their checks{_failed(done.stdout)}: what they did "
            "not reach stays as it is"
        )
    return tuple(_experiment(check) for _, check in sorted(found.items()))


def _failed(report: str) -> str:
    """Which, as pytest's own summary names them."""
    lines = (line.partition(" ") for line in report.splitlines())
    named = [rest.partition(" - ")[0] for word, _, rest in lines if word in ("FAILED", "ERROR")]
    if not named:
        return ""
    more = f" and {len(named) - _MOST_NAMES} more" if len(named) > _MOST_NAMES else ""
    return f" ({', '.join(named[:_MOST_NAMES])}{more})"


def _experiment(check: AskedCheck) -> ExperimentFile:
    """The check as an experiment; `UsageError` names the test whose values are wrong."""
    try:
        file = as_experiment(check)
        plan_variants(file, NOBODY, Compared())
    except UsageError as exc:
        said = exc.message.partition(f"{Path(check.file).name}: ")[2] or exc.message
        raise UsageError(f"{check.node}: {said}", hint=exc.hint) from exc
    return file


def record_or_refuse(check: AskedCheck, folder: Path) -> None:
    """Write a check down for `find_tests`; several processes may do so.

    One whose values have a wrong type can't be read back: its error is written down instead.
    """
    name = f"{os.getpid()}-{next(_numbers)}"
    try:
        as_experiment(check)
    except UsageError as exc:
        refused = RefusedCheck(node=check.node, message=exc.message, hint=exc.hint)
        (folder / f"{name}{_REFUSED}").write_bytes(encode_pretty(refused))
        return
    (folder / f"{name}.json").write_bytes(encode_pretty(check))
