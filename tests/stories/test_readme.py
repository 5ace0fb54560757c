"""Does the README show what the command prints?"""

from pathlib import Path

import pytest

from tests.command_line import stagebench

README = Path(__file__).parents[2] / "README.md"


@pytest.mark.tilelang
def test_the_tables_of_the_first_screen_are_true(tmp_path):
    """The README's tables are those of the main job, line for line."""
    ran = stagebench("sweep", "--num-stages", 1, 2, 3, 4, "--no-dumps", cwd=tmp_path)
    assert ran.code == 0, ran.err
    *tables, closing = ran.out.strip().split("\n\n")
    assert "8 lowered, 0 failed" in closing
    assert "\n\n".join(tables) in README.read_text()
