"""Does one kernel's crash, hang or noise stay that kernel's, and does no process outlive us?"""

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from stagebench.assemble.nvrtc_process import Lost, NvrtcPool
from stagebench.assemble.nvrtc_protocol import Compile, Compiled, Rejected

FAKE = (sys.executable, "-I", str(Path(__file__).with_name("fake_nvrtc.py")))
PATIENCE_SECONDS = 60.0


@pytest.fixture
def pool():
    with NvrtcPool(FAKE) as made:
        yield made


def compile_(pool, text, header="h", seconds=PATIENCE_SECONDS):
    return pool.compile(header, Compile(source=text, options=(), headers={}), seconds)


def who(result):
    """The process that compiled and its parent."""
    assert isinstance(result, Compiled), result
    _, own, parent = result.ptx.split(" ")
    return int(own), int(parent)


def test_the_first_is_compiled_by_the_process_and_later_ones_by_its_children(pool):
    """The header stays with the process; each later kernel has a child of its own."""
    first, _ = who(compile_(pool, "a"))
    second, its_parent = who(compile_(pool, "b"))
    third, _ = who(compile_(pool, "c"))
    assert its_parent == first
    assert len({first, second, third}) == 3
    assert pool.started == 1


def test_another_header_has_another_process(pool):
    """Kernels that can't share a header don't share a process."""
    assert who(compile_(pool, "a"))[0] != who(compile_(pool, "a", header="other"))[0]
    assert pool.started == 2


def test_a_rejected_text_is_an_answer(pool):
    """A compiler error is not a lost process."""
    answer = compile_(pool, "wrong")
    assert isinstance(answer, Rejected)
    assert answer.log == "kernel.cu(2): error: wrong\n"
    compile_(pool, "a")
    assert pool.started == 1


@pytest.mark.parametrize("warm", [False, True], ids=["first", "later"])
@pytest.mark.parametrize(("text", "code"), [("crash", -11), ("exit", 7)], ids=["signal", "exit"])
def test_a_crash_loses_one_kernel(pool, text, code, warm):
    """It is reported with its code and what was printed; the next kernel compiles."""
    if warm:
        compile_(pool, "a")
    lost = compile_(pool, text)
    assert isinstance(lost, Lost)
    assert (lost.timed_out, lost.code) == (False, code)
    assert "more noise" in lost.log
    assert isinstance(compile_(pool, "b"), Compiled)
    assert pool.started == (1 if warm else 2)


@pytest.mark.parametrize("warm", [False, True], ids=["first", "later"])
def test_a_hang_loses_one_kernel(pool, warm):
    """It is killed when its time is up, even if it ignores SIGTERM."""
    if warm:
        compile_(pool, "a")
    lost = compile_(pool, "hang", seconds=0.3)
    assert isinstance(lost, Lost)
    assert lost.timed_out
    assert isinstance(compile_(pool, "b"), Compiled)


def test_a_bug_of_ours_in_a_child_loses_one_kernel(pool):
    """An exception there is shown in the log."""
    compile_(pool, "a")
    lost = compile_(pool, "raise")
    assert isinstance(lost, Lost)
    assert lost.code == 1
    assert "a bug of ours" in lost.log


def test_who_waited_for_a_lost_process_is_not_lost(pool):
    """Kernels that queue behind the first one's crash are compiled by the next process."""
    with ThreadPoolExecutor(4) as threads:
        texts = ["slow crash", "a", "b", "c"]
        crashed = threads.submit(compile_, pool, texts[0])
        time.sleep(0.1)
        others = list(threads.map(lambda text: compile_(pool, text), texts[1:]))
        assert isinstance(crashed.result(), Lost)
    assert all(isinstance(other, Compiled) for other in others)


def test_a_process_that_cannot_load_the_library():
    """Its last words are the reason; there is no endless restarting."""
    with NvrtcPool((*FAKE, "--refuse")) as pool:
        lost = compile_(pool, "a")
        assert isinstance(lost, Lost)
        assert "cannot open shared object file" in lost.log
        assert pool.started == 3


def test_idle_processes_are_few():
    """More kinds of headers than processes kept: the least recently used ones end."""
    with NvrtcPool(FAKE) as pool:
        owners = [who(compile_(pool, "a", header=str(number)))[0] for number in range(8)]
        alive = [owner for owner in owners if _runs(owner)]
        assert alive == owners[2:]


def test_closing_ends_everything():
    """Processes and their busy children are gone when the pool is left."""
    with ThreadPoolExecutor(1) as threads, NvrtcPool(FAKE) as pool:
        owner, _ = who(compile_(pool, "a"))
        hanging = threads.submit(compile_, pool, "hang")
        child = _wait_for(lambda: _children(owner))[0]
        pool.kill()
        assert isinstance(hanging.result(timeout=PATIENCE_SECONDS), Lost)
    _wait_for(lambda: not _runs(owner) and not _runs(child))


def test_nothing_outlives_a_killed_run():
    """When we are killed ourselves, the processes go too, also a busy one."""
    script = (
        "import sys\n"
        "from stagebench.assemble.nvrtc_process import NvrtcPool\n"
        "from stagebench.assemble.nvrtc_protocol import Compile\n"
        f"pool = NvrtcPool({FAKE!r})\n"
        "first = pool.compile('h', Compile(source='a', options=(), headers={}), 60)\n"
        "print(first.ptx.split()[1], flush=True)\n"
        "pool.compile('h', Compile(source='hang', options=(), headers={}), 600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as run:
        owner = int(run.stdout.readline())
        child = _wait_for(lambda: _children(owner))[0]
        run.kill()
    _wait_for(lambda: not _runs(owner) and not _runs(child))


def _children(pid):
    try:
        return [int(p) for p in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _runs(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def _wait_for(condition):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError("it didn't happen")
