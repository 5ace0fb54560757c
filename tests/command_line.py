"""Run ``stagebench`` as a user does: its own process, its own working directory."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Ran:
    """What one command printed and returned."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


def stagebench(*arguments, cwd=None, timeout=300, **variables):
    """Run one command to its end."""
    done = subprocess.run(
        command(*arguments),
        cwd=cwd,
        env={**os.environ, "COLUMNS": "100", **variables},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def command(*arguments):
    """The argument list of one command."""
    return [sys.executable, "-m", "stagebench", *map(str, arguments)]


def unwrapped(text):
    """Without the line breaks that a long path brings: each run of spaces is one."""
    return " ".join(text.split())
