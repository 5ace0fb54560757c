"""Is each synchronisation one site, with its CUDA line and its copies?"""

from stagebench.ptx.read import read_module
from stagebench.ptx.sites import statements, sync_sites
from tests.ptx.building import FIRST_LINE, WAIT, kernel_of, real

LOOPED_WAIT = """\
AGAIN:
	mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], %r2;
	@!%p1 bra AGAIN;
"""


def sites_of(body):
    _, kernel = kernel_of(body)
    return sync_sites(kernel)


def test_a_spin_in_inline_asm_is_one_wait():
    """A poll that its block jumps back to is one wait, at no loop depth."""
    (wait,) = sites_of(WAIT)
    assert (wait.op, wait.spin, wait.loop_depth, wait.line) == (
        "mbarrier_wait", True, 0, FIRST_LINE + 4
    )  # fmt: skip


def test_a_spin_of_a_loop_is_one_wait():
    """A loop that only polls is a spin; around it a real loop counts."""
    (wait,) = sites_of(LOOPED_WAIT)
    assert (wait.op, wait.spin, wait.loop_depth) == ("mbarrier_wait", True, 0)
    found = sites_of(f"TOP:\n{LOOPED_WAIT}\tbar.sync 0;\n\t@%p2 bra TOP;\n")
    assert [(one.op, one.loop_depth) for one in found] == [("mbarrier_wait", 1), ("syncthreads", 1)]


def test_a_poll_that_nobody_repeats():
    """A single poll, and a poll in a loop that does other work, are no waits."""
    (poll,) = sites_of("\tmbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], %r2;\n")
    assert (poll.op, poll.spin) == ("mbarrier_try_wait", False)
    body = LOOPED_WAIT.replace("AGAIN:\n", "AGAIN:\n\tbar.sync 0;\n")
    assert [one.op for one in sites_of(body)] == ["syncthreads", "mbarrier_try_wait"]


def test_cluster_arrive_and_wait():
    """Arrive and wait of one CUDA line are one cluster_sync; of two lines they stay apart."""
    arrive, wait = "\tbarrier.cluster.arrive.aligned;\n", "\tbarrier.cluster.wait.aligned;\n"
    one = sites_of("\t.loc 1 5 1\n" + arrive + wait)
    assert [site.op for site in one] == ["cluster_sync"]
    two = sites_of("\t.loc 1 5 1\n" + arrive + "\t.loc 1 8 1\n" + wait)
    assert [site.op for site in two] == ["cluster_arrive", "cluster_wait"]


def test_copies_of_an_unrolled_statement():
    """Copies share line, op and arguments; another argument or line is another statement."""
    at_5, at_6 = "\t.loc 1 5 1\n", "\t.loc 1 6 1\n"
    copy, small = (
        "cp.async.cg.shared.global [%r1], [%rd1], 16;",
        "cp.async.ca.shared.global [%r1], [%rd1], 4;",
    )
    found = statements(sites_of(f"{at_5}\t{copy}\n{at_6}\t{copy}\n{at_5}\t{copy}\n\t{small}\n"))
    assert [(one.cuda_line, one.args, len(one.sites)) for one in found] == [
        (5, {"bytes": 16}, 2),
        (6, {"bytes": 16}, 1),
        (5, {"bytes": 4}, 1),
    ]


def test_a_line_through_a_chain():
    """A chain leads to the kernel's own file, also where it is printed in pieces."""
    inner = ".loc 3 9 1, function_name $L__info_string1, inlined_at 2 7 1"
    first, second, third = sites_of(
        "\t.loc 1 3 0\n\t.loc 1 20 5\n"
        "\t.loc 2 7 1, function_name $L__info_string0, inlined_at 1 20 5\n"
        f"\t{inner}\n\tbar.sync 0;\n\t.loc 1 25 1\n\tadd.s32 %r1, %r1, 1;\n"
        f"\t{inner}\n\tbar.sync 1;\n"
        "\t.loc 4 0 0\n\tbar.sync 2;\n"
    )
    assert (first.cuda_line, first.cuda_line_exact) == (20, True)
    assert (second.cuda_line, second.cuda_line_exact) == (20, True)
    assert third.cuda_line is None


def test_an_ambiguous_chain_goes_where_it_fits():
    """The same inner place inlined at lines 10 and 30: neighbours decide, and it says so."""
    inner = "\t.loc 3 9 1, function_name $L__info_string1, inlined_at 2 7 1\n"
    chain = "\t.loc 2 7 1, function_name $L__info_string0, inlined_at 1 {0} 5\n"
    body = "\t.loc 1 3 0\n"
    for line in (10, 30):
        body += (
            f"\t.loc 1 {line - 1} 1\n\tbar.sync 7;\n\t.loc 1 {line} 5\n{chain.format(line)}{inner}"
        )
        body += f"\tbar.sync 1;\n\t.loc 1 {line + 2} 1\n\tbar.sync 8;\n"
    for line in (30, 10):
        body += f"\t.loc 1 {line - 1} 1\n\tbar.sync 7;\n{inner}\tbar.sync 1;\n"
        body += f"\t.loc 1 {line + 2} 1\n\tbar.sync 8;\n"
    waits = [one for one in sites_of(body) if one.args["barrier_id"] == 1]
    assert [(one.cuda_line, one.cuda_line_exact) for one in waits] == [
        (10, True), (30, True), (30, False), (10, False)
    ]  # fmt: skip


def test_sites_of_the_built_in_gemm():
    """The producer's unrolled loads and the consumer's unrolled waits, eight copies of each."""
    kernel = read_module(real("gemm.sm_90a")).entries[0]
    found = {(one.cuda_line, one.op): len(one.sites) for one in statements(sync_sites(kernel))}
    assert found[47, "tma_load"] == found[49, "tma_load"] == 8
    assert found[44, "mbarrier_wait"] == found[60, "mbarrier_wait"] == 8
    assert found[72, "wgmma"] == 16
    assert found[42, "setmaxnreg"] == found[53, "setmaxnreg"] == 1
