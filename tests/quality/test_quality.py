"""Is the code as clean as its settings say: lint, format, types, one direction of imports?

Slow tools, each run once over everything; the settings and their reasons are in pyproject.toml.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def _run(*command):
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(("ruff", "check", "."), id="lint"),
        pytest.param(("ruff", "format", "--check", "."), id="format"),
        pytest.param(("mypy",), id="types"),
    ],
)
def test_the_code_is_clean(command):
    """The tool has nothing to say."""
    code, said = _run(*command)
    assert code == 0, said


def test_imports_flow_one_way():
    """Layers import downwards only, and nobody but the worker imports a compiler."""
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_registry_host_is_named():
    """Packages come from wherever the machine's pip looks: the repository names no host."""
    names = ["pypi" + ".org", "pythonhosted" + ".org", "download.pytorch" + ".org"]
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\0")
    for name in filter(None, listed):
        path = ROOT / name
        if path.is_file() and path.suffix not in (".zst", ".png"):
            text = path.read_text(errors="replace")
            assert not any(host in text for host in names), name


def test_help_imports_nothing_heavy():
    """``--help`` of the command and of each verb imports no compiler, no rich and no records."""
    script = (
        "import sys\n"
        "from stagebench.cli import main\n"
        "try:\n main(sys.argv[1:])\nexcept SystemExit: pass\n"
        "heavy = {'tilelang', 'tvm', 'torch', 'rich', 'msgspec', 'tree_sitter', 'numpy'}\n"
        "print('HEAVY', sorted(heavy & set(sys.modules)))\n"
    )
    from stagebench.cli import VERBS

    for verb in (None, *VERBS):
        done = subprocess.run(
            [sys.executable, "-c", script, *([verb] if verb else []), "--help"],
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
        )
        assert "HEAVY []" in done.stdout, (verb, done.stdout)
