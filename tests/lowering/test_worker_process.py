"""Does the parent survive any worker, and say what is wrong with it?"""

import time

import pytest

from stagebench.errors import MachineError, UsageError
from stagebench.lowering.compiler_environment import CompilerEnvironment
from stagebench.lowering.lower import Limits, NoDepthParameterError, lower_all
from stagebench.lowering.worker_process import WorkerProcess
from tests.lowering.fake_compiler import COMPILER, environment, request


class Watcher:
    """Remembers what it was told."""

    def __init__(self):
        self.told = []

    def importing(self):
        self.told.append("importing")

    def started(self, index):
        self.told.append(("started", index))

    def finished(self, index, lowering):
        self.told.append(("finished", index, lowering.result.failure.kind))


def lower(folder, body, count=2, jobs=2):
    """Lower a few requests with that worker: results as (kind, message), and what was told."""
    watcher = Watcher()
    requests = [request(depth) for depth in range(count)]
    found = lower_all(
        requests, environment(folder, body), Limits(jobs=jobs, timeout_seconds=5), None, watcher
    )
    return [(f.result.failure.kind, f.result.failure.message) for f in found], watcher.told


def refusal(folder, body):
    with pytest.raises(MachineError) as caught:
        lower(folder, body)
    return caught.value


def test_a_worker_that_works(tmp_path):
    """Results are in the requests' order, whatever order they end in."""
    found, told = lower(tmp_path, "hello()\nfor job, request in jobs(): raised(job, request)\n", 3)
    assert found == [("compile_error", "Error: no")] * 3
    assert told[0] == "importing"
    assert sorted(index for _, index, _ in told[1:]) == [0, 1, 2]


def test_what_takes_longest_is_asked_for_first(tmp_path):
    """Old archs and deep pipelines go first, so that none of them is what one waits for last."""
    body = "hello()\nfor job, request in jobs(): raised(job, request)\n"
    watcher = Watcher()
    requests = [
        request(1, "sm_90a"),
        request(1, "sm_80"),
        request(3, "sm_90a"),
        request(3, "sm_80"),
    ]
    lower_all(
        requests, environment(tmp_path, body), Limits(jobs=1, timeout_seconds=5), None, watcher
    )
    assert [index for _, index, _ in watcher.told[1:]] == [3, 1, 2, 0]


def test_an_interpreter_that_is_not_there(tmp_path):
    """A missing interpreter is told as such, with the compiler that it is for."""
    missing = CompilerEnvironment(compiler=COMPILER, python=str(tmp_path / "none"), identity="fake")
    with pytest.raises(MachineError) as caught:
        WorkerProcess(missing, jobs=1)
    assert "fakecc 1.0 can't be imported by" in caught.value.message
    assert "it can't be started: No such file" in caught.value.message


def test_a_worker_that_ends_while_starting(tmp_path):
    """What it printed last is in the message, and doctor is the next step."""
    error = refusal(tmp_path, "print('ImportError: libx.so', file=sys.stderr)\nsys.exit(1)\n")
    assert "fakecc 1.0 can't be imported by" in error.message
    assert "it ended while starting (exit code 1): ImportError: libx.so" in error.message
    assert error.hint == "stagebench doctor says what is missing"
    assert error.exit_code == 2


def test_a_worker_that_refuses(tmp_path):
    """A compiler that can't be imported says why."""
    error = refusal(tmp_path, "say('refused', message='ImportError: no z3')\n")
    assert error.message.endswith("ImportError: no z3")


def test_a_worker_that_starts_with_something_else(tmp_path):
    """A message out of turn is no hello."""
    error = refusal(tmp_path, "say('started', job=0)\nsys.stdin.read()\n")
    assert error.message.endswith("it did not say that it has started")


@pytest.mark.parametrize("before", ["", "hello()\n"])
def test_a_line_that_is_no_message(tmp_path, before):
    """Something printed on the channel is quoted; it is neither skipped nor a traceback of ours."""
    error = refusal(tmp_path, before + "print('WARNING: hi', flush=True)\nsys.stdin.read()\n")
    assert error.message == "the worker said something that is no message: b'WARNING: hi\\n'"


DIES_ONCE = """
hello()
first = not os.path.exists(__file__ + ".ran")
open(__file__ + ".ran", "w").close()
for job, request in jobs():
    say("started", job=job)
    if first:
        {how}
    raised(job, request)
"""


@pytest.mark.parametrize(
    "how",
    [
        "os.abort()",
        "os._exit(0)",
        'os.write(1, b\'{"type":"done","job":0,"reply":{"ty\'); os.abort()',
    ],
    ids=["abort", "exit", "cut short"],
)
def test_a_worker_that_dies_loses_what_it_ran(tmp_path, how):
    """What ran is a crash; all else is lowered by a fresh worker, even after half a message."""
    found, told = lower(tmp_path, DIES_ONCE.format(how=how), 3, jobs=1)
    assert [kind for kind, _ in found].count("crash") == 1
    assert [kind for kind, _ in found].count("compile_error") == 2
    assert told.count("importing") == 2
    (lost,) = [message for kind, message in found if kind == "crash"]
    assert lost.startswith("the worker process ended while it ran this variant")


def test_a_worker_that_dies_before_anything_runs(tmp_path):
    """After three workers the rest is given up as lost, rather than starting them for ever."""
    found, told = lower(tmp_path, "hello()\nsys.exit(0)\n")
    assert told.count("importing") == 3
    assert found == [("crash", "the worker process ended while it ran this variant")] * 2


@pytest.mark.parametrize(
    ("code", "kind"), [("usage", UsageError), ("no-depth", NoDepthParameterError)]
)
def test_a_request_that_is_wrong(tmp_path, code, kind):
    """A rejected request is the caller's mistake: it raises, and the worker is ended."""
    body = (
        "hello()\nfor job, request in jobs():\n    say('done', job=job, reply=dict("
        f"type='rejected', code={code!r}, message='no parameter x', hint='did you mean y?'))\n"
    )
    with pytest.raises(UsageError, match="no parameter x") as caught:
        lower(tmp_path, body)
    assert type(caught.value) is kind
    assert caught.value.hint == "did you mean y?"


def test_a_worker_that_does_not_end_is_killed(tmp_path):
    """A worker that ignores the end of its input is gone after a moment's patience."""
    body = "hello()\nwhile True: time.sleep(60)\n"
    began = time.monotonic()
    with WorkerProcess(environment(tmp_path, body), jobs=1) as worker:
        assert worker.hello(worker.messages()).compiler == COMPILER
    assert worker._process.returncode == -9
    assert time.monotonic() - began < 8


def test_nothing_to_do_starts_no_worker(tmp_path):
    """No requests: no process."""
    assert lower(tmp_path, "sys.exit(1)\n", count=0) == ([], [])
