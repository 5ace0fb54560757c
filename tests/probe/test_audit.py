"""Does the audit see what an assembler can do to probes?  Each thing once, from small SASS."""

from __future__ import annotations

import pytest

from stagebench.assemble.records import AssemblerMessage, EntryResources, MachineText
from stagebench.probe.audit import audit
from stagebench.probe.control import control_text
from stagebench.probe.insert import insert_probes
from tests.probe.texts import kernel, launch, layout

PTX = kernel("\tcp.async.commit_group;\n\tcp.async.wait_group 0;\n\tret;")
PROBED = insert_probes(PTX, "k", layout())
CONTROL = control_text(PTX, "k")
(SITE,) = PROBED.sites
COMMIT = "LDGDEPBAR"
WAIT = "DEPBAR.LE SB0, 0x0"
READ = "CS2R.32 R2, SR_CLOCKLO"


def _sass(rows):
    lines = ["\t.target\tsm_90", '\t.section\t.text.k,"ax",@progbits', "k:", ".text.k:"]
    for at, (ptx_line, text) in enumerate(rows):
        lines.append(f'\t//## File ".nv_debug_ptx_txt.1", line {ptx_line}')
        lines.append(f"        /*{16 * at:04x}*/                   {text} ;")
    return "\n".join([*lines, ".L_x_0:", "\t.size\tk,(.L_x_0 - k)", ""])


def _text(rows, ptx, *, registers=34, spills=0, stack=0, messages=()):
    return MachineText(
        ptx=ptx,
        cubin=b"",
        sass=_sass([*rows, (1, "EXIT")]),
        resources=EntryResources(
            registers=registers, spill_store_bytes=spills, spill_load_bytes=0, stack_bytes=stack,
            static_smem_bytes=0, barriers=1, code_bytes=16 * len(rows),
        ),
        messages=messages,
        ptxas_seconds=0.0,
        disassembly_seconds=0.0,
    )  # fmt: skip


def _line(text, ptx):
    lines = [line.strip() for line in ptx.split("\n")]
    return lines.index(text) + 1


def _plain(ptx):
    return [
        (_line("cp.async.commit_group;", ptx), COMMIT),
        (_line("cp.async.wait_group 0;", ptx), WAIT),
    ]


BEFORE, AFTER = (SITE.before_line, READ), (SITE.after_line, READ)
START, WAITED = _plain(PROBED.text)


def _audit(rows, *, base=None, control=None, **changed):
    builds = {
        "base": base or _text(_plain(PTX), PTX),
        "control": control or _text(_plain(CONTROL.text), CONTROL.text),
        "probed": _text(rows, PROBED.text, **changed),
    }
    return audit(builds, PROBED, CONTROL, launch=launch(), arch="sm_90")


GOOD = [START, BEFORE, WAITED, AFTER]


def test_sound():
    """A wait between its reads passes, with nothing to say."""
    found = _audit(GOOD)

    assert found.passed
    assert found.findings == ()
    assert [(one.status, one.copies, one.span) for one in found.sites] == [("ok", 1, 1)]
    assert found.registers == {"base": 34, "control": 34, "probed": 34}


@pytest.mark.parametrize(
    ("rows", "status"),
    [
        ([START, BEFORE, AFTER, WAITED], "moved"),
        ([START, WAITED, BEFORE, AFTER], "moved"),
        ([START, WAITED, BEFORE, WAITED, AFTER], "moved"),
        ([START, BEFORE, WAITED, AFTER, WAITED], "moved"),
        ([START, BEFORE, WAITED], "read_missing"),
        ([START, WAITED, AFTER], "read_missing"),
        ([START, BEFORE, AFTER], "wait_missing"),
    ],
)
def test_moved(rows, status):
    """A wait that is not between its reads, any copy of it, fails by name."""
    found = _audit(rows)

    assert not found.passed
    assert [one.status for one in found.sites] == [status]
    assert status in [one.kind for one in found.findings]
    assert [one.site for one in found.findings if one.kind == status] == [0]


def test_copies():
    """A copy of the loop's body with its own reads is sound, and noted."""
    found = _audit([*GOOD, *GOOD])

    assert found.passed
    assert [one.copies for one in found.sites] == [2]
    assert [(one.kind, one.note) for one in found.findings] == [("copies_differ", True)]


def test_work_inside():
    """What else is done between the reads is counted: it is part of the time."""
    found = _audit([START, BEFORE, (1, "LDSM.16.M88.4 R4, [R8]"), WAITED, AFTER])

    assert found.passed
    assert found.sites[0].work == {"LDSM": 1}
    assert found.sites[0].span == 2


def test_lost_statement():
    """A commit that is gone in the probed build fails, although the others are as before."""
    found = _audit([BEFORE, WAITED, AFTER])

    assert not found.passed
    assert "ops_differ" in [one.kind for one in found.findings]


def test_order():
    """A commit that moved behind the wait fails."""
    found = _audit([BEFORE, WAITED, AFTER, START])

    assert [(one.kind, one.note) for one in found.findings] == [("order_differs", False)]


def test_spills():
    """Spills and stack that the base has not are failures; those it has are not."""
    base = _text(_plain(PTX), PTX, spills=8, stack=8)

    assert [one.kind for one in _audit(GOOD, spills=8, stack=8).findings] == ["spills", "stack"]
    assert _audit(GOOD, base=base, spills=8, stack=8).findings == ()
    assert [one.kind for one in _audit(GOOD, base=base, spills=16, stack=8).findings] == ["spills"]


def test_a_probed_build_that_no_longer_spills_is_another_kernel():
    """Told where it has no spill left, of each build that has; fewer bytes are no finding."""
    spilling = _text(_plain(PTX), PTX, spills=8)

    findings = _audit(GOOD, base=spilling).findings
    assert [(one.kind, one.build, one.note) for one in findings] == [("spills", "probed", False)]
    assert findings[0].message == "base spills registers, the probed build does not: 8 → 0 bytes"
    fewer = _text(_plain(PTX), PTX, spills=16)
    assert _audit(GOOD, base=fewer, spills=8).findings == ()


def _message(line, text="setmaxnreg ignored"):
    return AssemblerMessage(
        severity="info",
        code="C7508",
        name="setmaxnreg-ignored",
        text=f"{text} in line {line}",
        ptx_line=line,
        cuda_line=None,
    )


def test_messages():
    """A remark that the base got too is not new, wherever its line has moved to."""
    base = _text(_plain(PTX), PTX, messages=(_message(10),))

    assert _audit(GOOD, base=base, messages=(_message(99),)).findings == ()
    new = _audit(GOOD, base=base, messages=(_message(99), _message(99, "wgmma serialized")))
    assert [(one.kind, one.note) for one in new.findings] == [("message", False)]


def test_registers():
    """More registers are a note; fewer CTAs in an SM are not."""
    few, many = _audit(GOOD, registers=38), _audit(GOOD, registers=128)

    assert [(one.kind, one.note) for one in few.findings] == [("registers", True)]
    assert few.passed
    assert [one.kind for one in many.findings] == ["registers", "occupancy"]
    assert not many.passed
    assert many.ctas_per_sm == {"base": 24, "control": 24, "probed": 8}
