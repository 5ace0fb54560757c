"""Does ``diff KERNEL --compiler A B`` lower the variant that is asked for, or say why not?"""

import argparse

import pytest

from stagebench.commands import diff, diff_compilers
from stagebench.experiment import sweep as sweeping
from tests.command_line import stagebench


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--M", "512", "256"), "M: diff compares one variant: one value, not several"),
        (("--set", "M=512,256"), "M: diff compares one variant: one value, not several"),
        (("--set", "M=512", "--M", "256"), "M is given by --M and by --set"),
    ],
)
def test_one_variant_is_compared(words, message):
    """A second value is no variant of its own: it is refused before anything is lowered."""
    done = stagebench("diff", "gemm", "--compiler", "tilelang", "tvm", *words)
    assert done.code == 2
    assert done.err.startswith(f"stagebench: {message}")


@pytest.mark.parametrize("text", ["x", "\N{SUPERSCRIPT TWO}", "1,2", ""])
def test_a_depth_is_a_number(text):
    """What only looks like a digit is none."""
    done = stagebench("diff", "gemm", "--compiler", "tilelang", "tvm", "--num-stages", text)
    assert (done.code, done.out) == (2, "")
    assert f"argument --num-stages: {text!r} is not an integer" in done.err


def test_a_dump_has_no_shape_to_choose():
    """The GEMM's flags are about lowering, as ``--set`` is."""
    for words in (("--M", "512"), ("--stage-param", "depth")):
        done = stagebench("diff", "a", "b", *words)
        assert done.code == 2
        assert "say what to lower" in done.err


@pytest.fixture
def planned(monkeypatch):
    """The plan of a command line, of which nothing is lowered."""
    plans = []

    def run_sweep(plan, _):
        plans.append(plan)
        raise KeyboardInterrupt

    monkeypatch.setattr(sweeping, "run_sweep", run_sweep)

    def plan_of(words):
        parser = argparse.ArgumentParser()
        diff.add_arguments(parser)
        parsed = parser.parse_args(words.split())
        with pytest.raises(KeyboardInterrupt), diff_compilers.dumps_of_two(parsed):
            pass
        return plans.pop()

    return plan_of


def test_the_shape_of_the_gemm_is_lowered(planned):
    """Each flag of ``sweep`` reaches the plan."""
    plan = planned("gemm --compiler tilelang tvm --M 512 --block-K 32 --dtype bfloat16 --set N=256")
    assert plan.params == {"M": (512,), "block_K": (32,), "dtype": ("bfloat16",), "N": (256,)}


def test_a_depth_that_nobody_gave_is_two_where_there_is_one(planned):
    """A kernel without a depth is lowered as written; its parameter may have any name."""
    plan = planned("k.py:f --compiler tilelang tvm")
    assert (plan.num_stages, plan.default_num_stages, plan.stage_param) == (None, (2,), None)
    plan = planned("k.py:f --compiler tilelang tvm --num-stages 3 --stage-param depth")
    assert (plan.num_stages, plan.stage_param) == ((3,), "depth")


@pytest.mark.tilelang
def test_a_compiler_that_can_not_be_had(tmp_path):
    """There is nothing to compare: an error with the reason, not a difference."""
    nothing = tmp_path / "novenv"
    nothing.mkdir()
    done = stagebench("diff", "gemm", "--compiler", "tilelang", nothing, "--arch", "sm_80")
    assert (done.code, done.out) == (2, "")
    assert f"{nothing} is no environment" in done.err
    assert "hint: name a virtual environment" in done.err
