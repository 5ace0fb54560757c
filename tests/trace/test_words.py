"""How does a file become words, and what is refused?"""

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
