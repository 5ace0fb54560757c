"""What stands between consecutive waits."""

import dataclasses

from stagebench.sass.control_flow import control_flow
from stagebench.sass.overlap import overlap_windows
from stagebench.sass.read import read_sass
from stagebench.sass.sites import sync_sites
from tests.sass.reading import read


def _windows(name, function):
    flow = control_flow(read(name, function))
    return [
        (w.section, w.wait.split()[0], w.instructions, w.mma, w.async_copies, w.loads)
        for w in overlap_windows(flow, sync_sites(flow))
    ]


def _roles(name, function):
    flow = control_flow(read(name, function))
    return [window.role for window in overlap_windows(flow, sync_sites(flow))]


def test_a_loop_with_its_first_trip_and_steady_state():
    """A ring of cp.async groups: the loop's first wait has two windows, and no role."""
    assert _roles("manual_ring_sm_80", "kernel_kernel") == [None] * 3
    assert _windows("manual_ring_sm_80", "kernel_kernel") == [
        ("prologue", "DEPBAR.LE", 104, 0, 8, 0),
        ("body", "DEPBAR.LE", 59, 16, 0, 8),
        ("body", "DEPBAR.LE", 25, 0, 4, 0),
    ]


def test_roles_do_not_run_into_each_other():
    """The producer's first window starts at its own code, not behind the consumer's last wait."""
    poll, group = "SYNCS.PHASECHK.TRANS64.TRYWAIT", "WARPGROUP.DEPBAR.LE"
    assert _roles("gemm_depth2_sm_90a", "gemm_kernel_kernel") == ["consumer"] * 8 + ["producer"] * 4
    assert _windows("gemm_depth2_sm_90a", "gemm_kernel_kernel") == [
        ("prologue", poll, 49, 0, 0, 0),
        ("body", group, 32, 4, 0, 0),
        ("body", poll, 1, 0, 0, 0),
        ("body", group, 24, 4, 0, 0),
        ("body", poll, 1, 0, 0, 0),
        ("body", group, 7, 4, 0, 0),
        ("body", poll, 1, 0, 0, 0),
        ("body", group, 15, 4, 0, 0),
        ("prologue", poll, 8, 0, 0, 0),
        ("body", poll, 25, 0, 2, 0),
        ("body", poll, 26, 0, 2, 0),
        ("body", poll, 25, 0, 2, 0),
    ]


def test_no_wait_no_window():
    """A kernel that waits for nothing has no window."""
    text = (
        '\t.target\tsm_80\n\t.section\t.text.k,"ax",@progbits\n'
        "        .size           k,(.L_x_1 - k)\nk:\n"
        "        /*0000*/                   LDG.E R1, [R2.64] ;\n"
        "        /*0010*/                   EXIT ;\n.L_x_1:\n"
    )
    flow = control_flow(read_sass(text, "k"))
    assert overlap_windows(flow, sync_sites(flow)) == ()


def test_a_wait_that_two_roles_reach_is_nobodys():
    """Both roles run into the same wait; the one before it is the producer's alone."""
    wait = "SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [UR4], R2 ;"
    code = [
        "@P0 BRA `(.L_x_2) ;",
        "USETMAXREG.DEALLOC.CTAPOOL 0x18 ;", wait, "BRA `(.L_x_3) ;",
        ".L_x_2:", "USETMAXREG.TRY_ALLOC.CTAPOOL UP0, 0xf0 ;",
        ".L_x_3:", wait, "EXIT ;",
    ]  # fmt: skip
    lines, pc = [], 0
    for one in code:
        lines.append(one if one.endswith(":") else f"        /*{pc:04x}*/                   {one}")
        pc += 0 if one.endswith(":") else 16
    text = (
        '\t.target\tsm_90a\n\t.section\t.text.k,"ax",@progbits\n'
        "        .size           k,(.L_x_1 - k)\nk:\n" + "\n".join(lines) + "\n.L_x_1:\n"
    )
    flow = control_flow(read_sass(text, "k"))
    waits = [site for site in sync_sites(flow) if site.op.startswith("mbarrier")]
    waits = [dataclasses.replace(site, op="mbarrier_wait") for site in waits]
    assert [window.role for window in overlap_windows(flow, waits)] == ["producer", None]
