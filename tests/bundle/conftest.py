"""The real assembler, for the tests that build cubins; skipped where it is not installed."""

import pytest

from stagebench.assemble.assembler import Assembler
from stagebench.assemble.toolchain import find_toolchain
from stagebench.errors import MachineError
from tests.bundle.building import complain


@pytest.fixture(scope="module")
def assembler():
    """Keeps nothing: every build is made."""
    try:
        toolchain = find_toolchain()
    except MachineError as exc:
        pytest.skip(exc.message)
    with Assembler(toolchain, jobs=2, cache_folder=None, warn=complain) as running:
        yield running
