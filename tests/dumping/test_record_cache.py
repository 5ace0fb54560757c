"""Is what a cache returns exactly what was stored, and is a damaged or full one only slower?"""

import msgspec
import pytest

from stagebench.dump.record_cache import RecordCache, key_of
from stagebench.model import Compiler

RECORD = Compiler(name="tilelang", version="0.1.15")


def cache(folder, told, *, mark=b"kind 1"):
    decode = msgspec.msgpack.Decoder(Compiler).decode
    return RecordCache(folder, mark, decode, told.append, again="made again", lost="not kept")


def test_parts_are_told_apart():
    """A digest of the parts, not of their sum."""
    assert len({key_of(b"ab", b"c"), key_of(b"a", b"bc"), key_of(b"abc"), key_of(b"abc", b"")}) == 4


def test_what_is_stored_comes_back(tmp_path):
    """In another process's cache too; another key has nothing."""
    told = []
    cache(tmp_path, told).put(key_of(b"a"), RECORD)
    assert cache(tmp_path, told).get(key_of(b"a")) == RECORD
    assert cache(tmp_path, told).get(key_of(b"b")) is None
    assert told == []


@pytest.mark.parametrize("change", ["cut", "flipped", "other mark", "other record"])
def test_what_is_damaged_is_told_and_removed(tmp_path, change):
    """And never returned, not even where it still decodes."""
    told, key = [], key_of(b"a")
    cache(tmp_path, told).put(key, RECORD)
    path = tmp_path / key[:2] / key
    data = path.read_bytes()
    if change == "cut":
        path.write_bytes(data[:-3])
    elif change == "flipped":
        path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    elif change == "other record":
        decode = msgspec.msgpack.Decoder(int).decode
        RecordCache(tmp_path, b"kind 1", decode, told.append, again="", lost="").put(key, 7)
    mark = b"kind 2" if change == "other mark" else b"kind 1"
    assert cache(tmp_path, told, mark=mark).get(key) is None
    assert told == [f"damaged cache entry {path}: removed, made again"]
    assert not path.exists()


def test_what_can_not_be_written_is_told_once(tmp_path):
    """A result is never lost to it."""
    (tmp_path / "file").write_text("no folder")
    told = []
    full = cache(tmp_path / "file", told)
    full.put(key_of(b"a"), RECORD)
    full.put(key_of(b"b"), RECORD)
    assert [line.endswith("; not kept") for line in told] == [True]
    assert full.get(key_of(b"a")) is None


def test_without_a_folder_nothing_is_kept():
    """Nor is anything said."""
    told = []
    none = cache(None, told)
    none.put(key_of(b"a"), RECORD)
    assert none.get(key_of(b"a")) is None
    assert told == []
