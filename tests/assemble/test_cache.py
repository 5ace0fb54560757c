"""Is a result found again exactly when nothing that it depends on has changed?"""

import pytest

from stagebench.assemble import cache as cache_module
from stagebench.assemble.cache import MachineCache, entry_key
from stagebench.assemble.records import NotAssembled

ENTRY = NotAssembled(
    step="ptx",
    message="Unknown symbol",
    cuda_line=3,
    ptx_line=9,
    log="log",
    ptx="ptx",
    lasting=True,
)


@pytest.fixture
def warned():
    return []


@pytest.fixture
def cache(tmp_path, warned):
    return MachineCache(tmp_path / "cache", warned.append)


def entry_path(cache):
    (path,) = (path for path in cache.folder.rglob("*") if path.is_file())
    return path


def test_what_was_stored_comes_back(cache, warned):
    """By its key, from another cache object, and by no other key."""
    cache.put(entry_key("a"), ENTRY)
    assert MachineCache(cache.folder, warned.append).get(entry_key("a")) == ENTRY
    assert cache.get(entry_key("b")) is None
    assert warned == []


def test_parts_are_kept_apart():
    """Text can't move from one part of a key into the next."""
    keys = {entry_key("ab", "c"), entry_key("a", "bc"), entry_key("abc"), entry_key("a", "b", "c")}
    assert len(keys) == 4


def test_our_own_code_is_a_part(monkeypatch):
    """When the code that makes results changes, old ones don't count."""
    before = entry_key("a")
    monkeypatch.setattr(cache_module, "code_digest", lambda *_: "other")
    assert entry_key("a") != before


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "other"])
def test_a_damaged_entry_is_removed(cache, warned, damage):
    """One wrong byte, half a file, nothing, or another format: a warning, and as if never there."""
    key = entry_key("a")
    cache.put(key, ENTRY)
    path = entry_path(cache)
    data = path.read_bytes()
    at = len(data) - 3
    path.write_bytes(
        {
            "flip": data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :],
            "cut": data[: len(data) // 2],
            "empty": b"",
            "other": data.replace(b"machine 1", b"machine 0"),
        }[damage]
    )
    assert cache.get(key) is None
    assert warned == [f"damaged cache entry {path}: removed, the kernel is assembled again"]
    assert not path.exists()


def test_a_cache_that_cannot_be_written(tmp_path, warned):
    """It is said once; results go on."""
    (tmp_path / "file").write_text("")
    cache = MachineCache(tmp_path / "file", warned.append)
    cache.put(entry_key("a"), ENTRY)
    cache.put(entry_key("b"), ENTRY)
    assert len(warned) == 1
    assert warned[0].startswith("the cache can't be written")
    assert cache.get(entry_key("a")) is None
