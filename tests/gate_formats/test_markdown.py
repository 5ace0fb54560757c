"""Is the comment on a pull request readable, bounded, and only ever text?"""

import pytest

from stagebench.report.check_markdown import MAX_BYTES, check_markdown
from stagebench.report.check_rows import summary
from tests.gate_formats.building import (
    EVERY_STATUS,
    approved_by,
    change,
    experiment,
    of_variants,
    variant,
    verdict,
)


def rows(text):
    """The cells of every table's rows, as GitHub splits them."""
    found = []
    for line in text.splitlines():
        if line.startswith("| "):
            cells, cell, escaped = [], "", False
            for char in line[1:]:
                if char == "|" and not escaped:
                    cells.append(cell.strip())
                    cell = ""
                else:
                    cell += char
                escaped = char == "\\" and not escaped
            found.append(cells)
    return found


def test_drift():
    """The verdict, the change with its variants and place, each variant folded, the command."""
    assert check_markdown(EVERY_STATUS["drift"]) == (
        f"**stagebench check: drift** · {summary(EVERY_STATUS['drift'])}\n\n"
        "| what | variants | where |\n| --- | --- | --- |\n"
        "| A\\_shared versions 2 → 3 | 1: gemm/sm\\_90a/num\\_stages=2 "
        "| dumps/e/gemm/sm\\_90a/num\\_stages=2/facts.json:51 |\n\n"
        "<details><summary>e: 1 of 1 variant</summary>\n\n"
        "| variant | ends as | changes |\n| --- | --- | --- |\n"
        "| gemm/sm\\_90a/num\\_stages=2 | drift | A\\_shared versions 2 → 3 |\n\n</details>\n\n"
        "To approve:\n\n```sh\n"
        'stagebench accept experiments/e.py --only fix --reason "say why"\n```\n'
    )


def test_clean_is_one_line():
    """Nothing to decide, nothing to read."""
    assert check_markdown(EVERY_STATUS["clean"]).count("\n") == 1


def test_the_widest_change_is_first():
    """What changed in most variants leads."""
    names = [f"gemm/sm_90a/num_stages={i}" for i in range(3)]
    found = of_variants(
        variant("drift", names[0], [change("narrow", "a"), change("wide", "b")]),
        variant("drift", names[1], [change("wide", "b")]),
        variant("drift", names[2], [change("wide", "b")]),
    )
    table = [cells[0] for cells in rows(check_markdown(found))]
    assert table.index("wide") < table.index("narrow")


@pytest.mark.parametrize("name", EVERY_STATUS)
def test_bounded_and_ends_in_the_command(name):
    """Never more than 60 KB, and the last thing is how to approve."""
    found = EVERY_STATUS[name]
    text = check_markdown(found)
    assert len(text.encode()) <= MAX_BYTES
    assert text.count("<details>") == text.count("</details>")
    if found.accept is not None and len(found.accept.shell) < 10_000:
        assert text.rstrip().removesuffix("```").rstrip().endswith(found.accept.shell)


def test_what_is_left_out_is_counted():
    """A huge check says how many experiments, rows and changes did not fit."""
    text = check_markdown(EVERY_STATUS["huge"])
    assert len(text.encode()) > MAX_BYTES / 2
    assert "more rows left out" in text
    assert "more experiments left out" in text


def test_one_experiment_that_is_too_large_is_cut():
    """Rows of a folded table that don't fit are counted, and the fold is closed."""
    drifts = [change(f"fact {number} {'x' * 90}", f"y[{number}]") for number in range(9)]
    many = [variant("drift", f"gemm/sm_90a/block={number}", drifts) for number in range(200)]
    text = check_markdown(of_variants(*many))
    assert len(text.encode()) <= MAX_BYTES
    assert "more variants left out\n\n</details>" in text


def test_text_of_many_bytes_a_character_is_measured_in_bytes():
    """Signs of three bytes and texts of escaped signs don't break the bound."""
    for text in ("→" * 5000, "@" * 5000, "|" * 5000):
        drifts = [change(f"{text} {i}", f"x[{i}]") for i in range(200)]
        found = of_variants(variant("drift", text, drifts, note=text))
        assert len(check_markdown(found).encode()) <= MAX_BYTES


def test_a_command_that_is_too_long_is_named():
    """A command of megabytes is not half printed: the comment says where to find it."""
    found = verdict(
        *(experiment(variant("missing_baseline"), name=f"{'n' * 60}{i}") for i in range(400))
    )
    text = check_markdown(found)
    assert len(text.encode()) <= MAX_BYTES
    assert "run the command that `stagebench check` prints" in text


def test_any_text_stays_text():
    """Pipes, backticks, HTML, emphasis and mentions are shown, never obeyed."""
    text = check_markdown(EVERY_STATUS["text that is code elsewhere"])
    for cells in rows(text):
        assert len(cells) == 3
    assert "<img" not in text.replace("\\<img", "")
    assert "@team" not in text
    assert "`c" not in text.replace("\\`c", "")


def test_a_fence_that_the_command_can_not_close():
    """A file called like a fence does not end the code block."""
    found = approved_by(EVERY_STATUS["drift"], "stagebench accept 'a```b.py'")
    assert "````sh\nstagebench accept 'a```b.py'\n````" in check_markdown(found)
