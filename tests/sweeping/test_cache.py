"""When does a sweep use an earlier result, and when must it not?"""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.command_line import command, stagebench

pytestmark = pytest.mark.tilelang

KERNELS = Path(__file__).parent / "kernels"


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


def _from_cache(place, *more, kernel="small.py:small_gemm"):
    """Sweep one variant; whether it came from the cache, and what was said on standard error."""
    ran = stagebench("sweep", kernel, "--num-stages", 2, "--arch", "sm_90a", *more, cwd=place)
    assert ran.code == 0, ran.err
    assert "1 lowered" in ran.out
    return "1 from cache" in ran.out, ran.err


def test_what_hits_and_what_misses(place):
    """An unchanged kernel hits; a changed one, a changed sibling or another parameter misses."""
    assert not _from_cache(place)[0]
    assert _from_cache(place)[0]
    (place / "unrelated.py").write_text("x = 1  # a comment\n")
    assert _from_cache(place)[0], "an unrelated file does not matter"
    assert not _from_cache(place, "--set", "K=256")[0]
    assert not _from_cache(place, "--pass-config", "tl.disable_warp_specialized=true")[0]
    tiles = place / "small_tiles.py"
    tiles.write_text(tiles.read_text() + "# a comment in a module that the kernel imports\n")
    assert not _from_cache(place)[0]
    kernel = place / "small.py"
    original = kernel.read_text()
    kernel.write_text(original + "\n# edited\n")
    assert not _from_cache(place)[0]
    kernel.write_text(original)
    assert not _from_cache(place, "--no-cache")[0]
    moved = place.parent / "moved"
    shutil.copytree(place, moved)
    kernel.write_text(original + "\n# edited\n")
    assert _from_cache(place)[0], "the earlier edit is still known"
    tiles.write_text("TILE = 32\n")
    assert not _from_cache(place)[0]


def test_a_moved_tree_hits(place):
    """A cache entry follows the files, not their place."""
    assert not _from_cache(place)[0]
    shutil.copytree(place, place.parent / "moved")
    assert _from_cache(place.parent / "moved")[0]


@pytest.mark.parametrize("damage", ["truncate", "flip", "empty", "junk"])
def test_a_damaged_entry_is_said_and_rebuilt(place, empty_cache, damage):
    """Damage is noticed, told, and cured by lowering again."""
    assert not _from_cache(place)[0]
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
    hit, said = _from_cache(place)
    assert not hit
    assert "damaged cache entry" in said
    assert _from_cache(place) == (True, "")


def test_another_compiler_or_extractor_misses(place, empty_cache, monkeypatch):
    """The key changes with the compiler's identity and with our own code."""
    from stagebench.lowering import cache as caching
    from stagebench.lowering.compiler_environment import this_environment
    from stagebench.worker.protocol import LowerRequest

    assert not _from_cache(place)[0]
    request = LowerRequest(
        path=str(place / "small.py"), function="small_gemm", kernel="small.py:small_gemm",
        params={}, num_stages=2, stage_param=None, arch="sm_90a", pass_configs={},
    )  # fmt: skip
    environment = this_environment()
    cache = caching.Cache(empty_cache, pytest.fail)
    assert cache.get(request, environment) is not None
    import msgspec

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


def test_a_hit_starts_no_worker(place):
    """A fully cached sweep imports no compiler: it works with one that can't be imported."""
    assert not _from_cache(place)[0]
    script = (
        "import stagebench.lowering.lower as l, sys\n"
        "def no(*a, **k): raise SystemExit('a worker was started')\n"
        "l.WorkerProcess = no\n"
        "from stagebench.cli import main\n"
        "code = main(['sweep', 'small.py:small_gemm', '--num-stages', '2', '--arch', 'sm_90a'])\n"
        "assert not {'tilelang', 'tvm', 'torch'} & set(sys.modules), 'a compiler was imported'\n"
        "sys.exit(code)\n"
    )
    import sys

    done = subprocess.run([sys.executable, "-c", script], cwd=place, capture_output=True, text=True,
                          check=False)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 from cache" in done.stdout
