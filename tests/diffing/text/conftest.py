"""Fixtures of the text diff's tests: a small kernel, the recorded ones, a renaming of names."""

import re
import sys
from pathlib import Path

import pytest

from stagebench.cli import main
from tests.command_line import Ran

RECORDED = Path(__file__).parents[2] / "cuda" / "kernels"

KERNEL = """\
#include <tl_templates/cuda/copy.h>
extern "C" __global__ void kernel(const half_t* __restrict__ A, half_t* __restrict__ B, int n);
extern "C" __global__ void __launch_bounds__(128, 1) kernel(const half_t* __restrict__ A, half_t* \
__restrict__ B, int n) {
  extern __shared__ __align__(1024) uchar buf_dyn_shmem[];
  float first = 0x0p+0f/*0.000000e+00*/;
  float second = 1.5f;
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    tl::cp_async_gs<16>(&(buf_dyn_shmem[(i * 1024)]), &(A[((i * 512) + 8192)]));
  }
  tl::cp_async_commit();
  for (int k = 0; k < 15; ++k) {
    tl::cp_async_wait<2>();
    __syncthreads();
    first = first - (second * buf_dyn_shmem[((k & 1) * 4096)]);
    if (((int)threadIdx.x) < 64) {
      second = combine(first, second);
    }
    __syncthreads();
  }
  B[((int)threadIdx.x)] = (half_t)(first + second);
}
"""


@pytest.fixture
def kernel():
    return KERNEL


@pytest.fixture
def recorded():
    def read(name):
        return (RECORDED / f"{name}.cu").read_text()

    return read


def renamed(text, names):
    """The text with whole words replaced, all at once; none may be a member or in a string."""
    words = re.compile(r"\b(?:" + "|".join(map(re.escape, names)) + r")\b")
    return words.sub(lambda found: names[found.group()], text)


def shown(diff):
    """What a diff shows: kind, left line, right line."""
    return [
        (row.kind, row.left, row.right)
        for row in diff.rows
        if row.kind in ("changed", "removed", "added", "moved")
    ]


def counts(diff):
    """Lines by rule, zero ones left out."""
    return {rule.name: rule.lines for rule in diff.rules if rule.lines}


@pytest.fixture
def diff(capfdbinary, monkeypatch):
    """Run ``stagebench diff`` in this process: as the command line, but quicker."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")

    def run(*arguments):
        code = main(["diff", *map(str, arguments)])
        sys.stdout.flush()
        printed = capfdbinary.readouterr()
        return Ran(code, printed.out.decode(), printed.err.decode())

    return run
