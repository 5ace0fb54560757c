"""One process with TileLang in it for the whole folder: importing it costs seconds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
KERNELS = HERE / "kernels"


@pytest.fixture(scope="session")
def driver():
    """A running ``driver.py``, as a function from a request to its answer."""
    root = str(HERE.parents[1])
    environment = {**os.environ, "PYTHONPATH": root, "PYTHONDONTWRITEBYTECODE": "1"}
    with subprocess.Popen(
        [sys.executable, str(HERE / "driver.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        text=True,
        encoding="utf-8",
    ) as process:

        def ask(request):
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        yield ask
        process.stdin.close()
        process.wait(timeout=30)


@pytest.fixture
def load(driver):
    """Load ``function`` of a file in ``kernels/`` (or of any path, or a built-in)."""

    def ask(path, function, num_stages=None, stage_param=None, arch="sm_90a", **params):
        file = None if path is None else str(path if Path(path).is_absolute() else KERNELS / path)
        return driver(
            {
                "path": file,
                "function": function,
                "params": params,
                "num_stages": num_stages,
                "stage_param": stage_param,
                "arch": arch,
            }
        )

    return ask


@pytest.fixture
def write(tmp_path):
    """Write a kernel file (``T`` and ``tilelang`` are imported for it) and return its path."""

    def made(text, name="kernel.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return made
