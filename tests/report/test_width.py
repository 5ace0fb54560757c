"""Does every rendering fit 100 columns in a pipe?  A command that is copied may be longer."""

from pathlib import Path

import msgspec
import pytest

from stagebench.cli import main
from stagebench.gate.one_sided import ONE_SIDED
from stagebench.gate.spelling import SPELLED
from stagebench.report.check_view import print_outcome, print_steps, print_verdict
from stagebench.report.console import open_console
from stagebench.report.passes_view import print_passes
from stagebench.report.sweep_view import print_sweep
from tests.diffing.passes.recorded import DATA as DUMPS
from tests.diffing.passes.recorded import compared
from tests.gate_formats.building import answer, change, of_variants, variant
from tests.report.conftest import DATA as RUNS

ROOT = Path(__file__).parents[2]
COLUMNS = 100
ONE, THREE, HOPPER = (
    DUMPS / "gemm" / name for name in ("sm_80/num_stages=1", "sm_80/num_stages=3",
                                       "sm_90a/num_stages=3")
)  # fmt: skip
OURS = ROOT / "dumps" / "num_stages_gemm" / "gemm" / "sm_80" / "num_stages=2"
TVM = ROOT / "dumps" / "tvm_ladder" / "gemm" / "sm_80" / "num_stages=2"
TMA = ROOT / "dumps" / "tvm_ladder" / "gemm_tirx_tma" / "sm_90a" / "num_stages=2"
MARKED = ROOT / "experiments" / "regions" / "tma.2.npy.xz"
COMMANDS = [
    ("explain", OURS, "--all"), ("explain", OURS, "--levels"), ("explain", TMA),
    ("explain", HOPPER, "--all"),
    ("diff", ONE, THREE), ("diff", THREE, HOPPER, "--all"), ("diff", OURS, TVM),
    ("diff", OURS, TVM, "--side-by-side"), ("diff", HOPPER, TMA, "--all"),
    ("diff", DUMPS / "gemm/sm_90a/num_stages=2", DUMPS / "renamed.gemm/sm_90a/num_stages=2"),
    ("passes", ONE), ("passes", HOPPER, "--all"),  ("passes", ONE, THREE),
    ("passes", THREE, HOPPER, "--all"), ("passes", DUMPS / "gemm"),
    ("profile", ROOT / "experiments" / "hopper"), ("decode", MARKED),
]  # fmt: skip


def too_long(text):
    return [line for line in text.splitlines() if len(line) > COLUMNS]


@pytest.fixture(autouse=True)
def pipe(monkeypatch):
    """A hundred columns, whatever the terminal of the tests has."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(
    getattr(word, "name", word) for word in command))  # fmt: skip
def test_what_was_recorded_fits(command, capsys):
    """Every table, title and note of a command that only reads."""
    code = main([str(word) for word in command])
    said = capsys.readouterr()
    assert code in (0, 1), said.err
    assert said.out
    assert too_long(said.out) == []


@pytest.mark.parametrize("name", sorted(path.stem for path in RUNS.glob("*[a-z0-9].json")
                                        if not path.name.endswith(".cu.json")))  # fmt: skip
@pytest.mark.parametrize("show_all", [False, True])
def test_a_sweep_fits(recorded, capsys, name, show_all):
    """Failures and notes too."""
    run, texts = recorded(name)
    print_sweep(run, kernel_cus=texts, show_all=show_all, dump_dir="stagebench-dumps")
    assert too_long(capsys.readouterr().out) == []


LONG = "experiment_of_a_long_name/sm_90a/num_stages=2,block_M=128,block_N=128,threads=256,dtype=x"
WORDS = "word " * 60


@pytest.fixture
def verdict():
    """One of everything, each in many words."""
    put_aside = (
        change(f"x {WORDS}", left="tir.a" * 9, right="tirx.b" * 9, rule=SPELLED, place=None),
        change(path="shared_memory.fits", left=None, right=True, rule=ONE_SIDED, place=None),
        change(path=f"kernel_cu {WORDS}", group="cuda_text"),
    )
    found = of_variants(
        variant("drift", name=LONG, drifts=[change(WORDS), change(WORDS, follows=True)]),
        msgspec.structs.replace(variant(name=f"b/{LONG}"), allowed=put_aside),
        variant("not_comparable", name="gemm", note=WORDS, drifts=[change(f"y {WORDS}")]),
        variant("failed_now", name=f"a/{LONG}", note=WORDS),
        variant("expectation_failed", name=f"c/{LONG}", answers=[answer(words=WORDS)]),
    )
    shell = f"stagebench accept experiments/{LONG.replace('/', '_')}.py --only fix --reason x"
    return msgspec.structs.replace(
        found, against=f"what {WORDS} makes", not_asked=(WORDS, WORDS),
        accept=msgspec.structs.replace(found.accept, shell=shell),
    )  # fmt: skip


@pytest.mark.parametrize("show_all", [False, True])
def test_a_verdict_fits(verdict, capsys, show_all):
    """Prose is wrapped; the command that approves it stands whole on a line of its own."""
    print_verdict(verdict, show_all=show_all, elapsed_seconds=1.0, from_cache=3)
    out = capsys.readouterr().out
    shell = verdict.accept.shell
    assert shell in out.splitlines()
    assert [line for line in too_long(out) if line != shell] == []


def test_the_header_of_two_lowerings_fits(capsys):
    """Kernels of many parameters, all of them other ones."""
    diff = compared("sm_80", 1, 3)
    params = {f"a_long_name_{number}": number for number in range(30)}
    left = msgspec.structs.replace(diff.left, params={**diff.left.params, **params})
    print_passes(msgspec.structs.replace(diff, left=left), open_console())
    out = capsys.readouterr().out
    assert "a_long_name_29=29" in out
    assert too_long(out) == []


def test_what_an_accept_does_fits(verdict, capsys):
    """Its steps, what it refuses, and how it ended."""
    print_steps(verdict, [("fix", f"e:{LONG}"), ("fix", f"e:a/{LONG}")], [(LONG, WORDS)])
    print_outcome(WORDS, WORDS)
    assert too_long(capsys.readouterr().out) == []
