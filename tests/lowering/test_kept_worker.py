"""Does one worker serve several runs, and is one that can't go on replaced?"""

import msgspec
import pytest

from stagebench.lowering.kept_worker import KeptWorker
from stagebench.lowering.lower import Limits, lower_all
from tests.lowering.fake_compiler import environment, request
from tests.lowering.test_worker_process import Watcher

START = "open({place!r}, 'a').write(f'{{os.getpid()}} ')\nhello()\n"


@pytest.fixture
def runs(tmp_path):
    """``lower(body, …)`` with one kept worker; ``started()``: the processes so far."""

    class Runs:
        def __init__(self, worker):
            self.worker = worker
            self._place = tmp_path / "starts"

        def lower(self, body, count=1, **changed):
            start = START.format(place=str(self._place))
            here = msgspec.structs.replace(environment(tmp_path, start + body), **changed)
            limits = Limits(jobs=1, timeout_seconds=5, worker=self.worker)
            watcher = Watcher()
            found = lower_all([request(n) for n in range(count)], here, limits, None, watcher)
            return [one.result.failure.kind for one in found], watcher.told.count("importing")

        def started(self):
            return self._place.read_text().split()

    with KeptWorker() as worker:
        yield Runs(worker)


WORKS = "for job, request in jobs(): raised(job, request)\n"


def test_one_worker_for_all_runs(runs):
    """It is started by the first and goes on where it stopped; the watcher hears of one import."""
    assert runs.lower(WORKS, 2) == (["compile_error"] * 2, 1)
    assert runs.lower(WORKS, 3) == (["compile_error"] * 3, 0)
    assert len(runs.started()) == 1
    process = runs.worker._worker._process
    runs.worker.close()
    assert process.returncode == 0


def test_another_compiler_takes_its_place(runs):
    """Only one is kept: that of the compiler that was asked for last."""
    runs.lower(WORKS)
    first = runs.worker._worker._process
    assert runs.lower(WORKS, identity="other") == (["compile_error"], 1)
    assert first.returncode == 0
    assert len(runs.started()) == 2


def test_a_worker_that_died_is_started_again(runs):
    """Its run has its results, and the next run a worker."""
    dies = "for job, request in jobs():\n    raised(job, request)\n    os._exit(1)\n"
    assert runs.lower(dies, 2)[0] == ["compile_error"] * 2
    assert runs.lower(dies)[0] == ["compile_error"]
    assert len(runs.started()) == 3


def test_a_run_that_raises_leaves_no_worker(runs):
    """It may still have jobs of that run: what they reply is nobody's."""
    runs.lower(WORKS)
    kept = runs.worker._worker
    talk = runs.worker.talk(kept.environment, 1, lambda: None)
    with pytest.raises(KeyboardInterrupt), talk:
        raise KeyboardInterrupt
    assert kept._process.returncode == 0
    assert runs.lower(WORKS) == (["compile_error"], 1)
