"""Is a compiler's own kernel.cu, given as a plan, probed exactly as it is with its facts?"""

import json
from collections import Counter

import msgspec
import pytest

from stagebench.bundle.build import Candidate
from stagebench.bundle.planned_kernels import planned_candidates
from stagebench.bundle.probing import Probing, with_probes
from stagebench.experiment.sweep import SweepOptions, run_sweep
from stagebench.experiment.sweep_plan import SweepPlan
from stagebench.model.codec import decode
from stagebench.model.timing import ProbeMetadata
from tests.bundle.building import complain

pytestmark = pytest.mark.tilelang
_ROLES = {(True, False): "input", (False, True): "output", (True, True): "inout"}


def plan_of(result, kernel_cu, folder):
    """The launch of a lowered kernel, written down as a plan."""
    launch = json.loads(msgspec.json.encode(result.facts.launch))
    descriptors = {one["name"]: one for one in launch["tma_descriptors"]}
    tensors = {
        one["name"]: {
            "name": one["name"], "dtype": one["dtype"], "shape": one["shape"],
            "role": _ROLES[one["read"], one["written"]],
        }
        for one in launch["tensors"]
    }  # fmt: skip
    arguments = [
        {"name": one["name"], "descriptor": descriptors[one["name"]]}
        if one["kind"] == "tma_descriptor"
        else tensors.pop(one["name"])
        for one in launch["params"]
    ]
    (folder / "given.cu").write_text(kernel_cu)
    plan = {
        "kernel": "given", "source": "given.cu", "entry": launch["function"],
        "arch": result.variant.arch, "num_stages": result.variant.num_stages,
        "grid": launch["grid"], "block": launch["block"],
        "dynamic_smem_bytes": launch["dynamic_smem_bytes"], "arguments": arguments,
        "tensors": list(tensors.values()),
    }  # fmt: skip
    (folder / "plan.json").write_text(json.dumps(plan))
    return folder / "plan.json"


@pytest.mark.parametrize(
    ("arch", "roles"),
    [
        ("sm_90a", {"producer": 4, "consumer": 4}),
        ("sm_80", {"all": 4}),
    ],
)
def test_the_same_probes(assembler, tmp_path, arch, roles):
    """All three builds are the same bytes; sites, counts, audit and roles are the same."""
    plan = SweepPlan(kernel="gemm", num_stages=(2,), archs=(arch,))
    swept = run_sweep(plan, SweepOptions())
    (result,), (kernel_cu,) = swept.run.variants, swept.kernel_cus
    how = Probing(assembler)
    told = []
    normal = with_probes(Candidate(result=result, kernel_cu=kernel_cu), arch, how, told.append)
    (candidate,) = planned_candidates([plan_of(result, kernel_cu, tmp_path)], assembler, complain)
    given = with_probes(candidate, arch, how, complain)
    assert told == []
    assert given.cubin == normal.cubin
    assert given.extra_cubins == normal.extra_cubins
    assert given.audit == normal.audit

    ours, theirs = (decode(one.probe, ProbeMetadata, "probe") for one in (given, normal))
    differ = ("sites",)
    for name in ProbeMetadata.__struct_fields__:
        assert name in differ or getattr(ours, name) == getattr(theirs, name)
    assert Counter(ours.warp_roles) == roles
    known_by_facts = {"name", "args", "section", "file", "line", "line_kind"}
    for one, other in zip(ours.sites, theirs.sites, strict=True):
        for name in set(one.__struct_fields__) - known_by_facts:
            assert getattr(one, name) == getattr(other, name), (one.name, name)
        assert one.args.items() <= other.args.items()
        assert one.name.startswith("given.cu:")
        assert one.section is None
        assert one.file is None
