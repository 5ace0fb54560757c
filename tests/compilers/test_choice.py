"""What may be said after ``--compiler``, and what does it stand for?"""

import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from stagebench.errors import MachineError, UsageError
from stagebench.lowering.choose_compilers import NoCompiler, choose_compilers, untested_notes
from stagebench.lowering.compiler_choice import Place, Release, parse_choice
from stagebench.lowering.compiler_environment import environment_at, this_environment
from stagebench.lowering.tested_releases import TESTED, TESTED_TVM, untested
from stagebench.model import Compiler
from tests.compilers import fake_wheels

HERE = f"tilelang=={version('tilelang')}"


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("tilelang", Release("tilelang", None)),
        ("tilelang==0.1.14", Release("tilelang", "0.1.14")),
        ("TileLang==0.1.14", Release("tilelang", "0.1.14")),
        ("tilelang==0.1.014", Release("tilelang", "0.1.14")),
        ("tilelang==v0.1.14.0", Release("tilelang", "0.1.14")),
        ("tilelang==0.1.14.1", Release("tilelang", "0.1.14.1")),
        ("tilelang==1!0.2rc1+cu.1", Release("tilelang", "1!0.2.0rc1+cu.1")),
        ("tvm==0.25.0.POST1", Release("tvm", "0.25.0.post1")),
        ("tvm==0.25-1", Release("tvm", "0.25.0.post1")),
        ("apache-tvm==0.26", Release("tvm", "0.26.0")),
        ("/", Place(Path("/"))),
    ],
)
def test_what_is_read(text, choice):
    """A name, a release, a path."""
    assert parse_choice(text) == choice


@pytest.mark.parametrize(("name", "releases"), [("tilelang", TESTED), ("tvm", TESTED_TVM)])
def test_tested_releases_are_spelled_as_they_are_read(name, releases):
    """What is known of a release is found under the one spelling of its version."""
    for release in releases:
        assert parse_choice(f"{name}=={release}") == Release(name, release)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("0.1.14", "did you mean tilelang==0.1.14? tilelang or tvm"),
        ("0.26.0", "did you mean tvm==0.26.0? tilelang or tvm"),
        ("0.99", "did you mean tilelang==0.99 or tvm==0.99? "),
        ("tvm[x]", "tilelang or tvm (Apache TVM), either with ==VERSION, or the path"),
        ("tilelang>=0.1.14", "tilelang or tvm (Apache TVM), either"),
        ("tilelang=0.1.14", "tilelang or tvm (Apache TVM), either"),
        ("clang==18", "tilelang or tvm (Apache TVM), either"),
        ("tilelang==latest", "the tested ones are 0.1.9 to "),
        (
            "./no/such/place",
            "a virtual environment, a python, or a folder with a built tilelang or",
        ),
    ],
)
def test_what_is_none(text, hint):
    """The hint says what would be one."""
    with pytest.raises(UsageError) as caught:
        parse_choice(text)
    assert caught.value.hint.startswith(hint)


def test_a_folder_without_its_slash(tmp_path, monkeypatch):
    """What is there is named as it would be read."""
    (tmp_path / "mytvm").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError) as caught:
        parse_choice("mytvm")
    assert caught.value.hint.startswith("did you mean ./mytvm? ")
    assert parse_choice("./mytvm") == Place(tmp_path / "mytvm")


def choose(texts, tmp_path, told=None):
    return choose_compilers(texts, tmp_path / "cache", (told if told is not None else []).append)


@pytest.mark.tilelang
@pytest.mark.usefixtures("index")
def test_this_environment_s_own_release_is_not_made(tmp_path):
    """Its version, no version, and nothing at all are the compiler that is installed here."""
    for texts in ([], ["tilelang"], [HERE], [f"{HERE}.0"]):
        assert choose(texts, tmp_path) == (this_environment(),)


@pytest.mark.tilelang
@pytest.mark.usefixtures("index")
def test_one_that_can_not_be_had(tmp_path):
    """It is a record with the reason where others can; an error where it is alone."""
    missing, here = choose(["tilelang==9.0.0", HERE], tmp_path)
    assert isinstance(missing, NoCompiler)
    assert missing.compiler.version == "9.0.0"
    assert here == this_environment()
    with pytest.raises(MachineError, match=r"tilelang==9\.0\.0 is not here"):
        choose(["tilelang==9.0.0"], tmp_path)


def test_twice_the_same(index, tmp_path):
    """A value that names what another one does is a mistake."""
    fake_wheels.release(index, "9.0.0")
    with pytest.raises(UsageError, match="given twice"):
        choose(["tilelang==9.0.0", "tilelang==9.0.0"], tmp_path)


def test_two_places_that_can_not_be_had_are_two(tmp_path):
    """Each says what is wrong with it; the same one again is one."""
    places = [tmp_path / name / "venv" for name in "ab"]
    for place in places:
        place.mkdir(parents=True)
    with pytest.raises(MachineError, match="a/venv is no environment"):
        choose([str(place) for place in places], tmp_path)
    with pytest.raises(UsageError, match="given twice"):
        choose([str(places[0])] * 2, tmp_path)


