"""Do the same inputs give the same bytes, whatever is different around them?"""

import shutil
from pathlib import Path

import pytest

from tests.command_line import stagebench

pytestmark = pytest.mark.tilelang

KERNELS = Path(__file__).parent / "kernels"
AXES = ("--num-stages", 1, 3, "--arch", "sm_80", "sm_90a", "--set", "K=128,256")


def _sweep(place, *more, **variables):
    """Copy the kernel to ``place`` and sweep it there; the files that came of it, by name."""
    place.mkdir(parents=True)
    for name in ("small.py", "small_tiles.py"):
        shutil.copy(KERNELS / name, place / name)
    ran = stagebench(
        "sweep", "small.py:small_gemm", *AXES, "--json", "facts.json", "--dump-dir", "dumps",
        "--no-cache", *more, cwd=place, **variables,
    )  # fmt: skip
    assert ran.code == 0, ran.err
    files = {
        path.relative_to(place).as_posix(): path.read_bytes()
        for path in [*(place / "dumps").rglob("*"), place / "facts.json"]
        if path.is_file()
    }
    assert files.pop("dumps/seconds.json")
    return files


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Where the first sweep ran."""
    return tmp_path_factory.mktemp("first") / "one"


@pytest.fixture(scope="module")
def here(place):
    """The files that it left."""
    return _sweep(place)


def test_runs_are_byte_identical(here, tmp_path):
    """Another directory, hash seed, job count, environment and order of axes: equal bytes."""
    there = _sweep(
        tmp_path / "another place" / "ünïcode",
        "--jobs", 1,
        PYTHONHASHSEED="1234",
        TL_LOWER_TRACE="1",
        TVM_LIBRARY_PATH="/nonexistent",
        PYTHONPATH="/nonexistent",
        LC_ALL="C",
    )  # fmt: skip
    assert sorted(here) == sorted(there)
    assert [name for name in here if here[name] != there[name]] == []
    assert len([name for name in here if name.endswith("kernel.cu")]) == 8


def test_nothing_kept_tells_where_or_when(here, place):
    """No dump and no JSON holds a path, a host name or a time."""
    for name, data in here.items():
        if not name.endswith(".zst"):
            assert str(place.parent).encode() not in data, name
            assert b"site-packages" not in data, name
