"""Are the texts of a dump at hand in Python: the module before and after its passes, the CUDA?"""

import msgspec
import pytest

import stagebench
from stagebench.dump import snapshots
from stagebench.dump.directory import DumpDirectory
from stagebench.errors import DumpError, UsageError
from tests.dumping.building import CUDA, FRAME, failed, lowered, variant

BEFORE = "class Module:\n    def main():\n"
AFTER = "class Module:\n    def kernel(A):\n"
HOST = "class Module:\n    def host():\n"


def dump(root, result, frame):
    """What is read back of a run of one variant, by the name of its folder."""
    directory = DumpDirectory(root)
    directory.finish((directory.write(result, (), CUDA, frame),), {})
    (found,) = stagebench.read_run(str(root))
    assert (found,) == stagebench.read_run(root)
    assert found == stagebench.read_dump(found.folder)
    return found


def test_each_text(tmp_path):
    """After the passes is where the device function is: a pass over the host alone runs later."""
    result = lowered()
    (run, *_) = result.facts.lowering.passes
    passes = tuple(msgspec.structs.replace(run, snapshot=digest) for digest in ("b", "c"))
    facts = msgspec.structs.replace(
        result.facts, lowering=msgspec.structs.replace(result.facts.lowering, passes=passes)
    )
    assert facts.launch.function == "kernel"
    frame = snapshots.pack({"a": BEFORE, "b": AFTER, "c": HOST})
    found = dump(tmp_path / "run", msgspec.structs.replace(result, facts=facts), frame)
    assert [found.script(which) for which in ("before", "after", "cuda")] == [BEFORE, AFTER, CUDA]
    assert [one.snapshot for one in found.result.facts.lowering.passes] == ["b", "c"]


def test_there_is_none(tmp_path):
    """Of a variant that failed, and where no snapshots were kept."""
    with pytest.raises(DumpError, match="this variant failed: it has no CUDA"):
        dump(tmp_path / "failed", failed(variant()), FRAME).script("cuda")
    found = dump(tmp_path / "run", lowered(), FRAME)
    with pytest.raises(DumpError, match="there is no script after the passes"):
        found.script("after")
    (tmp_path / "run" / "small.gemm" / "sm_90a" / "num_stages=2" / "snapshots.txt.zst").unlink()
    with pytest.raises(DumpError, match="holds no pass snapshots"):
        found.script("before")


@pytest.mark.parametrize("which", ["host", "Before", "", None])
def test_a_text_that_nobody_knows(tmp_path, which):
    """It is not taken for another one."""
    found = dump(tmp_path / "run", lowered(), FRAME)
    with pytest.raises(UsageError) as caught:
        found.script(which)
    assert caught.value.message == f"script({which!r}): there is no such text"
    assert caught.value.hint == "one of 'before', 'after', 'cuda'"
