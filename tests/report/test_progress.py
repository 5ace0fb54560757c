"""Is standard output left alone, and is standard error silent where nobody watches?"""

import io
import time

import pytest

from stagebench.lowering.lower import Lowering
from stagebench.report.progress import SweepProgress, request_labels
from stagebench.worker.protocol import LowerRequest


def request(arch, num_stages, **params):
    return LowerRequest(
        path=None, function="gemm", kernel="gemm", params=params, num_stages=num_stages,
        stage_param=None, arch=arch, pass_configs={},
    )  # fmt: skip


@pytest.fixture
def lowerings(recorded):
    run, _ = recorded("failing", "sm_80")
    return [Lowering(result, None, None, None, cached=False) for result in run.variants]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def watch(file, lowerings, **options):
    requests = [request("sm_80", depth) for depth in range(len(lowerings))]
    with SweepProgress(file, **options) as progress:
        progress.planned(requests)
        progress.importing()
        for index, lowering in enumerate(lowerings):
            progress.started(index)
            progress.finished(index, lowering)
    return progress


def test_a_pipe_sees_nothing(lowerings, capsys):
    """Not a terminal and not verbose: not a byte, on either stream."""
    file = io.StringIO()
    watch(file, lowerings)
    assert file.getvalue() == ""
    assert capsys.readouterr() == ("", "")


def test_verbose_is_one_line_per_finished_variant(lowerings):
    """With the failure's first line where it failed."""
    file = io.StringIO()
    watch(file, lowerings, verbose=True)
    lines = file.getvalue().splitlines()
    assert lines[0] == "1/4  sm_80 num_stages=0  lowered"
    assert lines[2].startswith("3/4  sm_80 num_stages=2  failed: InternalError: Check failed")


def test_a_terminal_sees_a_bar_and_standard_output_nothing(lowerings, monkeypatch, capsys):
    """It says that the compiler is being imported, then what is running."""
    monkeypatch.setenv("TERM", "xterm-256color")
    file = Terminal()
    with SweepProgress(file) as progress:
        progress.planned([request("sm_80", 4)])
        progress.importing()
        time.sleep(0.3)  # the bar is drawn ten times a second
        progress.started(0)
        time.sleep(0.3)
        progress.finished(0, lowerings[0])
    assert "importing the compiler" in file.getvalue()
    assert "sm_80 num_stages=4" in file.getvalue()
    assert "1/1" in file.getvalue()
    assert capsys.readouterr().out == ""


def test_a_dumb_terminal_sees_nothing(lowerings, monkeypatch):
    """It can't move its cursor."""
    monkeypatch.setenv("TERM", "dumb")
    file = Terminal()
    watch(file, lowerings)
    assert file.getvalue() == ""


def test_everything_from_the_cache_draws_no_bar(lowerings, monkeypatch):
    """What takes no time needs no bar."""
    monkeypatch.setenv("TERM", "xterm-256color")
    file = Terminal()
    with SweepProgress(file) as progress:
        progress.planned([request("sm_80", 0)])
        progress.finished(0, lowerings[0])
    assert file.getvalue() == ""
    assert progress.elapsed_seconds >= 0


def test_labels_name_what_distinguishes_the_requests():
    """A parameter with one value is not in them."""
    requests = [request("sm_80", 2, block_N=n, dtype="float16") for n in (64, 128)]
    assert request_labels(requests) == (
        "sm_80 block_N=64 num_stages=2",
        "sm_80 block_N=128 num_stages=2",
    )
