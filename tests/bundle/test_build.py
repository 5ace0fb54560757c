"""From a run to a bundle: what is assembled, for which arch, and what is left out."""

import msgspec
import pytest

from stagebench.bundle.build import BuildOptions, Candidate, build_bundle, cubin_arch
from stagebench.bundle.errors import BundleError
from stagebench.bundle.read import read_bundle
from stagebench.bundle.records import ValueRange
from tests.bundle.building import C, launch, name, result, tensor, variant
from tests.dumping import building as dumps


class Source:
    """Assembles anything whose text has no error in it."""

    def __init__(self):
        self.asked = []

    def submit(self, candidate, arch):
        self.asked.append((candidate.result.variant.num_stages, arch))

        def cubin():
            if "error" in candidate.kernel_cu:
                raise BundleError("it does not assemble: kernel.cu(3): error")
            return f"{candidate.kernel_cu} for {arch}".encode()

        return cubin


@pytest.mark.parametrize(
    ("arch", "device", "assembled_for"),
    [
        ("sm_80", None, "sm_80"),
        ("sm_80", "sm_90", "sm_90"),
        ("sm_90a", "sm_90", "sm_90a"),
        ("sm_100f", "sm_120", "sm_100f"),
        ("sm_90", "sm_80", "sm_90"),
    ],
)
def test_what_is_assembled_for_the_device(arch, device, assembled_for):
    """Plain code goes up to the device; code tied to its arch, and newer code, stays."""
    assert cubin_arch(arch, device) == assembled_for


def test_a_device_that_is_no_arch():
    """A misspelt device is an error, not a silent default."""
    with pytest.raises(BundleError, match="'hopper' is no arch"):
        cubin_arch("sm_80", "hopper")


def test_build(tmp_path):
    """What has a cubin for its arch keeps it; what fails is left out with its reason."""
    source = Source()
    failed = dumps.failed(variant(3))
    how = launch(tensors=(tensor("A", dtype="int32", read=True), C))
    made = build_bundle(
        tmp_path,
        [
            Candidate(result=result(variant(0), how), kernel_cu="zero"),
            Candidate(result=result(variant(1)), kernel_cu="one", cubin=b"made"),
            Candidate(result=result(variant(2)), kernel_cu="error"),
            Candidate(result=failed, kernel_cu=None),
        ],
        source,
        BuildOptions(values={"A": ValueRange(low=0, high=2), "other": ValueRange(low=0, high=1)}),
        poison={"sm_90a": b"filler"},
    )
    assert source.asked == [(0, "sm_90a"), (2, "sm_90a")]
    opened = read_bundle(tmp_path)
    assert {v.id: opened.load(v.cubins["base"]) for v in made.variants} == {
        name(0): b"zero for sm_90a", name(1): b"made",
    }  # fmt: skip
    assert [(s.variant.num_stages, s.reason[:23]) for s in made.skipped] == [
        (2, "it does not assemble: k"), (3, "it did not lower: Inter"),
    ]  # fmt: skip
    assert opened.load(made.poison["sm_90a"]) == b"filler"
    found = [variant.tensors[0].values for variant in made.variants]
    assert found == [ValueRange(low=0, high=2), None], "floats have no range"


def test_a_cubin_of_another_arch_is_not_reused(tmp_path):
    """sm_80 code that was assembled for sm_80 is assembled again for the device."""
    source = Source()
    candidate = Candidate(result=result(variant(0, arch="sm_80")), kernel_cu="zero", cubin=b"old")
    made = build_bundle(tmp_path, [candidate], source, BuildOptions(device_arch="sm_90"))
    assert source.asked == [(0, "sm_90")]
    assert made.variants[0].cubin_arch == "sm_90"
    assert read_bundle(tmp_path).load(made.variants[0].cubins["base"]) == b"zero for sm_90"


def test_old_facts_are_refused(tmp_path):
    """Facts from before tensors were looked at say: sweep again."""
    old = result(variant(0))
    launch = msgspec.structs.replace(old.facts.launch, tensors=None)
    old = msgspec.structs.replace(old, facts=msgspec.structs.replace(old.facts, launch=launch))
    with pytest.raises(BundleError, match="do not say which tensors") as raised:
        build_bundle(tmp_path, [Candidate(result=old, kernel_cu="x")], Source(), BuildOptions())
    assert "sweep again" in raised.value.hint
