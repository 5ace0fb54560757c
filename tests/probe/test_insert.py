"""Do probes stand where they time one wait, and does no line of the original change?"""

from __future__ import annotations

import pytest

from stagebench.errors import UsageError
from stagebench.probe.control import control_text
from stagebench.probe.insert import insert_probes
from tests.probe.texts import HEAD, LOOP, SPIN, kernel, layout


def _probed(body):
    return insert_probes(kernel(body), "k", layout())


def _around(probed, text):
    """The lines just before and behind the only line that holds a text."""
    lines = [line.strip() for line in probed.text.split("\n")]
    (at,) = [place for place, line in enumerate(lines) if line == text]
    return lines[at - 1], lines[at + 1]


READ = "@%sb_probe_leader mov.u32 %sb_probe_clock{}, %clock;"


@pytest.mark.parametrize("body", [LOOP, SPIN])
def test_original_lines(body):
    """Without what was inserted, the text is the original, line by line."""
    ptx = kernel(body)
    probed = insert_probes(ptx, "k", layout())

    inserted = ("__sb_probe", "%sb_probe_", ".pragma")
    left = [line for line in probed.text.split("\n") if not any(one in line for one in inserted)]

    assert left == ptx.split("\n")


def test_one_wait():
    """The clock is read, by the leader alone, straight before and straight behind a wait."""
    probed = _probed("\tbar.sync 0;\n\tret;")

    assert _around(probed, "bar.sync 0;") == (READ.format(0), READ.format(1))
    (site,) = probed.sites
    lines = probed.text.split("\n")
    assert "clock0" in lines[site.before_line - 1]
    assert "clock1" in lines[site.after_line - 1]
    assert lines[site.wait_line - 1].strip() == "bar.sync 0;"


def test_adjacent_waits():
    """Two waits in a row share the read between them, and store behind the second."""
    probed = _probed(LOOP)

    assert _around(probed, "cp.async.wait_group 1;") == (READ.format(0), READ.format(1))
    assert _around(probed, "bar.sync 0;") == (READ.format(1), READ.format(2))
    first, second, third = probed.sites
    assert first.after_line == second.before_line
    assert third.before_line > second.after_line


def test_not_adjacent():
    """An instruction between two waits keeps their reads apart, and so does a label."""
    between = _probed("\t.reg .b32 %r1;\n\tbar.sync 0;\n\tmov.u32 %r1, 1;\n\tbar.sync 1;\n\tret;")
    label = _probed(
        "\t.reg .pred %p1;\n$L:\n\tbar.sync 0;\n$M:\n\tbar.sync 1;\n\t@%p1 bra $M;\n\tret;"
    )

    for probed in (between, label):
        first, second = probed.sites
        assert first.after_line < second.before_line


def test_long_run():
    """A run of waits longer than there are clock registers is cut; every site is there."""
    probed = _probed("\n".join(f"\tbar.sync {one};" for one in range(15)) + "\n\tret;")

    assert len(probed.sites) == 15
    assert "%sb_probe_clock7" not in probed.text.replace("%sb_probe_clock<7>", "")


def test_spin_is_one_unit():
    """A spin in inline asm is one wait: nothing stands between its comments."""
    probed = _probed(SPIN)

    assert [site.unit.site.op for site in probed.sites] == ["mbarrier_wait"]
    assert _around(probed, "// begin inline asm")[0] == READ.format(0)
    assert _around(probed, "// end inline asm")[1] == READ.format(1)


def test_label_before_wait():
    """The read stands behind the label: whoever jumps there passes it."""
    probed = _probed("\t.reg .pred %p1;\n$L:\n\tbar.sync 0;\n\t@%p1 bra $L;\n\tret;")

    lines = [line.strip() for line in probed.text.split("\n")]
    label, read = lines.index("$L:"), lines.index(READ.format(0), lines.index("$L:"))
    assert lines[label + 1] == '.pragma "nounroll";'
    assert label < read < lines.index("bar.sync 0;")


def test_wait_before_branch():
    """A wait straight before a branch is over before the branch."""
    probed = _probed("\tbar.sync 0;\n\tbra $E;\n$E:\n\tret;")

    lines = [line.strip() for line in probed.text.split("\n")]
    store = max(
        at for at, line in enumerate(lines[: lines.index("bra $E;")]) if "st.global" in line
    )
    assert lines.index("bar.sync 0;") < store


def test_loop_spin():
    """A loop that only polls is one wait: read before its label, and behind its way out."""
    body = (
        "\t.reg .pred %p<3>;\n\t.reg .b32 %r<3>;\n\tmov.u32 %r1, 64;\n$SPIN:\n"
        "\tmbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 0;\n\t@!%p1 bra $SPIN;\n"
        "\tbar.sync 0;\n\tret;"
    )
    probed = _probed(body)

    lines = [line.strip() for line in probed.text.split("\n")]
    assert [site.unit.site.op for site in probed.sites] == ["mbarrier_wait", "syncthreads"]
    assert lines[lines.index("$SPIN:") - 1] == READ.format(0)
    assert lines[lines.index("@!%p1 bra $SPIN;") + 1] == READ.format(1)
    assert ".pragma" not in probed.text


