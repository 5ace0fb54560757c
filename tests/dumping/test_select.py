"""Which dumps does a text name?"""

import pytest

from stagebench.cli import main
from stagebench.dump.directory import DumpDirectory
from stagebench.dump.select import select_dump, select_dumps
from stagebench.errors import DumpError, UsageError
from tests.dumping.building import CUDA, FRAME, lowered, variant


def write(root, *variants, chosen=()):
    directory = DumpDirectory(root)
    folders = [directory.write(lowered(of), chosen, CUDA, FRAME) for of in variants]
    directory.finish(tuple(folders), {})
    return str(root)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Two archs, two depths."""
    return write(
        tmp_path_factory.mktemp("runs") / "run",
        *(variant(num_stages=n, arch=arch) for arch in ("sm_80", "sm_90a") for n in (1, 2)),
    )


def test_a_text_of_several_is_refused_with_their_names(run, capsys):
    """``explain --script`` prints one: which are meant is said, and how one is named."""
    assert main(["explain", f"{run}[num_stages=2]", "--script", "cuda"]) == 2
    said = capsys.readouterr().err
    assert f"{run}[num_stages=2] names 2 variants" in said
    assert "name one: " in said
    assert "sm_90a" in said
    assert main(["explain", f"{run}[num_stages=2,arch=sm_80]", "--script", "cuda"]) == 0
    assert capsys.readouterr().out == CUDA


def named(text):
    return [(d.result.variant.arch, d.result.variant.num_stages) for d in select_dumps(text)]


@pytest.mark.parametrize(
    ("selector", "wanted"),
    [
        ("", [("sm_80", 1), ("sm_80", 2), ("sm_90a", 1), ("sm_90a", 2)]),
        ("/small.gemm/sm_80/num_stages=2", [("sm_80", 2)]),
        ("[num_stages=2]", [("sm_80", 2), ("sm_90a", 2)]),
        ("[num_stages=2,arch=sm_90a]", [("sm_90a", 2)]),
        ("[ num_stages = 2 , arch = sm_90a ]", [("sm_90a", 2)]),
        ("[kernel=small.py:gemm,num_stages=1]", [("sm_80", 1), ("sm_90a", 1)]),
        ("[compiler=tilelang==0.1.15,num_stages=1]", [("sm_80", 1), ("sm_90a", 1)]),
        ("/small.gemm/sm_80/num_stages=2[arch=sm_80]", [("sm_80", 2)]),
        ("/small.gemm/sm_80", [("sm_80", 1), ("sm_80", 2)]),
    ],
)
def test_what_a_selector_names(run, selector, wanted):
    """A folder, a run, or those of a run whose values are as said."""
    assert named(run + selector) == wanted


@pytest.mark.parametrize("value", ["(64,32)", "(64, 32)"])
def test_tuples_words_and_constants(tmp_path, value):
    """Values are compared as they are typed, a tuple with or without spaces."""
    root = write(
        tmp_path / "run",
        variant(tile=(64, 32), fast=True, dtype="float16"),
        variant(tile=(32, 64), fast=False, dtype="float16"),
        chosen=("tile",),
    )
    (found,) = select_dumps(f"{root}[tile={value},fast=true,dtype=float16]")
    assert found.result.variant.params["tile"] == (64, 32)


def test_the_kernels_own_name_of_the_depth(tmp_path):
    """The depth may be called as the kernel calls it."""
    import msgspec

    of = msgspec.structs.replace(variant(num_stages=3), stage_param="depth")
    root = write(tmp_path / "run", of)
    assert named(f"{root}[depth=3]") == named(f"{root}[num_stages=3]") == [("sm_90a", 3)]


def test_nothing_matches(run):
    """What was looked for is said, and what there is."""
    with pytest.raises(DumpError) as caught:
        select_dumps(f"{run}[num_stages=7,arch=sm_80]")
    assert caught.value.message == f"no variant of {run} has num_stages=7, arch=sm_80"
    assert caught.value.hint == (
        "it has arch=sm_80,num_stages=1; arch=sm_80,num_stages=2; "
        "arch=sm_90a,num_stages=1; arch=sm_90a,num_stages=2"
    )


def test_a_name_that_no_variant_has(run):
    """A misspelt name matches nothing, rather than everything."""
    with pytest.raises(DumpError, match="no variant of"):
        select_dumps(f"{run}[num_stage=2]")


def test_several_where_one_is_wanted(run):
    """One dump is wanted and more are named: the hint tells them apart."""
    with pytest.raises(UsageError, match="names 2 variants") as caught:
        select_dump(f"{run}[num_stages=2]")
    assert caught.value.hint == "name one: arch=sm_80; arch=sm_90a"
    assert select_dump(f"{run}[num_stages=2,arch=sm_80]").result.variant.arch == "sm_80"


def test_what_tells_variants_apart_is_a_parameter(tmp_path):
    """Variants of one arch and depth are told apart by the parameter that differs."""
    root = write(
        tmp_path / "run", variant(block=32, K=64), variant(block=64, K=64), chosen=("block",)
    )
    with pytest.raises(UsageError) as caught:
        select_dump(root)
    assert caught.value.hint == "name one: block=32; block=64"


@pytest.mark.parametrize("selector", ["[num_stages]", "[2]", "[]", "[num_stages=2,]"])
def test_a_condition_that_is_none(run, selector):
    """A condition without `=` is an error that quotes it."""
    with pytest.raises(UsageError, match="is not NAME=VALUE"):
        select_dumps(run + selector)


def test_a_folder_that_is_not_there(tmp_path):
    """No folder: said with the command that makes some."""
    for text in (str(tmp_path / "none"), f"{tmp_path / 'none'}[num_stages=2]"):
        with pytest.raises(DumpError, match="no dump at") as caught:
            select_dumps(text)
        assert "stagebench sweep" in caught.value.hint


def test_a_folder_whose_name_ends_in_a_bracket(tmp_path):
    """A folder that is there is that folder; a selector behind its name still selects."""
    root = write(tmp_path / "run[old=1]", variant(num_stages=1), variant(num_stages=2))
    assert [depth for _, depth in named(root)] == [1, 2]
    assert [depth for _, depth in named(f"{root}[num_stages=2]")] == [2]
