"""An offline index with tiny wheels, and overlays in a folder of their own."""

import os
from functools import partial

import pytest

from stagebench.lowering import overlays as overlays_module
from stagebench.lowering.import_mark import remember_import
from stagebench.lowering.overlays import Overlays
from tests.compilers import fake_wheels


@pytest.fixture
def importable(monkeypatch):
    """A tiny wheel counts as a compiler that can be imported."""
    monkeypatch.setattr(overlays_module, "check_import", partial(remember_import, works=True))


@pytest.fixture
def index(tmp_path, monkeypatch, importable):
    """The only place where pip finds anything."""
    del importable
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    for name in ("apache-tvm-ffi", "z3-solver"):
        for version in ("1.0", "2.0", "3.0"):
            fake_wheels.wheel(folder, name, version)
    return folder


@pytest.fixture
def told():
    """What the overlays said while they worked."""
    return []


@pytest.fixture
def overlays(tmp_path, told, importable):
    """Overlays of an empty cache."""
    del importable
    return Overlays(tmp_path / "cache", told.append)
