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
        (("--num-stages", "x"), "--num-stages x: one depth"),
    ],
)
def test_one_variant_is_compared(words, message):
    """A second value is no variant of its own: it is refused before anything is lowered."""
    done = stagebench("diff", "gemm", "--compiler", "tilelang", "tvm", *words)
    assert done.code == 2
    assert done.err.startswith(f"stagebench: {message}")


def test_a_dump_has_no_shape_to_choose():
    """The GEMM's flags are about lowering, as ``--set`` is."""
    done = stagebench("diff", "a", "b", "--M", "512")
    assert done.code == 2
    assert "say what to lower" in done.err


def test_the_shape_of_the_gemm_is_lowered(monkeypatch):
    """Each flag of ``sweep`` reaches the plan."""
    plans = []

    def run_sweep(plan, _):
        plans.append(plan)
        raise KeyboardInterrupt

    monkeypatch.setattr(sweeping, "run_sweep", run_sweep)
    parser = argparse.ArgumentParser()
    diff.add_arguments(parser)
    words = "gemm --compiler tilelang tvm --M 512 --block-K 32 --dtype bfloat16 --set N=256"
    parsed = parser.parse_args(words.split())
    with pytest.raises(KeyboardInterrupt), diff_compilers.dumps_of_two(parsed):
        pass
    assert plans[0].params == {"M": (512,), "block_K": (32,), "dtype": ("bfloat16",), "N": (256,)}


@pytest.mark.tilelang
def test_a_compiler_that_can_not_be_had(tmp_path):
    """There is nothing to compare: an error with the reason, not a difference."""
    nothing = tmp_path / "novenv"
    nothing.mkdir()
    done = stagebench("diff", "gemm", "--compiler", "tilelang", nothing, "--arch", "sm_80")
    assert (done.code, done.out) == (2, "")
    assert f"{nothing} is no environment" in done.err
    assert "hint: name a virtual environment" in done.err
