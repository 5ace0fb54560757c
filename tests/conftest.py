"""What do all tests share?  One cache for the whole run, so that each real case is lowered once."""

import os
import tempfile
from pathlib import Path

import hypothesis
import pytest
from hypothesis.configuration import set_hypothesis_home_dir

set_hypothesis_home_dir(Path(tempfile.gettempdir()) / "stagebench-hypothesis")  # not the checkout
hypothesis.settings.register_profile("stagebench", deadline=None, derandomize=True)
hypothesis.settings.load_profile("stagebench")  # tests are never timed, and fail for everyone alike


def pytest_configure(config):
    """Give this run (and its xdist workers, which inherit it) a cache of its own."""
    if "STAGEBENCH_TEST_CACHE" not in os.environ:
        base = config.cache.mkdir("stagebench-cache") if hasattr(config, "cache") else Path()
        os.environ["STAGEBENCH_TEST_CACHE"] = str(base)
    os.environ["STAGEBENCH_CACHE_DIR"] = os.environ["STAGEBENCH_TEST_CACHE"]
    os.environ.setdefault("NO_COLOR", "1")


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    """A cache that holds nothing yet, for tests about caching."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("STAGEBENCH_CACHE_DIR", str(folder))
    return folder


def pytest_collection_modifyitems(config, items):
    """Leave slow tests out unless they are asked for by mark or by name."""
    asked = config.getoption("-m") or any("::" in arg for arg in config.args)
    if not asked:
        for item in items:
            if item.get_closest_marker("slow"):
                item.add_marker(pytest.mark.skip(reason="slow: run with -m slow"))
