"""Are probes built for the launch that the scalars make, and once for all bundles?"""

import pytest

from stagebench.bundle.build import Candidate
from stagebench.bundle.probe_cache import ProbeCache
from stagebench.bundle.probing import Probing, all_with_probes
from stagebench.model import LaunchParam
from stagebench.model.codec import decode
from stagebench.model.timing import ProbeMetadata
from tests.bundle.building import complain, launch, result, tensor, variant

PTX = """
.version 8.0
.target sm_80
.address_size 64

.visible .entry copy_kernel(
	.param .u64 p0,
	.param .u64 p1,
	.param .u32 p2
)
.maxntid 128, 1, 1
{
	.reg .pred %p<2>;
	.reg .b32 %r<9>;
	.reg .b64 %rd<8>;
	.shared .align 16 .b8 slot[512];
	ld.param.u64 %rd1, [p0];
	ld.param.u32 %r1, [p2];
	cvta.to.global.u64 %rd2, %rd1;
	mov.u32 %r2, %tid.x;
	mul.wide.s32 %rd3, %r2, 4;
	add.s64 %rd4, %rd2, %rd3;
	mov.u32 %r3, slot;
	mad.lo.s32 %r3, %r2, 4, %r3;
	mov.u32 %r4, 0;
$again:
	cp.async.ca.shared.global [%r3], [%rd4], 4;
	cp.async.commit_group;
	cp.async.wait_group 0;
	bar.sync 0;
	add.s32 %r4, %r4, 64;
	setp.lt.s32 %p1, %r4, %r1;
	@%p1 bra $again;
	ret;
}
"""
SYMBOLIC = launch(
    grid=("(M + 127) // 128", 1, 1),
    params=(*launch().params, LaunchParam(name="M", kind="scalar", dtype="int32")),
    tensors=(tensor("A", shape=("M",), read=True), tensor("C", shape=("M",), written=True)),
)


def candidate(depth=1, text=PTX):
    return Candidate(result(variant(depth, arch="sm_80"), SYMBOLIC), "", ptx=text)


def probed(how, *several, warn=complain):
    return all_with_probes([(one, "sm_80") for one in several], how, warn)


def test_a_symbolic_launch(assembler):
    """The grid is the scalar's, and the walk counts the loop that it bounds."""
    (one,) = probed(Probing(assembler, {"M": 256, "other": 0.5}), candidate())
    found = decode(one.probe, ProbeMetadata, "probe.json")
    assert (found.grid_ctas, found.sampled_ctas) == (2, 2)
    waits = {site.op: site for site in found.sites}
    assert waits["cp_async_wait"].predicted == (4, 4, 4, 4)
    assert set(one.extra_cubins) == {"control", "probed"}


def test_a_size_without_a_value_is_the_bundles_to_tell(assembler):
    """It goes on as it was, without a second message."""
    plain = candidate()
    assert probed(Probing(assembler), plain) == [plain]


def test_built_once(assembler, tmp_path):
    """A second bundle assembles nothing; another scalar, or another text, is another build."""
    how = Probing(assembler, {"M": 256}, cache=ProbeCache(tmp_path, complain))
    first = probed(how, candidate(0), candidate(1))

    class Unused:
        toolchain = assembler.toolchain

        def __getattr__(self, name):
            raise AssertionError(f"{name}: it was to come from the cache")

    cached = Probing(Unused(), {"M": 256}, cache=ProbeCache(tmp_path, complain))
    assert probed(cached, candidate(0), candidate(1)) == first
    for other, text in (({"M": 128}, PTX), ({"M": 256}, PTX + "// other\n")):
        changed = Probing(Unused(), other, cache=ProbeCache(tmp_path, complain))
        with pytest.raises(AssertionError, match="submit_ptx: it was to come from the cache"):
            probed(changed, candidate(1, text))


def test_a_damaged_entry_is_built_again(assembler, tmp_path):
    """It is told, and the result is the same."""
    how = Probing(assembler, {"M": 256}, cache=ProbeCache(tmp_path, complain))
    first = probed(how, candidate())
    (entry,) = (path for path in tmp_path.rglob("*") if path.is_file())
    entry.write_bytes(entry.read_bytes()[:-5])
    told = []
    again = Probing(assembler, {"M": 256}, cache=ProbeCache(tmp_path, told.append))
    assert probed(again, candidate()) == first
    assert len(told) == 1
    assert str(entry) in told[0]


def test_a_cache_that_cannot_be_written(assembler, tmp_path):
    """It costs time and one warning, and never a build."""
    (tmp_path / "probes").write_text("a file lies where the folder belongs")
    told = []
    how = Probing(assembler, {"M": 256}, cache=ProbeCache(tmp_path, told.append))
    found = probed(how, candidate(0), candidate(1))
    assert all(one.probe is not None for one in found)
    assert len(told) == 1
    assert "probes are not kept" in told[0]


def test_warnings_come_in_order(assembler):
    """However long each takes, what is told is in the order of the variants."""
    bad = PTX.replace("add.s32 %r4, %r4, 64", "add.s32 %r4, %r9, 64")  # does not assemble
    told = []
    several = [candidate(0, bad), candidate(1), candidate(2, bad)]
    found = probed(Probing(assembler, {"M": 256}), *several, warn=told.append)
    assert [one.probe is not None for one in found] == [False, True, False]
    assert [text.split(":")[1].split()[2] for text in told] == ["num_stages=0", "num_stages=2"]


def test_waits_that_a_kernel_does_not_have(assembler):
    """No builds without a site: it is told, and travels as it was."""
    plain, told = candidate(), []
    how = Probing(assembler, {"M": 256}, ops=frozenset({"mbarrier_wait"}))
    assert probed(how, plain, warn=told.append) == [plain]
    (said,) = told
    assert said.endswith("num_stages=1: no probes: it has no mbarrier_wait")
    (one,) = probed(Probing(assembler, {"M": 256}, ops=frozenset({"cp_async_wait"})), plain)
    assert {site.op for site in decode(one.probe, ProbeMetadata, "").sites} == {"cp_async_wait"}
