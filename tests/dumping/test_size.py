"""Is a whole dump, with the IR after every pass, small enough to be committed?"""

import pytest

from stagebench.dump.files import read_dump
from stagebench.dump.select import select_dump
from stagebench.experiment.sweep import SweepOptions, run_sweep
from stagebench.experiment.sweep_plan import SweepPlan

pytestmark = pytest.mark.tilelang

PLAN = SweepPlan(kernel="gemm", num_stages=(4,), archs=("sm_80", "sm_90a"))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The dumps of the deepest default GEMM."""
    folder = tmp_path_factory.mktemp("dumps")
    return folder, run_sweep(PLAN, SweepOptions(dump_dir=folder))


@pytest.mark.parametrize("arch", PLAN.archs)
def test_a_dump_is_small_and_whole(run, arch):
    """At most 100 KB, with a text for every digest that a pass names and no other."""
    dump = select_dump(f"{run[0]}[arch={arch}]")
    size = sum(path.stat().st_size for path in read_folder(dump))
    assert size <= 100_000, {path.name: path.stat().st_size for path in read_folder(dump)}
    passes = dump.result.facts.lowering.passes
    texts = dump.snapshots()
    assert {run.snapshot for run in passes} <= set(texts)
    assert len(texts) <= 1 + len({run.snapshot for run in passes})
    for run_of_pass in passes:
        assert len(texts[run_of_pass.snapshot].encode()) == run_of_pass.ir_bytes


def read_folder(dump):
    from pathlib import Path

    return sorted(Path(dump.folder).iterdir())


def test_dumps_are_what_the_sweep_returned(run):
    """What lies in the folders is what the API gave, and where it said."""
    folder, result = run
    for place, variant, cuda in zip(
        result.dump_folders, result.run.variants, result.kernel_cus, strict=True
    ):
        dump = read_dump(folder / place)
        assert (dump.result, dump.kernel_cu) == (variant, cuda)
