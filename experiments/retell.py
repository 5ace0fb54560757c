"""Run the commands of a story again and print it with what they print now.

``python experiments/retell.py experiments/one_pass_for_num_stages.md`` prints the file as it would
be written today; ``--write`` replaces it.  A story is Markdown whose ``console`` blocks start with
one command (``$ …``); all of a story's commands run in one empty folder, 100 columns wide, with
``$REPO`` for this checkout.  What
differs from run to run (seconds, results from the cache) is cut from a sweep's closing line.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

_BLOCK = re.compile(r"```console\n\$ (?P<command>[^\n]+)\n.*?```", re.DOTALL)
_VARYING = re.compile(r" · [\d.]+ (?:ms|s|min)\b(?: · \d+ from cache)?")


def retell(story: str) -> str:
    """The story with each command's output as it is now."""
    scripts = str(Path(sys.executable).parent)
    environ = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}
    environ["REPO"] = str(Path(__file__).resolve().parents[1])
    environ["PATH"] = scripts + os.pathsep + environ.get("PATH", "")
    with tempfile.TemporaryDirectory() as folder:

        def run(block: re.Match[str]) -> str:
            done = subprocess.run(
                ["bash", "-c", block["command"]],
                cwd=folder,
                env=environ,
                capture_output=True,
                text=True,
                check=False,
            )
            if done.stderr:
                raise SystemExit(f"{block['command']}\n{done.stderr}")
            printed = _VARYING.sub("", done.stdout.rstrip())
            return f"```console\n$ {block['command']}\n{printed}\n```"

        return _BLOCK.sub(run, story)


def main() -> int:
    """Print or rewrite one story; 1 if it is not what the commands say now."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("story", type=Path)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    told = arguments.story.read_text()
    now = retell(told)
    if arguments.write:
        arguments.story.write_text(now)
    else:
        print(now, end="")
    return int(told != now and not arguments.write)


if __name__ == "__main__":
    sys.exit(main())
