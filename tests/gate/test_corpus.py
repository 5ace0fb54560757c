"""Is the gate silent where nothing changed?  The corpus lowered twice, the second time moved.

The second project has another path, other file names, every line moved by a comment, and a cache
of its own, so that everything is lowered again.
"""

import json
import os
import shutil

import pytest

from tests.command_line import stagebench
from tests.corpus import ground_truth
from tests.corpus.test_ground_truth import CASES, SAMPLE

pytestmark = [pytest.mark.tilelang, pytest.mark.slow]

HEAD = "from stagebench import Case, Experiment\n\nEXPERIMENT = Experiment(question='q', cases=[\n"


def project(root, cases, prefix):
    """A project with the corpus's kernels under other names, and one experiment of all cases."""
    (root / "kernels").mkdir(parents=True)
    (root / "experiments").mkdir()
    (root / "pyproject.toml").write_text("")
    for path in ground_truth.KERNELS.glob("*.py"):
        text = path.read_text()
        comment = "# moved by a comment\n\n" if prefix else ""
        (root / "kernels" / f"{prefix}{path.name}").write_text(comment + text)
    lines = []
    for case in cases:
        entry = ground_truth.read_entry(case)
        lines.append(
            f"Case(kernel='../kernels/{prefix}{case.file}.py:{entry['function']}', "
            f"name={case.key!r}, num_stages={list(case.depths)}, arch={case.arch!r}, "
            f"params={entry['args']!r}, stage_param={entry['stage_param']!r}, "
            f"pass_configs={entry['pass_configs']!r}),\n"
        )
    (root / "experiments" / "corpus.py").write_text(HEAD + "".join(lines) + "])\n")
    return root


@pytest.mark.parametrize("which", ["sample", "whole"])
def test_the_corpus_has_no_drift(tmp_path, which):
    """0 of 450 points, in a moved and renamed project that is lowered from nothing."""
    cases = [case for case in CASES if which == "whole" or case.key in SAMPLE]
    first = project(tmp_path / "first", cases, "")
    accepted = stagebench("accept", cwd=first, timeout=7200, CI="")
    assert accepted.code == 0, accepted.out[-3000:] + accepted.err
    second = project(tmp_path / "elsewhere" / "second", cases, "other_")
    shutil.copytree(first / "dumps", second / "dumps")

    checked = stagebench(
        "check", "--json", "-", cwd=second, timeout=7200,
        STAGEBENCH_CACHE_DIR=str(tmp_path / "cache"), PYTHONHASHSEED=str(os.getpid() % 1000),
    )  # fmt: skip

    found = json.loads(checked.out)
    drifts = [
        (
            variant["name"],
            variant["status"],
            variant["note"],
            [d["text"] for d in variant["drifts"]],
        )
        for experiment in found["experiments"]
        for case in experiment["cases"]
        for variant in case["variants"]
        if variant["status"] != "clean"
    ]
    assert drifts == []
    assert found["counts"] == {"clean": sum(len(case.rows) for case in cases)}
    assert checked.code == 0
