"""How does a file become words, and what is refused?"""

import io
import lzma
import sys

import numpy as np
import pytest

from stagebench.errors import MachineError, UsageError
from stagebench.trace.profiler_words import read_words


def test_raw_and_npy_files_hold_the_same_words(tmp_path):
    """Raw little-endian words, an unsigned array, and torch's signed one."""
    words = np.array([1 << 32 | 2, 2**64 - 1], dtype=np.uint64)
    (tmp_path / "a.bin").write_bytes(words.tobytes())
    np.save(tmp_path / "b.npy", words)
    np.save(tmp_path / "c.npy", words.view(np.int64).reshape(1, 2))
    np.save(tmp_path / "d.npy", words.astype(">u8"))
    for name in ("a.bin", "b.npy", "c.npy", "d.npy"):
        found, trailing = read_words(tmp_path / name)
        assert (found.tolist(), trailing) == (words.tolist(), 0)


def test_a_compressed_file_holds_the_same_words(tmp_path):
    """An array and raw words, as ``xz`` writes them; the bytes of no word are counted, too."""
    words = np.array([1 << 32 | 2, 2**64 - 1], dtype=np.uint64)
    array = io.BytesIO()
    np.save(array, words)
    (tmp_path / "a.npy.xz").write_bytes(lzma.compress(array.getvalue()))
    (tmp_path / "b.bin.xz").write_bytes(lzma.compress(words.tobytes() + b"xyz"))
    for name, trailing in (("a.npy.xz", 0), ("b.bin.xz", 3)):
        found, rest = read_words(tmp_path / name)
        assert (found.tolist(), rest) == (words.tolist(), trailing)


@pytest.mark.parametrize("damage", ["cut", "other", "flipped", "empty"])
def test_a_damaged_compressed_file_is_refused(tmp_path, damage):
    """Cut short, not xz at all, one bit flipped (its checksum says so), nothing in it."""
    whole = bytearray(lzma.compress(np.arange(1000, dtype=np.uint64).tobytes()))
    whole[len(whole) // 2] ^= damage == "flipped"
    content = {"cut": whole[:-20], "other": b"no xz", "flipped": whole, "empty": b""}[damage]
    (tmp_path / "a.bin.xz").write_bytes(content)
    with pytest.raises(UsageError, match=r"a\.bin\.xz: not a whole \.xz file"):
        read_words(tmp_path / "a.bin.xz")


def test_a_python_without_lzma(tmp_path, monkeypatch):
    """Some builds have none: the hint decompresses it first."""
    (tmp_path / "a.bin.xz").write_bytes(lzma.compress(bytes(8)))
    monkeypatch.setitem(sys.modules, "lzma", None)
    with pytest.raises(MachineError) as caught:
        read_words(tmp_path / "a.bin.xz")
    assert caught.value.hint.startswith("decompress it first: xz -dk ")


def test_bytes_that_are_no_word_are_counted(tmp_path):
    """19 bytes are two words and three bytes."""
    (tmp_path / "cut.bin").write_bytes(bytes(19))
    found, trailing = read_words(tmp_path / "cut.bin")
    assert (len(found), trailing) == (2, 3)


@pytest.mark.parametrize(
    "array", [np.zeros(4, dtype=np.float64), np.zeros(4, dtype=np.uint32), np.array([None])]
)
def test_other_arrays_are_refused(tmp_path, array):
    """Floats, half words and objects are no buffer; nothing is unpickled."""
    np.save(tmp_path / "a.npy", array)
    with pytest.raises(UsageError, match=r"a\.npy"):
        read_words(tmp_path / "a.npy")


def test_files_that_are_no_array_or_not_there(tmp_path):
    """The message names the file."""
    (tmp_path / "text.npy").write_text("no array")
    for name in ("text.npy", "missing.bin"):
        with pytest.raises(UsageError, match=name):
            read_words(tmp_path / name)


def test_without_numpy(tmp_path, monkeypatch):
    """The hint names the extra."""
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(MachineError) as caught:
        read_words(tmp_path / "a.bin")
    assert caught.value.hint == "pip install 'stagebench[trace]'"
