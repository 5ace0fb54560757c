"""Does an unused plugin cost nothing?"""

import subprocess
import sys

SCRIPT = """
import sys
import pytest
code = pytest.main(sys.argv[1:])
heavy = {"msgspec", "rich", "tree_sitter", "tilelang", "tvm", "torch", "numpy", "junitparser"}
ours = sorted(name for name in sys.modules if name.startswith("stagebench"))
print("HEAVY", sorted(heavy & set(sys.modules)), "OURS", ours, "CODE", int(code))
"""


def test_loading_imports_next_to_nothing(tmp_path):
    """A session without the fixture loads the plugin, two small modules of ours, and no more."""
    (tmp_path / "test_plain.py").write_text("def test_plain(): pass\n")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, "-q", "-p", "no:cacheprovider", "-p", "no:xdist"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert (
        "HEAVY [] OURS ['stagebench', 'stagebench.pytest_plugin', 'stagebench.testing', "
        "'stagebench.testing.ledger', 'stagebench.testing.places'] CODE 0"
    ) in done.stdout
