"""What do tests of a whole command share?  A small project whose lowerings are recorded."""

import pytest

from tests.command_line import stagebench
from tests.plugin.seeded import seed

EXPERIMENT = """\
from stagebench import Case, Experiment

EXPERIMENT = Experiment(
    question="?", cases=[Case(kernel="gemm", num_stages=[1, 2], arch="sm_90a")]
)
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with one accepted experiment of two depths, answered by a seeded cache."""
    monkeypatch.setenv("STAGEBENCH_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("CI", raising=False)
    for depth in (1, 2):
        seed(depth)
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "e.py").write_text(EXPERIMENT)
    done = stagebench("accept", "--reason", "a test", cwd=tmp_path)
    assert done.code == 0, done.err
    return tmp_path
