"""Do annotations say what is wrong, at the right line, in a form that GitHub reads?"""

import re

import pytest

from stagebench.model.verdict import Place
from stagebench.report.check_github import MOST_OF_A_LEVEL, check_github
from tests.gate_formats.building import (
    EVERY_STATUS,
    NASTY,
    answer,
    change,
    experiment,
    of_variants,
    variant,
    verdict,
)

COMMAND = re.compile(r"::(error|warning|notice) ([^:]*)::(.*)")


def read(text):
    """Parse as the runner does (``ActionCommand.cs``): split, then unescape."""
    found = []
    for line in text.splitlines():
        kind, listed, data = COMMAND.fullmatch(line).groups()
        properties = dict(part.split("=", 1) for part in listed.split(","))
        found.append((kind, {k: _unescape(v) for k, v in properties.items()}, _unescape(data)))
    return found


def _unescape(text):
    for code, char in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, char)
    return text


def test_a_drift_points_at_the_baselines_line():
    """The error is at the value in the baseline, with the fact, its path and its variants."""
    drift, closing = read(check_github(EVERY_STATUS["drift"]))
    assert drift == (
        "error",
        {
            "file": "dumps/e/gemm/sm_90a/num_stages=2/facts.json",
            "line": "51",
            "title": "stagebench: generated code changed",
        },
        "A_shared versions 2 → 3\nshared_buffers[A_shared].num_versions\n"
        "in 1 variant: gemm/sm_90a/num_stages=2",
    )
    assert closing[0] == "notice"
    assert closing[1] == {"title": "stagebench: exit 1"}
    assert closing[2].endswith(
        'to approve: stagebench accept experiments/e.py --only fix --reason "say why"'
    )


def test_an_expectation_points_at_the_experiment():
    """The error is at the expectation's own line, with the values that it saw."""
    (kind, where, said), _ = read(check_github(EVERY_STATUS["expectation_failed"]))
    assert (kind, where["file"], where["line"]) == ("error", "experiments/e.py", "12")
    assert "buffers['A_shared'].num_versions = 3" in said


@pytest.mark.parametrize("name", EVERY_STATUS)
def test_an_error_exactly_where_the_exit_code_is_not_0(name):
    """No check fails without an annotation, none passes with an error."""
    found = EVERY_STATUS[name]
    kinds = [kind for kind, _, _ in read(check_github(found))]
    assert ("error" in kinds) == (found.exit_code != 0)


def test_a_missing_baseline_that_is_allowed_is_a_warning():
    """It is told, at the experiment's file."""
    (kind, where, _), _ = read(check_github(EVERY_STATUS["missing, allowed"]))
    assert (kind, where["file"]) == ("warning", "experiments/e.py")


def test_any_text_stays_text():
    """Line feeds, percent signs, colons and commas come back as they were; one line a command."""
    commands = read(check_github(EVERY_STATUS["text that is code elsewhere"]))
    (_, where, said), *_ = commands
    assert where["file"] == "a b:c,d%é.json"
    assert said.startswith(NASTY.replace("\x00", "\\x00"))
    assert len(commands) == 3


def test_no_more_than_github_shows():
    """Ten of a level, then how many more there are."""
    many = of_variants(
        variant("drift", drifts=[change(f"fact {i} changed", f"x[{i}]") for i in range(32)])
    )
    commands = read(check_github(many))
    assert [kind for kind, _, _ in commands] == ["error"] * MOST_OF_A_LEVEL + ["notice"]
    assert "and 22 errors more than GitHub shows" in commands[-1][2]


def test_the_same_change_is_told_once():
    """Four variants with one change are one annotation that names all four."""
    four = of_variants(
        *(variant("drift", f"gemm/sm_90a/num_stages={i}", [change()]) for i in range(4))
    )
    (_, _, said), _ = read(check_github(four))
    assert "in 4 variants: gemm/sm_90a/num_stages=0, 1, 2, 3" in said


def test_a_file_without_a_line():
    """Where no line is known the annotation is on the file."""
    found = of_variants(variant("drift", drifts=[change(place=Place(file="f.json", line=None))]))
    (_, where, _), _ = read(check_github(found))
    assert "line" not in where


def test_experiments_are_named_where_there_are_several():
    """Variants of several experiments carry their experiment's name."""
    found = verdict(
        experiment(variant("drift", drifts=[change()])),
        experiment(variant("expectation_failed", answers=[answer()]), name="f"),
    )
    assert "in 1 variant: e:gemm/" in check_github(found).replace("%3A", ":")
