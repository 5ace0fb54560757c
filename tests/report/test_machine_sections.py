"""Is everything that is known of the machine code told, and what is not known told as that?"""

from msgspec.structs import replace

from stagebench.report.machine_sections import machine_sections
from tests.gate.building import accepted


def section(facts, title):
    """The lines and rows of the section whose title begins so."""
    found = next(one for one in machine_sections(facts) if one.title.startswith(title))
    return found.lines, found.rows


def with_machine(facts, **fields):
    return replace(facts, machine=replace(facts.machine, **fields))


def test_every_section_of_an_assembled_kernel():
    """A GEMM for Hopper: from what the assembler said to what its arithmetic costs at best."""
    titles = [one.title for one in machine_sections(accepted("sm_90a", 3).facts) if one.rows]
    assert titles == [
        "Resources of the machine code",
        "Four levels (static · executed)",
        "Sync instructions, by CUDA statement",
        "Executed by one thread of each path",
        "Between waits, in SASS order",
        "Arithmetic",
    ]


def test_a_kernel_that_was_not_assembled_has_none():
    """No machine code, no section: not one of dashes."""
    assert machine_sections(replace(accepted("sm_90a", 3).facts, machine=None)) == ()


def test_the_deepest_depth_is_a_table_only_where_some_arch_has_one():
    """Depths by arch; where the model describes none of them there is no table of dashes."""
    facts = accepted("sm_90a", 3).facts
    _, rows = section(facts, "Resources")
    assert rows[0] == ("by shared memory, on", "deepest num_stages", "deepest with two CTAs per SM")
    assert rows[1][0] == "sm_90"
    unknown = tuple(
        replace(point, max_num_stages=None, max_num_stages_two_ctas=None)
        for point in facts.machine.frontier
    )
    assert section(with_machine(facts, frontier=unknown), "Resources")[1] == ()
    some = (replace(unknown[0], max_num_stages=7), *unknown[1:])
    assert section(with_machine(facts, frontier=some), "Resources")[1][1] == ("sm_90", "7", "–")


def test_windows_say_whose_they_are_where_any_role_is_known():
    """The column is there if one window has a role; the others say that theirs is not known."""
    facts = accepted("sm_90a", 3).facts
    window = replace(facts.machine.overlap[0], role=None)
    _, rows = section(with_machine(facts, overlap=(window,)), "Between")
    assert rows[0][0] == "section"
    both = (window, replace(window, role="producer"))
    _, rows = section(with_machine(facts, overlap=both), "Between")
    assert [row[0] for row in rows] == ["role", "–", "producer"]