def test_loop_spin_around_asm():
    """A loop in CUDA around one poll in inline asm is read outside the loop, not at each poll."""
    body = (
        "\t.reg .pred %p<3>;\n\t.reg .b32 %r<3>;\n\tmov.u32 %r1, 64;\n$SPIN:\n"
        "\t// begin inline asm\n\t{\n\t.reg .pred P;\n"
        "\tmbarrier.try_wait.parity.shared::cta.b64 P, [%r1], 0;\n\tselp.b32 %r2, 1, 0, P;\n\t}\n"
        "\t// end inline asm\n\tsetp.eq.s32 %p1, %r2, 0;\n\t@%p1 bra $SPIN;\n\tret;"
    )
    probed = _probed(body)

    lines = [line.strip() for line in probed.text.split("\n")]
    assert [site.unit.site.op for site in probed.sites] == ["mbarrier_wait"]
    assert lines[lines.index("$SPIN:") - 1] == READ.format(0)
    assert lines[lines.index("@%p1 bra $SPIN;") + 1] == READ.format(1)


def test_loop_spin_with_two_entries():
    """A spin that can be jumped into is left out, by name: its start can't be read."""
    body = (
        "\t.reg .pred %p<3>;\n\t.reg .b32 %r<3>;\n\t@%p2 bra $IN;\n\tmov.u32 %r1, 64;\n$SPIN:\n"
        "\tmov.u32 %r2, 0;\n$IN:\n\tmbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 0;\n"
        "\t@!%p1 bra $SPIN;\n\tret;"
    )
    probed = _probed(body)

    assert probed.sites == ()
    assert len(probed.left_out) == 1
    assert probed.left_out[0].op.startswith("mbarrier")


def test_poll_once():
    """A poll that nobody repeats is no wait, and is named."""
    body = (
        "\t.reg .pred %p<3>;\n\t.reg .b32 %r<3>;\n"
        "\tmbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 0;\n\tret;"
    )
    probed = _probed(body)

    assert probed.sites == ()
    assert [one.op for one in probed.left_out] == ["mbarrier_try_wait"]


def test_shared_line():
    """A wait on a line with something else is left out: a read there would time that too."""
    probed = _probed("\t.reg .b32 %r1;\n\tmov.u32 %r1, 0; bar.sync 0;\n\tbar.sync 1;\n\tret;")

    assert len(probed.sites) == 1
    assert [(one.op, one.reason) for one in probed.left_out] == [
        ("syncthreads", "something else stands on its line")
    ]


def test_not_waits():
    """What does not stand still is no site: arrivals, commits, a decrease of registers."""
    probed = _probed(
        "\tcp.async.commit_group;\n\tbar.arrive 1, 64;\n\tsetmaxnreg.dec.sync.aligned.u32 24;\n"
        "\tbarrier.cluster.arrive;\n\tgriddepcontrol.launch_dependents;\n\tbar.warp.sync 1;\n\tret;"
    )

    assert probed.sites == ()
    assert probed.left_out == ()


def test_all_waits():
    """Each kind of wait is a site under its op."""
    probed = _probed(
        "\tcp.async.wait_all;\n\tcp.async.bulk.wait_group.read 1;\n\tbar.sync 0;\n"
        "\tbar.sync 2, 64;\n"
        "\tbarrier.cluster.wait;\n\twgmma.wait_group.sync.aligned 0;\n"
        "\tsetmaxnreg.inc.sync.aligned.u32 240;\n\tgriddepcontrol.wait;\n"
        "\ttcgen05.wait::ld.sync.aligned;\n\tret;"
    )

    assert [site.unit.site.op for site in probed.sites] == [
        "cp_async_wait", "tma_store_wait", "syncthreads", "partial_barrier", "cluster_wait",
        "wgmma_wait", "setmaxnreg", "griddepcontrol", "tcgen05_wait",
    ]  # fmt: skip


def test_exits():
    """Every way out writes the exit: a guarded one, the last one, a body that ends without one."""
    several = _probed("\t.reg .pred %p1;\n\t@%p1 ret;\n\t@!%p1 exit;\n\tret;")
    none = _probed("\t.reg .b32 %r1;\n\tmov.u32 %r1, 0;")

    assert several.exits == 3
    assert none.exits == 1
    assert none.text.rstrip().endswith("}")


def test_called_functions():
    """A wait in a function that is called is named, not lost."""
    ptx = f"{HEAD}.func f()\n{{\n\tbar.sync 0;\n\tret;\n}}\n.visible .entry k()\n{{\n\tret;\n}}\n"
    probed = insert_probes(ptx, "k", layout())

    assert [(one.function, one.op) for one in probed.left_out] == [("f", "syncthreads")]


def test_other_kernels():
    """Of two kernels only the one that was asked for changes."""
    two = kernel("\tbar.sync 0;\n\tret;", "a") + kernel("\tbar.sync 0;\n\tret;", "b").replace(
        HEAD, ""
    )
    probed = insert_probes(two, "b", layout())

    first, second = probed.text.split(".entry b")
    assert "%clock" not in first
    assert "%clock" in second


def test_no_kernel():
    """A kernel that is not there is an error that names those that are."""
    with pytest.raises(UsageError, match=r"no kernel other \(kernels: k\)"):
        insert_probes(kernel("\tret;"), "other", layout())


def test_twice():
    """Probes are not put into a text that has some."""
    once = insert_probes(kernel("\tret;"), "k", layout()).text

    with pytest.raises(UsageError, match="already"):
        insert_probes(once, "k", layout())


def test_control():
    """The control has the pragma on the loop with waits, on no other, and nothing else."""
    body = (
        "\t.reg .pred %p<3>;\n$A:\n\tbar.sync 0;\n\t@%p1 bra $A;\n$B:\n\tadd.u32 %r1, %r1, 1;\n"
        "\t@%p2 bra $B;\n\tret;"
    )
    ptx = kernel(body)
    lines = control_text(ptx, "k").text.split("\n")

    pragma = lines.index('\t.pragma "nounroll";')
    assert lines[pragma - 1] == "$A:"
    del lines[pragma]
    assert lines == ptx.split("\n")
