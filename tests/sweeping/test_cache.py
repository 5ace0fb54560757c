"""When does a sweep use an earlier result, and when must it not?"""

import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from stagebench.experiment.sweep import SweepOptions, run_sweep
from stagebench.experiment.sweep_plan import SweepPlan
from stagebench.lowering import cache as caching
from stagebench.lowering.compiler_environment import this_environment
from stagebench.lowering.kept_worker import KeptWorker
from stagebench.worker.protocol import LowerRequest
from tests.command_line import command, stagebench

pytestmark = pytest.mark.tilelang

KERNELS = Path(__file__).parent / "kernels"


@pytest.fixture(scope="module")
def worker():
    """One compiler for all sweeps of this module that need one: its start costs seconds."""
    with KeptWorker() as kept:
        yield kept


@pytest.fixture
def place(tmp_path, empty_cache):
    """A folder with the kernel, its sibling module and an unrelated file."""
    del empty_cache
    folder = tmp_path / "user"
    folder.mkdir()
    for name in ("small.py", "small_tiles.py"):
        shutil.copy(KERNELS / name, folder / name)
    (folder / "unrelated.py").write_text("x = 1\n")
    return folder


@pytest.fixture
def sweep(worker):
    """Sweeps one variant; whether it came from the cache, and what was said."""

    def swept(place, *, use_cache=True, **changes):
        said = []
        plan = SweepPlan(
            kernel=f"{place / 'small.py'}:small_gemm", num_stages=(2,), archs=("sm_90a",),
            **changes,
        )  # fmt: skip
        options = SweepOptions(use_cache=use_cache, worker=worker, warn=said.append)
        result = run_sweep(plan, options)
        assert [one.outcome for one in result.run.variants] == ["lowered"]
        return result.from_cache == 1, said

    return swept


def test_what_hits_and_what_misses(place, sweep):
    """An unchanged kernel hits; a changed one, a changed sibling or another parameter misses."""
    assert not sweep(place)[0]
    assert sweep(place)[0]
    (place / "unrelated.py").write_text("x = 1  # a comment\n")
    assert sweep(place)[0], "an unrelated file does not matter"
    assert not sweep(place, params={"K": (256,)})[0]
    assert not sweep(place, pass_configs={"tl.disable_warp_specialized": True})[0]
    tiles = place / "small_tiles.py"
    tiles.write_text(tiles.read_text() + "# a comment in a module that the kernel imports\n")
    assert not sweep(place)[0]
    kernel = place / "small.py"
    original = kernel.read_text()
    kernel.write_text(original + "\n# edited\n")
    assert not sweep(place)[0]
    kernel.write_text(original)
    assert not sweep(place, use_cache=False)[0]
    moved = place.parent / "moved"
    shutil.copytree(place, moved)
    assert sweep(moved)[0], "an entry follows the files, not their place"
    kernel.write_text(original + "\n# edited\n")
    assert sweep(place)[0], "the earlier edit is still known"
    tiles.write_text("TILE = 32\n")
    assert not sweep(place)[0]


@pytest.mark.parametrize("damage", ["truncate", "flip", "empty", "junk"])
def test_a_damaged_entry_is_said_and_rebuilt(place, sweep, empty_cache, damage):
    """Damage is noticed, told, and cured by lowering again."""
    assert not sweep(place)[0]
    (entry,) = [path for path in empty_cache.rglob("*") if path.is_file()]
    data = entry.read_bytes()
    entry.write_bytes(
        {
            "truncate": data[: len(data) // 2],
            "flip": data[:-40] + bytes([data[-40] ^ 1]) + data[-39:],
            "empty": b"",
            "junk": b"\xff\x00\n" * 100,
        }[damage]
    )
    hit, said = sweep(place)
    assert not hit
    assert len(said) == 1
    assert "damaged cache entry" in said[0]
    assert sweep(place) == (True, [])


def test_another_compiler_or_extractor_misses(place, sweep, empty_cache, monkeypatch):
    """The key changes with the compiler's identity and with our own code."""
    assert not sweep(place)[0]
    request = LowerRequest(
        path=str(place / "small.py"), function="small_gemm", kernel="small.py:small_gemm",
        params={}, num_stages=2, stage_param=None, arch="sm_90a", pass_configs={},
    )  # fmt: skip
    environment = this_environment()
    cache = caching.Cache(empty_cache, pytest.fail)
    assert cache.get(request, environment) is not None
    changed = msgspec.structs.replace(environment, identity="another")
    assert cache.get(request, changed) is None
    other = caching.Cache(empty_cache, pytest.fail)
    monkeypatch.setattr(caching, "code_digest", lambda *_: "another")
    assert other.get(request, environment) is None


def test_two_sweeps_share_a_cache(place, empty_cache):
    """Two sweeps at the same time both succeed, and the entries they leave are whole."""
    both = [
        subprocess.Popen(
            command("sweep", "small.py:small_gemm", "--num-stages", 1, 2, "--arch", "sm_90a",
                    "--dump-dir", f"dumps{i}"),
            cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for i in range(2)
    ]  # fmt: skip
    for process in both:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        assert "2 lowered" in out
    ran = stagebench("sweep", "small.py:small_gemm", "--num-stages", 1, 2, "--arch", "sm_90a",
                     cwd=place)  # fmt: skip
    assert "2 from cache" in ran.out
    assert ran.err == ""
    assert not list(empty_cache.rglob(".tmp-*"))


def test_a_hit_starts_no_worker(place, sweep):
    """A fully cached sweep imports no compiler: it works with one that can't be imported."""
    assert not sweep(place)[0]
    script = (
        "import stagebench.lowering.lower as l, sys\n"
        "def no(*a, **k): raise SystemExit('a worker was started')\n"
        "l.WorkerProcess = no\n"
        "from stagebench.cli import main\n"
        "code = main(['sweep', 'small.py:small_gemm', '--num-stages', '2', '--arch', 'sm_90a'])\n"
        "assert not {'tilelang', 'tvm', 'torch'} & set(sys.modules), 'a compiler was imported'\n"
        "sys.exit(code)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=place, capture_output=True, text=True,
                          check=False)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 from cache" in done.stdout