def test_what_a_place_lacks_is_not_named_after_a_compiler(tmp_path):
    """Nobody knows which it would have been; the one beside it is there."""
    (tmp_path / "venv").mkdir()
    lost, found = choose([str(tmp_path / "venv"), str(tree(tmp_path / "one", "0.2.0"))], tmp_path)
    assert lost.compiler == Compiler(name="unknown", version="venv")
    assert found.compiler == Compiler(name="tilelang", version="0.2.0+local")


def test_an_untested_release_is_said(index, tmp_path):
    """Once, with what was tested; a tested one and a local build of one are not remarked."""
    fake_wheels.release(index, "9.0.0")
    compilers = [one.compiler for one in choose(["tilelang==9.0.0"], tmp_path)]
    first, *_, last = TESTED
    (said,) = untested_notes([*compilers, *compilers, Compiler(name="tilelang", version=last)])
    assert f"tilelang 9.0.0 is untested: this stagebench was tested with {first} to {last}" in said
    assert untested("tilelang", "0.1.12") is None
    assert untested("tilelang", "0.1.15+gitabc") is None
    assert untested("tilelang", "0.1.8") is not None


def tree(folder, version=None):
    """A source tree with a built package, and the file that says its version."""
    (folder / "tilelang").mkdir(parents=True)
    (folder / "tilelang" / "__init__.py").write_text("x = 1\n")
    if version:
        (folder / "VERSION").write_text(f"{version}\n")
    return folder


def test_a_build_of_one_s_own(tmp_path):
    """Its VERSION file names it; two of one version are told apart by their folders."""
    one, two = tree(tmp_path / "one", "0.2.0"), tree(tmp_path / "two", "0.2.0")
    first, second = choose([str(one), str(two)], tmp_path)
    assert first.compiler.version == "0.2.0+local"
    assert second.compiler.version == "0.2.0+local+two"
    third, fourth = tree(tmp_path / "a/two", "0.2.0"), tree(tmp_path / "b/two", "0.2.0")
    told = [one.compiler.version for one in choose([str(one), str(third), str(fourth)], tmp_path)]
    assert told == ["0.2.0+local", "0.2.0+local+two", "0.2.0+local+b.two"]
    (tmp_path / "a/two/tilelang/other.py").write_text("")
    assert (first.front, second.front) == ((str(one),), (str(two),))
    assert first.identity != environment_at(tree(tmp_path / "three")).identity


def test_a_changed_file_of_a_build_changes_its_identity(tmp_path):
    """Results of the build before are not those of this one."""
    folder = tree(tmp_path / "build")
    before = environment_at(folder).identity
    (folder / "tilelang" / "new.py").write_text("")
    assert environment_at(folder).identity != before


@pytest.mark.tilelang
def test_an_environment_by_its_place():
    """This one by its folder is this compiler, run by that interpreter, with our own packages."""
    found = environment_at(Path(sys.prefix))
    assert found.compiler == this_environment().compiler
    assert found.python == str(Path(sys.prefix) / "bin" / "python")
    assert any(folder.endswith("site-packages") for folder in found.behind)


def test_a_place_says_which_compiler_it_has(tmp_path):
    """A build by its package; of one that has both it is TileLang."""
    (tmp_path / "tvm").mkdir()
    (tmp_path / "tvm" / "__init__.py").write_text("x = 1\n")
    assert environment_at(tmp_path).compiler == Compiler(name="tvm", version="local")
    assert environment_at(tree(tmp_path)).compiler.name == "tilelang"


def test_an_interpreter_says_which_compiler_it_has(tmp_path):
    """By the distributions that it finds."""
    folder = tmp_path / "packages"
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text(f"#!/bin/sh\necho '[[3, 1, 0], [\"{folder}\"]]'\n")
    python.chmod(0o755)
    with pytest.raises(MachineError, match="tilelang or apache-tvm is not installed in"):
        environment_at(tmp_path)
    fake_wheels.unpacked(folder, "apache-tvm", "0.26.0")
    found = environment_at(tmp_path)
    assert found.compiler == Compiler(name="tvm", version="0.26.0")
    assert (found.package, found.behind) == (str(folder / "tvm"), ())
    fake_wheels.unpacked(folder, "tilelang", "0.1.15")
    assert environment_at(python).compiler.name == "tilelang"


def test_places_that_are_none(tmp_path):
    """An empty folder, and a python that is none, are told apart."""
    with pytest.raises(MachineError, match="is no environment: it has no bin/python"):
        environment_at(tmp_path)
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nexit 3\n")
    python.chmod(0o755)
    with pytest.raises(MachineError, match=r"does not run as a Python interpreter: \w[^\[]*$"):
        environment_at(python)
