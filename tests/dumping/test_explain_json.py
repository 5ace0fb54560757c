"""Does ``explain --json`` write where it is told, and print where it is not?"""

import json
from pathlib import Path

import pytest

from stagebench.cli import main

DUMP = str(Path(__file__).parents[1] / "diffing" / "data" / "gemm" / "sm_80" / "num_stages=2")


def facts(text):
    (one,) = json.loads(text)["variants"]
    return one["variant"]["params"]["num_stages"]


@pytest.mark.parametrize(
    "arguments", [(DUMP, "--json"), (DUMP, "--json", "-"), ("--json", DUMP), ("--json", "-", DUMP)]
)
def test_printed(capsys, arguments):
    """Alone, with ``-``, and before the dump, which is never taken for the file."""
    assert main(["explain", *arguments]) == 0
    assert facts(capsys.readouterr().out) == 2


def test_written(capsys, tmp_path):
    """The file has the facts, and the explanation is printed as ever."""
    file = tmp_path / "facts.json"
    assert main(["explain", DUMP, "--json", str(file)]) == 0
    assert facts(file.read_text()) == 2
    assert "Schedule of loop" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [(), ("--json",), ("--json", "x.json")])
def test_no_dump(capsys, arguments):
    """Wrong usage, and nothing is written."""
    assert main(["explain", *arguments]) == 2
    assert "stagebench explain DUMP" in capsys.readouterr().err


def test_where_nothing_can_be_written(capsys, tmp_path):
    """Said in words."""
    (tmp_path / "file").write_text("")
    assert main(["explain", DUMP, "--json", str(tmp_path / "file" / "f.json")]) == 2
    assert "can't write" in capsys.readouterr().err
