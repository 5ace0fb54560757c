"""Lower kernels with Apache TVM: one worker for all that a module of tests asks for."""

from importlib import metadata

import pytest

from stagebench.experiment.sweep_watcher import Unwatched
from stagebench.lowering.compiler_environment import this_environment
from stagebench.lowering.lower import Limits, lower_all
from stagebench.worker.protocol import LowerRequest

COMPILER = "tvm"


def installed():
    """Whether Apache TVM is in this environment; never imports it."""
    try:
        return bool(metadata.version("apache-tvm"))
    except metadata.PackageNotFoundError:
        return False


needs_tvm = [
    pytest.mark.tvm,
    pytest.mark.skipif(not installed(), reason="apache-tvm is not installed (extra `tvm`)"),
]


def with_tvm(test):
    """Mark a test that needs Apache TVM."""
    for mark in needs_tvm:
        test = mark(test)
    return test


def request(function, num_stages=None, *, path=None, arch="sm_90a", configs=None, **params):
    """A request for a built-in, or for a function of a file."""
    kernel = function if path is None else f"{path.name}:{function}"
    return LowerRequest(
        path=None if path is None else str(path),
        function=function,
        kernel=kernel,
        params=params,
        num_stages=num_stages,
        stage_param=None,
        arch=arch,
        pass_configs=configs or {},
    )


def lower(*requests):
    """The lowerings of some requests, in their order."""
    limits = Limits(jobs=2, timeout_seconds=120)
    return lower_all(requests, this_environment(COMPILER), limits, None, Unwatched())
