"""On which line did people write what was inlined?  Hand-made chains of ``.loc``."""

from dataclasses import replace

from stagebench.ptx.sites import statements, sync_sites
from stagebench.ptx.source_frames import SourceFrames, by_hand
from tests.ptx.building import kernel_of

# kernel (lines 49, 50) calls tile (20-43, a function of the same file), which calls wait<N> (16);
# file 2 is a header
TILE = ", function_name $tile, inlined_at 1 50 3"
CODE = f"""\
\t.loc 1 49 0
\t.loc 1 24 3{TILE}
\tmov.u32 %r1, 0;
\t.loc 1 25 3{TILE}
\tmov.u32 %r2, 0;
\t.loc 1 36 5{TILE}
\t.loc 1 16 50, function_name $wait, inlined_at 1 36 5
\tcp.async.wait_group 1;
\t.loc 1 37 5{TILE}
\tbar.sync 0;
\t.loc 1 43 5{TILE}
\tbar.sync 0;
\t.loc 1 43 5{TILE}
\tbar.sync 0;
"""


def lines_of(body, *, hand=True):
    module, function = kernel_of(body)
    function = by_hand(module).entries[0] if hand else function
    return [(one.op, one.cuda_line, len(one.sites)) for one in statements(sync_sites(function))]


def test_the_innermost_line_that_is_no_helper():
    """Each line of an inlined function is a statement; a helper's is that of its call."""
    assert lines_of(CODE) == [
        ("cp_async_wait", 36, 1), ("syncthreads", 37, 1), ("syncthreads", 43, 2),
    ]  # fmt: skip


def test_a_compilers_output_keeps_the_outermost():
    """Nothing changes for what no one wrote by hand."""
    assert lines_of(CODE, hand=False) == [("cp_async_wait", 50, 1), ("syncthreads", 50, 3)]


def test_what_is_no_helper():
    """A function of few lines that synchronises on two of them is a part of the kernel."""
    both = ", function_name $both, inlined_at 1 50 3"
    body = (
        f"\t.loc 1 50 3\n\t.loc 1 10 3{both}\n\tbar.sync 0;\n\t.loc 1 11 3{both}\n\tbar.sync 0;\n"
    )
    assert [line for _, line, _ in lines_of(body)] == [10, 11]
    one = f"\t.loc 1 50 3\n\t.loc 1 10 3{both}\n\tbar.sync 0;\n"
    assert [line for _, line, _ in lines_of(one)] == [50]


def test_files_of_others():
    """A frame in a header counts where the header is the author's, and is passed over else."""
    _, function = kernel_of(
        "\t.loc 1 50 3\n"
        "\t.loc 2 7 3, function_name $tile, inlined_at 1 50 3\n\tbar.sync 0;\n"
        "\t.loc 2 9 3, function_name $tile, inlined_at 1 50 3\n\tbar.sync 0;\n"
    )
    located = [one.location for one in function.instructions[:2]]
    assert [SourceFrames(function, {1, 2}).of_location(one) for one in located] == [
        [(2, 7)], [(2, 9)],
    ]  # fmt: skip
    assert [SourceFrames(function, {1}).of_location(one) for one in located] == [[(1, 50)]] * 2


def test_a_helper_of_a_helper_called_twice():
    """Both calls are candidates, and the neighbours say which."""
    body = (
        "\t.loc 1 30 3\n\tmov.u32 %r1, 0;\n"
        "\t.loc 1 31 3\n\t.loc 1 5 3, function_name $outer, inlined_at 1 31 3\n"
        "\t.loc 1 2 3, function_name $inner, inlined_at 1 5 3\n\tbar.sync 0;\n"
        "\t.loc 1 32 3\n\tmov.u32 %r2, 0;\n"
        "\t.loc 1 33 3\n\t.loc 1 5 3, function_name $outer, inlined_at 1 33 3\n"
        "\t.loc 1 2 3, function_name $inner, inlined_at 1 5 3\n\tbar.sync 0;\n"
        "\t.loc 1 34 3\n\tmov.u32 %r3, 0;\n"
    )
    assert lines_of(body) == [("syncthreads", 31, 1), ("syncthreads", 33, 1)]
    module, _ = kernel_of(body)
    function = replace(module.entries[0], by_hand=True)
    assert [one.cuda_line_exact for one in sync_sites(function)] == [False, False]
