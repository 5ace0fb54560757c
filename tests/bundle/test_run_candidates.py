"""Is a variant that is named twice bundled once?"""

import pytest

from stagebench.bundle.run_candidates import run_candidates
from stagebench.dump.directory import DumpDirectory
from stagebench.errors import UsageError
from tests.bundle.building import result, variant
from tests.dumping import building as dumps


def dumped(root, *depths, text=dumps.CUDA):
    for depth in depths:
        DumpDirectory(root).write(result(variant(depth)), (), text, None)
    return str(root)


def test_named_twice(tmp_path):
    """By the run and a selector, or in two runs of the same kernel; a note says so."""
    a, b = dumped(tmp_path / "a", 0, 1), dumped(tmp_path / "b", 1, 2)
    told = []
    found = run_candidates([a, f"{a}[num_stages=1]", b], told.append)
    assert [one.result.variant.num_stages for one in found] == [0, 1, 2]
    assert told == ["2 variants are named twice, and bundled once"]
    assert run_candidates([a], told.append)
    assert len(told) == 1


def test_two_codes_of_one_name(tmp_path):
    """They could not be told apart on the GPU host."""
    a = dumped(tmp_path / "a", 1)
    b = dumped(tmp_path / "b", 1, text=dumps.CUDA + "\n// changed since\n")
    with pytest.raises(UsageError, match=r"k\.py:copy sm_90a num_stages=1 both") as raised:
        run_candidates([a, b], print)
    assert "a bundle of its own" in raised.value.hint
