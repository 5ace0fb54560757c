"""Are a variant's probes read from what was written for it, and from nothing else?"""

import pytest
from msgspec.structs import replace

from stagebench.errors import DumpError
from stagebench.gpu.profile_file import TIMINGS, read_probes, read_profile
from stagebench.gpu.records import PROFILE
from stagebench.model.codec import encode_pretty
from tests.bundle.building import bundle, name, parts
from tests.gpu.test_execution import PROBED
from tests.gpu.test_profile_again import _fake_device, child, profiled, run

__all__ = ["_fake_device", "child"]
FILES = ("probe-0.bin", "probe-0.json")


@pytest.fixture
def out(tmp_path):
    """A profile of two probed depths."""
    profiled(bundle(tmp_path / "b", parts(0, **PROBED), parts(1, **PROBED)), tmp_path / "out")
    return tmp_path / "out"


def refused(out):
    return pytest.raises(DumpError, match=f"{out}/probe-0.* is not what the profile wrote")


def test_what_was_written_is_read(out):
    """Of each variant its own buffer and metadata."""
    for index, one in enumerate(read_profile(out).variants):
        assert [each.path for each in one.probe_kept] == [
            f"probe-{index}.bin",
            f"probe-{index}.json",
        ]
        assert read_probes(out, one) == ((out / f"probe-{index}.bin").read_bytes(), PROBED["probe"])


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("change", [lambda data: data[::-1], lambda data: data + b" "])
def test_another_file_in_its_place_is_none_of_it(out, capsys, file, change):
    """Of the same size or of another; it is named, and no wait is told of that variant."""
    (out / file).write_bytes(change((out / file).read_bytes()))
    first, second = read_profile(out).variants
    with refused(out):
        read_probes(out, first)
    assert read_probes(out, second) is not None
    with refused(out):
        run(out, "--timeline", str(out / "t"))
    (out / TIMINGS).unlink()
    capsys.readouterr()
    run(out)
    told = capsys.readouterr().err
    assert (
        f"{name(0)}: its probes can't be read: {out / file} is not what the profile wrote" in told
    )


def test_an_older_profile_says_nothing_of_them(out):
    """Without digests whatever lies there is read."""
    old = read_profile(out)
    old = replace(old, variants=tuple(replace(one, probe_kept=()) for one in old.variants))
    (out / PROFILE).write_bytes(encode_pretty(old).replace(b'"probe_kept": [],', b""))
    (out / FILES[0]).write_bytes(b"other")
    assert read_probes(out, read_profile(out).variants[0]) == (b"other", PROBED["probe"])
