"""The table of changed facts: equal changes share a row, what follows is folded, it fits."""

import io

import msgspec

from stagebench.diff.fact_changes import fact_changes
from stagebench.diff.pass_compare import changes_with_since
from stagebench.report.console import open_console
from stagebench.report.fact_change_rows import change_table
from stagebench.report.fact_change_view import fact_change_lines, print_fact_changes
from tests.diffing.passes.recorded import dump


def test_changes_that_say_the_same_share_a_row():
    """Both buffers' versions are one row, both counts of one op another."""
    table = change_table(changes_with_since(dump("sm_80", 2), dump("sm_80", 3)))
    rows = {row.text: row.since for row in table.rows}
    assert rows["A_shared, B_shared versions 2 → 3"] == "tl.InjectSoftwarePipeline"
    assert rows["syncthreads call sites 3 → 4, executions 31 → 30"] == "tl.ThreadSync"
    assert rows["loop k requested num_stages 2 → 3"] == "as requested"


def test_what_follows_is_counted():
    """Nothing is lost: rows and folded counts add up to all changes."""
    changes = fact_changes(dump("sm_80", 2), dump("sm_80", 3))
    table = change_table(changes)
    assert any("follow from these" in line for line in table.folded)
    assert any("line numbers moved" in line for line in table.folded)
    assert len(change_table(changes, show_all=True).rows) == len(changes)


def test_changes_that_only_follow_are_shown_when_they_are_all():
    """A change is never folded away into nothing."""
    changes = fact_changes(dump("sm_80", 2), dump("sm_80", 3))
    alone = [change for change in changes if change.follows and change.kind == "fact"][:2]
    assert len(change_table(alone).rows) == 2


def test_no_change_is_said():
    """Equal facts: one line."""
    assert [line.plain for line in fact_change_lines((), 100)] == ["no fact changed"]


def test_the_table_fits_and_reads_no_markup():
    """Every line fits into 100 columns; brackets in a fact stay brackets."""
    changes = list(changes_with_since(dump("sm_90a", 0), dump("sm_80", 3)))
    changes.append(msgspec.structs.replace(changes[0], text="[bold]x[/bold] 1 → 2", subject=""))
    out = io.StringIO()
    print_fact_changes(changes, open_console(out, width=100), show_all=True)
    assert "[bold]x[/bold]" in out.getvalue()
    for show_all in (False, True):
        lines = fact_change_lines(changes, 100, show_all=show_all)
        assert max(len(line.plain) for line in lines) <= 100
