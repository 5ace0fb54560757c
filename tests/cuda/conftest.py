"""Fixtures of the CUDA reader's tests: kernels around a body, and the recorded ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from stagebench.facts.cuda_sites import read_cuda

KERNELS = Path(__file__).parent / "kernels"


@pytest.fixture
def read_body():
    def read(body, before=""):
        source = (
            f"{before}\n"
            'extern "C" __global__ void __launch_bounds__(128, 1) kernel(float* A, int K) {\n'
            "  uint64_t bar_mem[4];\n"
            "  auto bar = reinterpret_cast<Barrier*>(bar_mem);\n"
            f"  {body}\n"
            "}\n"
        )
        return read_cuda(source)[-1]

    return read


@pytest.fixture
def sites(read_body):
    def read(body, before=""):
        return [(site.op, site.args) for site in read_body(body, before).sites]

    return read


@pytest.fixture
def ops(read_body):
    def read(body, before=""):
        return [site.op for site in read_body(body, before).sites]

    return read


@pytest.fixture
def recorded():
    def read(name):
        (kernel,) = read_cuda((KERNELS / f"{name}.cu").read_text())
        return kernel

    return read
