"""Does the command offer what can be rendered, and is each a function of the verdict alone?"""

import json
import sys

import pytest

from stagebench.commands import check
from stagebench.errors import MachineError
from stagebench.report.check_formats import FORMATS, render
from stagebench.report.check_junit import check_junit
from tests.command_line import stagebench
from tests.gate_formats.building import EVERY_STATUS
from tests.plugin.seeded import one_version_more, seed


def test_the_command_offers_every_format():
    """``--format`` names what can be rendered, and the three that the command makes itself."""
    assert set(check.FORMATS) == {"rich", "plain", "json", *FORMATS}


@pytest.mark.parametrize("name", FORMATS)
def test_deterministic_and_whole_lines(name):
    """The same verdict is the same text, and ends in one line feed."""
    text = render(EVERY_STATUS["drift"], name)
    assert text == render(EVERY_STATUS["drift"], name)
    assert text.endswith("\n")
    assert not text.endswith("\n\n")


def test_junit_without_its_library(monkeypatch):
    """What is not installed is said, with the command that installs it."""
    monkeypatch.setitem(sys.modules, "junitparser", None)
    with pytest.raises(MachineError) as caught:
        check_junit(EVERY_STATUS["drift"])
    assert caught.value.hint == "pip install 'stagebench[ci]'"


def test_the_command_prints_each_format_alone(project):
    """Standard output is the format and nothing else; the exit code is the verdict's."""
    seed(2, change=one_version_more)
    outputs = {}
    for name in FORMATS:
        done = stagebench("check", "--format", name, cwd=project)
        assert done.code == 1, done.err
        outputs[name] = done.out
    first = outputs["github"].splitlines()[0]
    assert first.startswith(
        "::error file=dumps/e/gemm/sm_90a/num_stages=2/facts.json,line=51,title=stagebench%3A "
        "generated code changed::A_shared versions 2 → 3%0A"
    )
    line = (project / "dumps/e/gemm/sm_90a/num_stages=2/facts.json").read_text().splitlines()[50]
    assert line.strip() == '"num_versions": 2,'
    assert outputs["markdown"].startswith("**stagebench check: drift** · ")
    assert outputs["junit"].startswith("<?xml")
    assert json.loads(outputs["sarif"])["version"] == "2.1.0"
