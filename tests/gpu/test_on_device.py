"""On a real device: does a kernel run, is a wrong one seen, does poison reach every SM?

Cubins are made by the driver from PTX (the poison kernel's own is), so that no assembler is needed.
"""

import numpy as np
import pytest

from stagebench.bundle.read import read_bundle
from stagebench.errors import MachineError
from stagebench.gpu.announcer import Announcer
from stagebench.gpu.driver import open_driver
from stagebench.gpu.execution import run_variant
from stagebench.gpu.outputs import OutputStore
from stagebench.gpu.run_request import RunOptions, RunRequest
from stagebench.gpu.session import open_session
from tests.bundle.building import bundle, launch, name, parts

pytestmark = pytest.mark.gpu

COPY = """\
.version 7.0
.target sm_80
.address_size 64
.visible .entry copy_kernel(.param .u64 source, .param .u64 target)
{{
    .reg .b64 %d<6>;
    .reg .b32 %r<3>;
    .reg .b16 %h<2>;
    .reg .pred %p<2>;
    .shared .align 4 .b8 slot[4096];
    ld.param.u64 %d0, [source];
    ld.param.u64 %d1, [target];
    cvta.to.global.u64 %d0, %d0;
    cvta.to.global.u64 %d1, %d1;
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %d2, %r0, 2;
    add.u64 %d0, %d0, %d2;
    add.u64 %d1, %d1, %d2;
    ld.global.u16 %h0, [%d0];
    {change}
    st.global.u16 [%d1], %h0;
    ret;
}}
"""
STALE = """
    mov.u32 %r1, slot;
    shl.b32 %r2, %r0, 1;
    add.u32 %r1, %r1, %r2;
    ld.volatile.shared.u16 %h0, [%r1];
"""
HOW = launch(grid=(1, 1, 1), block=(256, 1, 1))


def cubin(change=""):
    return COPY.format(change=change).encode() + b"\0"


@pytest.fixture
def run(tmp_path):
    from stagebench.gpu.device import read_device

    try:
        driver = open_driver()
    except MachineError as exc:
        pytest.skip(exc.message)
    major, minor = read_device(driver).compute_capability
    made = [
        parts(0, how=HOW, cubin_arch=f"sm_{major}{minor}", cubins={"base": cubin()}),
        parts(1, how=HOW, cubin_arch=f"sm_{major}{minor}", cubins={"base": cubin()}),
        parts(2, how=HOW, cubin_arch=f"sm_{major}{minor}", cubins={"base": cubin(STALE)}),
    ]
    opened = read_bundle(bundle(tmp_path / "b", *made))
    session = open_session(driver, opened)
    assert session.notes == ()
    store = OutputStore(tmp_path / "o")

    def one(depth, *references):
        request = RunRequest(
            id=name(depth), references=references, probe_file=None,
            options=RunOptions(repeats=4, runs=20),
        )  # fmt: skip
        return run_variant(session, opened, store, request, Announcer())

    return one


def test_a_copy_is_right_and_timed(run):
    """The outputs are bit-equal, and a launch of one CTA takes between 1 µs and 1 ms."""
    run(0)
    found = run(1, name(0))
    assert found.correctness.verdict == "correct"
    assert found.correctness.tensors[0].bit_equal
    assert 1 < found.builds[0].time.median_us < 1000


def test_what_was_never_written_is_nan(run):
    """A kernel that reads shared memory that it never filled gets the poison."""
    run(0)
    found = run(2, name(0))
    assert found.correctness.verdict == "wrong"
    assert found.correctness.tensors[0].fraction_wrong > 0.4
    assert np.isfinite(found.builds[0].time.median_us)
