"""Is a truncated kernel told from a whole one?"""

import pytest

from stagebench.gate.kernel_text import defines
from tests.gate.building import ACCEPTED

KERNELS = sorted(ACCEPTED.rglob("kernel.cu"))


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: "/".join(path.parts[-3:-1]))
def test_a_real_kernel_is_whole_and_no_part_of_it_is(path):
    """Cut anywhere before its last brace it is damaged: the declaration alone is no definition."""
    text = path.read_text()
    assert defines(text, "gemm_kernel_kernel")
    assert not defines(text, "gemm_kernel")
    end = text.rindex("}")
    for cut in (0, 1, end // 4, end // 2, end - 3, end):
        assert not defines(text[:cut], "gemm_kernel_kernel")


def test_what_is_no_code_is_not_read():
    """Strings and comments hold braces and names."""
    whole = 'void f(int a) {\n  printf("}{ \\" {"); // {\n  /* { */ if (a) { g(a); }\n}\n'
    assert defines(whole, "f")
    assert not defines('// void f() {}\nconst char* s = "f() {}";\n', "f")
    assert not defines("void f();\nvoid g() { f(); }\n", "f")
    assert not defines("\x00garbage f(", "f")
