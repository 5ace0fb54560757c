"""Does a real kernel with probes count, assemble and pass the audit as promised?

``data`` holds the PTX that NVRTC 13.0 made of the built-in GEMM at K = 1024, 128 × 128 × 32 tiles,
without libcu++'s constants.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import zstandard

from stagebench.assemble.assembler import Assembler
from stagebench.assemble.toolchain import find_toolchain
from stagebench.errors import MachineError
from stagebench.model.facts import Launch
from stagebench.probe.build import build_probed
from stagebench.probe.plan import plan_probes
from stagebench.timing.decode import decode
from stagebench.timing.stalls import stalls
from tests.probe.image import Machine
from tests.probe.texts import layout_of

DATA = Path(__file__).parent / "data"
GRID = (8, 8, 1)
HOPPER, AMPERE = ("sm_90a", 3, (256, 1, 1)), ("sm_80", 2, (128, 1, 1))


def _ptx(arch, depth):
    packed = (DATA / f"gemm.{arch}.num_stages={depth}.ptx.zst").read_bytes()
    return zstandard.ZstdDecompressor().decompress(packed, max_output_size=1 << 20).decode()


def _launch(block):
    return Launch(
        function="gemm_kernel_kernel", grid=GRID, block=block, cluster=None,
        dynamic_smem_bytes=98304, params=(), tma_descriptors=(),
    )  # fmt: skip


def _executed(plan, warp):
    """Predicted executions by op of one warp."""
    found = Counter()
    for site in plan.metadata.sites:
        found[site.op] += site.predicted[warp]
    return dict(+found)


def test_predicted_hopper():
    """A producer waits for 16 slots, a consumer for 16 tiles and 16 products, each once."""
    arch, depth, block = HOPPER
    plan, _ = plan_probes(_ptx(arch, depth), _launch(block))

    assert _executed(plan, 0) == {"syncthreads": 1, "mbarrier_wait": 16}
    assert _executed(plan, 4) == {
        "syncthreads": 1, "setmaxnreg": 1, "mbarrier_wait": 16, "wgmma_wait": 16,
    }  # fmt: skip
    assert plan.predicted_records == ((18,) * 4 + (35,) * 4,)
    assert (plan.cap_from, plan.metadata.cap, plan.left_out) == ("prediction", 35, ())


def test_predicted_ampere():
    """Each warp waits for 16 groups of copies and at 31 barriers."""
    arch, depth, block = AMPERE
    plan, _ = plan_probes(_ptx(arch, depth), _launch(block))

    assert _executed(plan, 0) == {"cp_async_wait": 16, "syncthreads": 31}
    assert plan.predicted_records == ((32,) * 4,)  # each of the 16 shares a record with a barrier


@pytest.mark.parametrize(("arch", "depth", "block"), [HOPPER, AMPERE])
def test_image(arch, depth, block):
    """The buffer that the text writes decodes without a problem to the predicted counts."""
    plan, placed = plan_probes(_ptx(arch, depth), _launch(block), max_ctas=1)
    machine = Machine(
        placed.probed.text, "gemm_kernel_kernel", layout_of(plan.metadata, block, GRID)
    )
    run = decode(machine.run(), plan.metadata)

    assert run.problems == ()
    assert stalls(run, plan.metadata).problems == ()
    counts = np.zeros((len(run.cta), len(plan.metadata.sites)), dtype=int)
    np.add.at(counts, (run.lane, run.site), 1)
    assert counts.T.tolist() == [list(site.predicted) for site in plan.metadata.sites]


@pytest.fixture(scope="module")
def assembler():
    try:
        toolchain = find_toolchain()
    except MachineError as exc:
        pytest.skip(exc.message)

    def complain(message):
        raise AssertionError(message)

    with Assembler(toolchain, jobs=2, cache_folder=None, warn=complain) as running:
        yield running


@pytest.mark.parametrize(
    ("arch", "depth", "block", "device"), [(*HOPPER, "sm_90a"), (*AMPERE, "sm_90")]
)
def test_build(assembler, arch, depth, block, device):
    """Base, control and probed assemble without a spill, and the audit passes at every site."""
    built = build_probed(_ptx(arch, depth), device, _launch(block), assembler=assembler)

    assert built.audit.passed, built.audit.findings
    assert {one.status for one in built.audit.sites} == {"ok"}
    assert built.audit.spill_bytes == {"base": 0, "control": 0, "probed": 0}
    assert len(set(built.audit.ctas_per_sm.values())) == 1
    assert built.control.resources.registers == built.base.resources.registers
    assert 0 <= built.probed.resources.registers - built.base.resources.registers <= 24
    assert built.metadata.symbol.encode() in built.probed.cubin
    assert built.metadata.symbol.encode() not in built.control.cubin
