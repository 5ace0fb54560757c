"""Is what the experiments tell still what the commands print?"""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.tilelang
@pytest.mark.parametrize(
    "name",
    [
        "depth_on_hopper.md",
        "in_kernel_regions.md",
        "kernel_by_hand.md",
        "one_pass_for_num_stages.md",
        pytest.param("releases.md", marks=pytest.mark.slow),  # fetches and runs six releases
        pytest.param("tvm_releases.md", marks=[pytest.mark.slow, pytest.mark.tvm]),  # three
    ],
)
def test_a_story_is_true(name):
    """Every command of the story prints what the story says it printed."""
    story = ROOT / "experiments" / name
    done = subprocess.run(
        [sys.executable, str(ROOT / "experiments" / "retell.py"), str(story)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.stdout == story.read_text(), done.stderr
    assert done.returncode == 0
