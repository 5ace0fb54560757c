"""Does each variant find its own baseline, and none that might be another's?"""

import msgspec

from stagebench.dump.files import Dump
from stagebench.gate.baselines import Baseline
from stagebench.gate.matching import match_baselines
from tests.dumping import building as dumps


def result(kernel="tiny.py:tiny", arch="sm_90a", **params):
    variant = msgspec.structs.replace(dumps.variant(arch=arch, **params), kernel=kernel)
    return dumps.failed(variant)


def names_of(names, results, baselines):
    known = [
        Baseline(name=name, dump=Dump(folder=name, result=r, kernel_cu=None))
        for name, r in baselines
    ]
    return [b and b.name for b in match_baselines(names, results, known)]


def test_the_place_comes_first():
    """Whatever is in it: that its parameters changed is for the judge to say."""
    found = names_of(["t/sm/n=2"], [result(M=1)], [("t/sm/n=2", result(M=2)), ("x", result(M=1))])
    assert found == ["t/sm/n=2"]


def test_a_renamed_file_and_a_renamed_function():
    """The case, the arch and the axes are the same."""
    old = [("c/a.f/sm/n=1", result("a.py:f")), ("c/a.g/sm/n=1", result("a.py:g"))]
    names = ["c/b.f/sm/n=1", "c/b.h/sm/n=1"]
    assert names_of(names, [result("b.py:f"), result("b.py:h")], old) == [
        "c/a.f/sm/n=1", "c/a.g/sm/n=1",
    ]  # fmt: skip
    assert names_of(names[1:], [result("b.py:h")], old[:1]) == ["c/a.f/sm/n=1"]


def test_another_case_is_not_taken_while_its_own_may_be():
    """Cases that are the same but for their names keep their own baselines."""
    old = [("one/a.f/sm/n=1", result("a.py:f")), ("two/a.f/sm/n=1", result("a.py:f"))]
    names = ["two/b.f/sm/n=1", "one/b.f/sm/n=1"]
    assert names_of(names, [result("b.py:f")] * 2, old) == ["two/a.f/sm/n=1", "one/a.f/sm/n=1"]


def test_what_is_ambiguous_is_not_matched():
    """Two baselines that could be it, or two variants that could have it: none."""
    old = [("p/q", result("a.py:f")), ("r/s", result("a.py:f"))]
    assert names_of(["c/b.f/sm/n=1"], [result("b.py:f")], old) == [None]
    assert names_of(["c/b.f/sm/n=1", "d/b.g/sm/n=1"], [result("b.py:f")] * 2, old[:1]) == [
        None, None,
    ]  # fmt: skip


def test_a_run_is_found_by_what_its_variants_are():
    """Folders that no experiment would choose."""
    old = [("x/y", result(num_stages=3)), ("z", result(num_stages=2))]
    assert names_of(["c/t.t/sm/n=2"], [result(num_stages=2)], old) == ["z"]
    assert names_of(["c/t.t/sm/n=4"], [result(num_stages=4)], old) == [None]
