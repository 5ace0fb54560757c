"""Reading survives a process that dies, and a main module that can't be imported twice."""

import os
import subprocess
import sys
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest

from stagebench.machine.reading_pool import ReadingPool, read_alone

WITHOUT_GUARD = """\
from stagebench.machine.reading_pool import ReadingPool, read_alone
print("main")
pool = ReadingPool(2)
print(pool.submit(len, "four").result(), read_alone(len, "five5"))
pool.close(wait=True)
"""


def test_a_script_without_a_guard_is_not_run_again(tmp_path):
    """The README's script has no ``if __name__``: it runs once, and its work is done."""
    script = tmp_path / "sweep.py"
    script.write_text(WITHOUT_GUARD)
    ran = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert (ran.returncode, ran.stdout.split(), ran.stderr) == (0, ["main", "4", "5"], "")


def test_a_reader_that_dies_is_not_the_end_of_the_others():
    """The work beside it is lost with the pool; the next submission gets a new one."""
    pool = ReadingPool(1)
    main = sys.modules["__main__"]
    dead = pool.submit(os._exit, 3)
    with pytest.raises(BrokenProcessPool):
        dead.result()
    assert pool.submit(len, "four").result() == 4
    pool.close(wait=True)
    assert sys.modules["__main__"] is main


def test_what_dies_alone_is_told():
    """A reading that kills its process a second time is an error of that reading."""
    assert read_alone(len, "four") == 4
    with pytest.raises(BrokenProcessPool):
        read_alone(os._exit, 3)
