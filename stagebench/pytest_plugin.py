"""How does pytest check generated code?  The fixture ``stagebench``, its marker and its options.

Loaded by pytest on every start of an environment that has stagebench: nothing is imported here but
pytest, and the rest when a test asks for the fixture.  Baselines lie beside the test module
(`stagebench.testing.places`) and are written by ``stagebench accept --pytest …`` alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from stagebench.testing.ledger import Ledger
from stagebench.testing.places import label_of_test

if TYPE_CHECKING:
    from stagebench.model.verdict import AcceptStep
    from stagebench.testing.fixture import Checks

_NAME = "stagebench"
_LEDGER = pytest.StashKey[Ledger]()
_MARKER = (
    "stagebench(num_stages, arch, params, pass_configs, stage_param, policy, compiler): "
    "what the checks of generated code of these tests use unless they say otherwise"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options; none of them writes a baseline."""
    group = parser.getgroup(_NAME, "checks of generated code")
    group.addoption(
        "--stagebench-accept",
        action="store_true",
        help="end with the exact `stagebench accept` command that approves what changed; "
        "nothing is written",
    )
    group.addoption(
        "--stagebench-allow-missing",
        action="store_true",
        help="a check without a baseline passes",
    )
    group.addoption(
        "--stagebench-fail-on-unused",
        action="store_true",
        help="exit status 1 where a baseline belongs to no check",
    )
    group.addoption("--stagebench-record", metavar="DIR", help="used by `stagebench accept`")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker; `--strict-markers` then knows it."""
    config.addinivalue_line("markers", _MARKER)
    config.stash[_LEDGER] = Ledger()


@pytest.fixture(name="stagebench")
def stagebench_checks(request: pytest.FixtureRequest) -> Checks:
    """Checks of generated code: ``stagebench.check(kernel, …)``, ``stagebench.facts(kernel, …)``.

    ``check`` fails where the kernel does not compile to what its accepted baselines say.
    """
    from stagebench.testing.fixture import Checks

    config = request.config
    recorded = config.getoption("stagebench_record")
    return Checks(
        request.node,
        config.stash[_LEDGER],
        allow_missing=config.getoption("stagebench_allow_missing"),
        recorded=Path(recorded) if recorded else None,
    )


# which baselines nobody asked for


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: Sequence[pytest.Item]) -> None:
    """Note every test; those that use the fixture get the marker, for ``-m stagebench``."""
    ledger = config.stash[_LEDGER]
    for item in items:
        ledger.collected.add((str(item.path), label_of_test(item.nodeid)))
        if _NAME in getattr(item, "fixturenames", ()) and not item.get_closest_marker(_NAME):
            item.add_marker(_NAME)
    for argument in config.args:
        path, colons, _ = argument.partition("::")
        if colons:
            ledger.partial.add((str((config.invocation_params.dir / path).resolve()),))


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    """A module of which tests were left out says nothing of its baselines."""
    for item in items:
        item.config.stash[_LEDGER].partial.add((str(item.path),))


def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> None:
    """Note the tests that came to their end."""
    if call.when == "call" and call.excinfo is None:
        item.config.stash[_LEDGER].finished.add((str(item.path), label_of_test(item.nodeid)))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:  # noqa: ANN401 - xdist's own type
    """A worker of xdist has ended: what it noted is counted here."""
    del error
    packed = getattr(node, "workeroutput", {}).get(_NAME)
    if packed is not None:
        node.config.stash[_LEDGER].merge(packed)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand what was noted to xdist's controller, or set the exit status."""
    config = session.config
    ledger = config.stash[_LEDGER]
    output = getattr(config, "workeroutput", None)
    if output is not None:
        output[_NAME] = ledger.pack()
    elif (
        config.getoption("stagebench_fail_on_unused")
        and session.exitstatus == pytest.ExitCode.OK
        and ledger.unused()
    ):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Unused baselines, and with ``--stagebench-accept`` the command that approves the rest."""
    ledger = config.stash[_LEDGER]
    if config.getoption("stagebench_record"):
        return
    lines = list(_unused(ledger, config))
    if config.getoption("stagebench_accept"):
        lines += _approvals(ledger, config)
    if lines:
        terminalreporter.section(_NAME)
        for line in lines:
            terminalreporter.write_line(line)


def _unused(ledger: Ledger, config: pytest.Config) -> Iterator[str]:
    unused = ledger.unused()
    if not unused:
        return
    import shlex

    yield f"{len(unused)} unused baseline{'' if len(unused) == 1 else 's'}; to remove:"
    for folder, why in unused:
        yield f"  git rm -r {shlex.quote(_from_here(folder, config))}   # {why}"


def _approvals(ledger: Ledger, config: pytest.Config) -> Iterator[str]:
    if not ledger.approvals:
        yield "nothing to approve: every check is as accepted"
        return
    from stagebench.testing.checking import accept_command

    counts: dict[AcceptStep, int] = {"create": 0, "fix": 0, "trim": 0}
    nodes: dict[str, None] = {}
    for file, node, step, number in sorted(ledger.approvals):
        counts[cast("AcceptStep", step)] += int(number)
        nodes[node if (file,) in ledger.partial else _from_here(Path(file), config)] = None
    counts = {step: number for step, number in counts.items() if number}
    said = ", ".join(f"{step} {number}" for step, number in counts.items())
    command = accept_command(list(nodes), counts)
    yield f"nothing was written; to approve ({said}):"
    yield f"  {command.shell}"


def _from_here(path: Path, config: pytest.Config) -> str:
    import os

    return os.path.relpath(path, config.invocation_params.dir)
