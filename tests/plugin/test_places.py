"""Has every check of every test a folder of its own?"""

from pathlib import Path

import pytest

from stagebench.testing import places


@pytest.mark.parametrize(
    ("node", "label"),
    [
        ("tests/test_k.py::test_gemm", "test_gemm"),
        ("tests/test_k.py::TestGemm::test_tile", "TestGemm.test_tile"),
        ("tests/test_k.py::test_tile[64-float16]", "test_tile.64-float16"),
        ("tests/test_k.py::test_tile[0.5]", "test_tile.0.5"),
    ],
)
def test_labels_are_the_tests_names(node, label):
    """Plain names stay as they are."""
    assert places.label_of_test(node) == label


def test_what_had_to_be_changed_is_told_apart():
    """Signs that a folder can't have, commas and long names end in a digest."""
    texts = ["a[x/y]", "a[x y]", "a[x,y]", "a[../..]", "a[x]y]", "a[é]", f"a[{'x' * 300}]"]
    labels = [places.label_of_test(f"t.py::{text}") for text in texts]
    assert len(set(labels)) == len(texts)
    for label in labels:
        assert len(label) <= 100
        assert not set(label) & set("/, []")
        assert not label.startswith(".")


def test_a_second_check_is_never_another_tests_first():
    """``test[2]``'s second check and ``test[2.2]``'s first are two folders."""
    second = places.check_label(places.label_of_test("t.py::test[2]"), 2, None)
    assert second == "test.2,2"
    assert second != places.label_of_test("t.py::test[2.2]")
    assert places.check_label("test", 1, "a,b") != places.check_label("test,a", 1, "b")


def test_a_check_belongs_to_one_test():
    """``test_gemm_wide`` is no check of ``test_gemm``."""
    assert places.is_of_test("test_gemm,2", "test_gemm")
    assert not places.is_of_test("test_gemm_wide", "test_gemm")
    assert not places.is_of_test("test_gemm.64", "test_gemm")


def test_baselines_lie_beside_the_module():
    """A module's folder is named after it."""
    assert places.module_folder(Path("/p/tests/test_k.py")) == Path(
        "/p/tests/__stagebench__/test_k"
    )
