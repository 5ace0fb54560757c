"""Which Python line does a site come from that carries none?"""

import msgspec
import pytest

from stagebench.facts.lines import with_lines
from tests.facts.building import GEMM, nest, observation, request, site, statement


def lines(*body, requests=None):
    """File, line and kind of every site."""
    seen = observation(*body, requests=[request()] if requests is None else requests)
    return [(s.file, s.line, s.line_kind) for s in with_lines(seen).kernel.sites]


NONE = (None, None, None)


def inherited(op, line, **more):
    """A site that a pass injected and the walk gave the line of what stands around it."""
    return msgspec.structs.replace(site(op, line=line, **more), line_kind="synthetic")


def test_a_site_with_a_line_keeps_it():
    """What the compiler says itself is never replaced."""
    assert lines(nest("k", 15, site("cp_async_copy", buffer="lhs", line=99))) == [
        ("kernel.py", 99, "exact")
    ]


@pytest.mark.parametrize(
    ("seen", "line"),
    [
        (site("tma_load", buffer="lhs"), 11),
        (site("tma_load", buffer="rhs"), 12),
        (site("tma_load", buffer="other"), 10),
        (site("wgmma"), 13),
        (site("tcgen05_mma"), 13),
        (site("mbarrier_wait"), 10),
    ],
)
def test_a_site_in_the_loop(seen, line):
    """The statement that fills its buffer, the only GEMM, else the loop."""
    assert lines(nest("k", 16, seen)) == [("kernel.py", line, "synthetic")]


def test_the_innermost_requested_loop_counts():
    """An inner loop that nobody asked a depth for is passed over on the way out."""
    assert lines(nest("k", 16, nest("i", 4, site("wgmma")))) == [("kernel.py", 13, "synthetic")]


def test_outside_the_loop_nothing_is_guessed():
    """A site of the prologue has no line: the loop's would be wrong."""
    assert lines(site("syncthreads"), nest("r", 4, site("syncthreads"))) == [NONE, NONE]


def test_loops_that_share_a_variable_are_not_told_apart():
    """Two loops over k: no line rather than one of the wrong loop."""
    twice = [request(), request(line=40)]
    assert lines(nest("k", 16, site("tma_load", buffer="lhs")), requests=twice) == [NONE]


def test_three_loops_that_share_a_variable_are_not_told_apart():
    """A third loop of that name does not bring the guess back."""
    thrice = [request(), request(line=40), request(line=70)]
    assert lines(nest("k", 16, site("mbarrier_wait")), requests=thrice) == [NONE]


def test_two_gemms_are_not_told_apart():
    """Attention: with two GEMMs in the loop tensor-core work gets the loop's line."""
    second = statement("gemm p, v → out", reads=("p", "v"), writes=("out",), line=20)
    assert lines(nest("k", 16, site("wgmma")), requests=[request(statements=(*GEMM, second))]) == [
        ("kernel.py", 10, "synthetic")
    ]


def test_two_fills_of_one_buffer_are_not_told_apart():
    """A buffer that two statements write gives the loop's line."""
    again = statement("copy C → lhs", reads=("C",), writes=("lhs",), copy=True, line=20)
    filled = [request(statements=(*GEMM, again))]
    assert lines(nest("k", 16, site("tma_load", buffer="lhs")), requests=filled) == [
        ("kernel.py", 10, "synthetic")
    ]


def test_tensor_work_with_the_loops_line_is_moved_to_the_gemm():
    """The software pipeline stamps its loop's line on all it makes: the GEMM is known better."""
    assert lines(
        nest("k", 15, inherited("mma_sync", 10), inherited("syncthreads", 10)),
    ) == [("kernel.py", 13, "synthetic"), ("kernel.py", 10, "synthetic")]


def test_tensor_work_with_a_line_of_its_own_is_not_moved():
    """A line inside the loop that is not the loop's is nearer than any guess."""
    assert lines(nest("k", 15, inherited("mma_sync", 12))) == [("kernel.py", 12, "synthetic")]
    assert lines(nest("k", 15, site("mma_sync", line=10))) == [("kernel.py", 10, "exact")]


def test_a_request_without_a_line_gives_none():
    """No line is known, none is made up."""
    nowhere = [request(line=None, file=None, statements=())]
    assert lines(nest("k", 16, site("wgmma")), requests=nowhere) == [NONE]
