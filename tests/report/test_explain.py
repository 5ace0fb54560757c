"""Is everything about one variant in its explanation, and does it fit?"""

import io

import msgspec
import pytest
from rich.console import Console

from stagebench.dump.directory import Timing
from stagebench.dump.files import Dump
from stagebench.report.explain_rows import memory_bar, sections
from stagebench.report.explain_view import print_explanation


def dump_of(recorded, name, arch, num_stages):
    run, _ = recorded(name, arch)
    (result,) = [v for v in run.variants if v.variant.num_stages == num_stages]
    return Dump(folder="dumps/x", result=result, kernel_cu=None)


def explained(dump, timing=None, **options):
    return {section.title: section for section in sections(dump, timing, **options)}


def test_the_schedule_is_told_statement_by_statement(recorded):
    """Stage, order, commit group and line of each; the role is left out where there is none."""
    found = explained(dump_of(recorded, "gemm_sm80", "sm_80", 3))["Schedule of loop k"]
    assert found.rows[0] == ("statement", "stage", "order", "group", "line")
    assert [row[:4] for row in found.rows[1:]] == [
        ("copy A → A_shared", "0", "0", "0"),
        ("copy B → B_shared", "0", "1", "0"),
        ("gemm A_shared, B_shared → C_local", "2", "2", "none"),
    ]
    assert (
        found.lines[1] == "scheduled by software pipeline (tl.PipelinePlanning), pipeline_depth 3"
    )


def test_roles_stand_where_warps_are_specialised(recorded):
    """There the compiler has no stage and order lists."""
    found = explained(dump_of(recorded, "gemm_sm90a", "sm_90a", 3))["Schedule of loop k"]
    assert found.rows[0] == ("statement", "role", "line")
    assert [row[1] for row in found.rows[1:]] == ["producer", "producer", "consumer"]


def test_why_not_is_said_with_the_loop(recorded):
    """The reason stands under the loop that it is about."""
    found = explained(dump_of(recorded, "nested", "sm_80", 2))["Schedule of loop kk"]
    assert "scheduled by nobody" in found.lines
    assert any(line.startswith("not as asked – ") for line in found.lines)


def test_every_sync_site_is_a_row_in_program_order(recorded):
    """As many rows as sites, under headings of role and section."""
    dump = dump_of(recorded, "gemm_sm90a", "sm_90a", 3)
    rows = explained(dump)["Sync sites, in program order"].rows
    sites = [row for row in rows[1:] if len(row) > 1]
    assert [row[0].strip() for row in sites] == [op.op for op in dump.result.facts.sync_ops]
    assert [row[2] for row in sites] == [str(op.dynamic) for op in dump.result.facts.sync_ops]
    assert ("producer, body",) in rows


def test_a_synthetic_line_is_told_from_an_exact_one(recorded):
    """``~19`` is near, ``19`` is the statement's own."""
    dump = dump_of(recorded, "gemm_sm80", "sm_80", 3)
    facts = dump.result.facts
    ops = [
        msgspec.structs.replace(facts.sync_ops[0], line=27, line_kind="exact"),
        msgspec.structs.replace(facts.sync_ops[1], line=23, line_kind="synthetic"),
        msgspec.structs.replace(facts.sync_ops[2], line=None, line_kind=None),
    ]
    changed = msgspec.structs.replace(facts, sync_ops=tuple(ops))
    result = msgspec.structs.replace(dump.result, facts=changed)
    rows = explained(msgspec.structs.replace(dump, result=result))["Sync sites, in program order"]
    assert [row[4] for row in rows.rows[1:] if len(row) > 1] == ["27", "~23", "–"]


def test_pass_times_are_dashes_until_they_are_known(recorded):
    """A time that nobody measured is not zero."""
    dump = dump_of(recorded, "gemm_sm80", "sm_80", 3)
    count = len(dump.result.facts.lowering.passes)
    assert {row[2] for row in explained(dump)["Passes"].rows[1:]} == {"–"}
    last = dump.result.facts.lowering.passes[-1].sequence
    timing = Timing(load=0.1, lower=2.0, observe=0.2, facts=0.1, pass_seconds=(0.25,) * (last + 1))
    rows = explained(dump, timing, show_all=True)["Passes"].rows
    assert len(rows) == count + 1
    assert {row[3] for row in rows[1:]} == {"250 ms"}


def test_nested_passes_are_indented(recorded):
    """What runs inside another pass stands under it."""
    dump = dump_of(recorded, "gemm_sm80", "sm_80", 3)
    facts = dump.result.facts
    passes = [
        msgspec.structs.replace(facts.lowering.passes[0], name="outer", depth=0, changed=True),
        msgspec.structs.replace(facts.lowering.passes[1], name="inner", depth=1, changed=True),
        msgspec.structs.replace(facts.lowering.passes[2], name="idle", depth=0, changed=False),
    ]
    cost = msgspec.structs.replace(facts.lowering, passes=tuple(passes))
    result = msgspec.structs.replace(
        dump.result, facts=msgspec.structs.replace(facts, lowering=cost)
    )
    rows = explained(msgspec.structs.replace(dump, result=result))["Passes"].rows
    assert [row[1] for row in rows[1:]] == ["outer", "  inner", "1 more that changed nothing"]


def test_a_failed_variant_is_told_in_full(recorded):
    """Kind and pass in the title, then the message as the compiler gave it."""
    dump = dump_of(recorded, "failing", "sm_80", 2)
    found = explained(dump)
    failed = found["Failed: compile error in tl.LayoutInference"]
    assert failed.alarming
    assert failed.lines[0] == dump.result.failure.message
    assert "Schedule" not in found


def test_the_memory_bar_says_by_how_much_it_is_over(recorded):
    """Full, and the excess in words."""
    dump = dump_of(recorded, "overflow", "sm_80", 4)
    text = memory_bar(dump.result.facts.shared_memory)
    assert "░" not in text
    assert text.endswith("192 KiB of 163 KiB, 118%, over the limit by 29 KiB")


def test_tma_descriptors_are_spelled_out(recorded):
    """The driver's integers as words, one column per descriptor."""
    rows = explained(dump_of(recorded, "gemm_sm90a", "sm_90a", 3))["TMA descriptors"].rows
    fields = {row[0]: row[1:] for row in rows}
    assert fields["descriptor"] == ("A_desc", "B_desc")
    assert fields["data type"] == ("float16", "float16")
    assert fields["box"] == ("64, 128", "64, 128")
    assert fields["swizzle"] == ("128 B", "128 B")


@pytest.mark.parametrize("width", [80, 100, 120])
@pytest.mark.parametrize(
    ("name", "arch", "depth"),
    [("gemm_sm90a", "sm_90a", 4), ("attention", "sm_80", 3), ("nested", "sm_90a", 3),
     ("overflow", "sm_80", 4), ("failing", "sm_90a", 2), ("refill", "sm_80", 2)],
)  # fmt: skip
def test_no_line_is_wider_than_the_console(recorded, name, arch, depth, width):
    """Whatever the kernel is called and however long its expressions are."""
    console = Console(file=io.StringIO(), width=width, color_system=None)
    print_explanation(dump_of(recorded, name, arch, depth), console=console)
    for line in console.file.getvalue().splitlines():
        assert len(line) <= width
        assert line == line.rstrip()
