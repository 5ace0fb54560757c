"""What do the plugin's tests share?  A project of one test module, and a cache that knows it."""

import pytest

from tests.command_line import stagebench

# Imported once here: pytester forgets what an inner run imports.
from stagebench.experiment import accepting  # noqa: F401  isort: skip
from stagebench.testing import fixture, gathering  # noqa: F401  isort: skip
from tests.plugin.seeded import seed

MODULE = """
def test_gemm(stagebench):
    stagebench.check("gemm", num_stages=[1, 2], arch="sm_90a")
"""


@pytest.fixture
def project(pytester, tmp_path, monkeypatch):
    """A project with strict settings and a cache of its own."""
    monkeypatch.setenv("STAGEBENCH_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("CI", raising=False)
    pytester.makepyprojecttoml(
        "[tool.pytest.ini_options]\n"
        'addopts = "--strict-markers -p no:cacheprovider -p no:hypothesispytest"\n'
        'filterwarnings = ["error"]\n'
    )
    for depth in (1, 2, 3):
        seed(depth)
    return pytester


@pytest.fixture
def accepted(project):
    """The project with `MODULE`, its baselines accepted."""
    project.makepyfile(test_k=MODULE)
    accept(project, "--pytest", "test_k.py")
    return project


def accept(project, *arguments, code=0, **variables):
    """Run ``stagebench accept``; returns what it printed."""
    done = stagebench(
        "accept", *arguments, "--reason", "a test", cwd=project.path, **{"CI": "", **variables}
    )
    assert done.code == code, done.out + done.err
    return done.out + done.err


def baselines(project):
    """Folders of baselines below the project, relative to it."""
    return sorted(
        path.parent.relative_to(project.path).as_posix()
        for path in project.path.rglob("variant.json")
    )
