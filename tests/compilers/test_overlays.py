"""Is another release made once, whole or not at all, and only of what goes with it?"""

import fcntl
import json
import os
import re
import shutil
import socket
import subprocess
import threading
import time
from functools import partial
from types import SimpleNamespace

import pytest

from stagebench.cli import main
from stagebench.errors import MachineError
from stagebench.lowering import installed_packages
from stagebench.lowering import overlays as overlays_module
from stagebench.lowering.compiler_choice import Release
from stagebench.lowering.compiler_environment import environment_in_front
from stagebench.lowering.compiler_listing import list_compilers
from stagebench.lowering.import_mark import remember_import
from stagebench.lowering.overlay_folder import write_packages
from stagebench.lowering.overlays import check_import
from tests.command_line import command
from tests.compilers import fake_wheels
from tests.processes import alive, children

NINE = Release("tilelang", "9.0.0")


def packages(folder):
    return json.loads((folder / "packages.json").read_text())["packages"]


def fetched(overlays, code="x = 1\n"):
    """A making of 9.0.0 that was interrupted when pip was done."""
    unfinished = overlays.folder / ".unfinished-tilelang-9.0.0"
    fake_wheels.unpacked(unfinished, "tilelang", "9.0.0", code=code)
    (unfinished / ".part-tilelang").touch()


def test_a_release_with_what_it_demands(index, overlays, told):
    """The wheel and the two that its metadata names, each at a version that it allows."""
    fake_wheels.release(index, "9.0.0", z3="z3-solver (<2)")
    folder = overlays.make(NINE)
    assert packages(folder) == {"tilelang": "9.0.0", "apache-tvm-ffi": "2.0", "z3-solver": "1.0"}
    assert sorted(path.name for path in folder.iterdir() if path.suffix != ".dist-info") == [
        "import.txt", "packages.json", "size.txt", "tilelang", "tvm_ffi", "z3",
    ]  # fmt: skip
    assert told == [f"making tilelang==9.0.0 in {overlays.folder} (once)"]
    environment = environment_in_front(folder, "tilelang")
    assert environment.compiler.version == "9.0.0"
    assert environment.front == (str(folder),)


def test_what_it_takes_is_measured_once(overlays, monkeypatch):
    """When it is made, or when one that an earlier stagebench made is listed."""
    fetched(overlays)
    folder = overlays.make(NINE)
    files = [path for path in folder.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files if path.name != "size.txt")
    assert int((folder / "size.txt").read_text()) == size > 0
    (folder / "size.txt").unlink()
    (first,) = [one for one in list_compilers(overlays) if one.state == "made"]
    assert first.bytes == size
    monkeypatch.setattr(os, "walk", lambda _: 1 / 0)
    (again,) = [one for one in list_compilers(overlays) if one.state == "made"]
    assert first == again


def test_it_is_made_once(index, overlays, told):
    """A second use asks no index: it works where there is none."""
    fake_wheels.release(index, "9.0.0")
    made = overlays.make(NINE)
    for path in index.iterdir():
        path.unlink()
    assert overlays.make(NINE) == made
    assert len(told) == 1


def test_a_tested_release_gets_what_it_was_tested_with(index, overlays):
    """0.1.9 allows every 0.1 of its FFI, and imports with the early ones only."""
    for version in ("0.1.10", "0.1.12"):
        fake_wheels.wheel(index, "apache-tvm-ffi", version)
    fake_wheels.wheel(index, "z3-solver", "4.15.4.0")
    fake_wheels.release(index, "0.1.9", ffi="apache-tvm-ffi>=0.1.2,~=0.1.0")
    assert packages(overlays.make(Release("tilelang", "0.1.9"))) == {
        "tilelang": "0.1.9", "apache-tvm-ffi": "0.1.10", "z3-solver": "4.15.4.0",
    }  # fmt: skip


def test_apache_tvm(index, overlays):
    """It is installed under another name than it is imported, with the FFI that does not crash."""
    for version in ("0.1.14.post1", "0.1.15"):
        fake_wheels.wheel(index, "apache-tvm-ffi", version)
    fake_wheels.wheel(index, "apache-tvm", "0.26.0", requires=("apache-tvm-ffi>=0.1.12",))
    folder = overlays.make(Release("tvm", "0.26.0"))
    assert packages(folder) == {"apache-tvm": "0.26.0", "apache-tvm-ffi": "0.1.14.post1"}
    environment = environment_in_front(folder, "tvm")
    assert (environment.compiler.name, environment.compiler.version) == ("tvm", "0.26.0")
    made = next(one for one in list_compilers(overlays) if one.state == "made")
    assert (made.compiler, made.tested) == ("tvm==0.26.0", True)
    assert made.packages == {"apache-tvm-ffi": "0.1.14.post1"}


def test_a_project_s_constraints_do_not_forbid_it(index, overlays, tmp_path, monkeypatch):
    """Another release is what is asked for, whatever this project installs."""
    fake_wheels.release(index, "9.0.0")
    constraints = tmp_path / "constraints.txt"
    constraints.write_text("tilelang==1.0\napache-tvm-ffi==1.0\n")
    monkeypatch.setenv("PIP_CONSTRAINT", str(constraints))
    assert packages(overlays.make(NINE))["apache-tvm-ffi"] == "2.0"


def test_a_release_that_can_not_be_fetched(index, overlays):
    """The message says what is missing and what is there; nothing that counts is left."""
    fake_wheels.release(index, "8.0.0")
    overlays.make(Release("tilelang", "8.0.0"))
    with pytest.raises(MachineError) as caught:
        overlays.make(NINE)
    start, _, why = caught.value.message.partition(": ")
    assert start == "tilelang==9.0.0 is not here and can't be fetched"
    assert why.startswith("there is no wheel of tilelang==9.0.0 for Python 3.")
    assert why.endswith("(there are: 8.0.0)")
    assert caught.value.hint == "made already, and at hand as ever: tilelang==8.0.0"
    assert overlays.find(NINE) is None
    assert overlays.unfinished() == (), "there is nothing that a next try could go on with"


def test_an_index_that_does_not_answer(index, overlays, monkeypatch):
    """That is not a version that does not exist: the next step is another one."""
    fake_wheels.release(index, "8.0.0")
    overlays.make(Release("tilelang", "8.0.0"))
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "0")
    with pytest.raises(MachineError) as caught:
        overlays.make(NINE)
    assert caught.value.message == (
        "tilelang==9.0.0 is not here and can't be fetched: the package index does not answer "
        "(Connection refused)"
    )
    assert caught.value.hint.startswith("connect, or name an index that answers (PIP_INDEX_URL, ")
    assert caught.value.hint.endswith("made already, and at hand as ever: tilelang==8.0.0")
    assert overlays.unfinished() == ()


def test_an_interrupted_making_goes_on(index, overlays):
    """What was finished is kept: the second try needs the missing wheel alone."""
    fake_wheels.release(index, "9.0.0", ffi="apache-tvm-ffi==7.0")
    with pytest.raises(MachineError, match=r"apache-tvm-ffi==7\.0"):
        overlays.make(NINE)
    assert overlays.find(NINE) is None
    assert [path.name for path in overlays.unfinished()] == [".unfinished-tilelang-9.0.0"]
    assert [one.state for one in list_compilers(overlays)][-1] == "unfinished"
    (index / "tilelang-9.0.0-py3-none-any.whl").unlink()
    fake_wheels.wheel(index, "apache-tvm-ffi", "7.0")
    assert packages(overlays.make(NINE))["apache-tvm-ffi"] == "7.0"
    assert overlays.unfinished() == ()


def test_a_half_unpacked_part_is_unpacked_again(index, overlays):
    """A part without its mark was cut off: what lies there of it is replaced."""
    fake_wheels.release(index, "9.0.0")
    half = overlays.folder / ".unfinished-tilelang-9.0.0" / "tilelang"
    half.mkdir(parents=True)
    (half / "__init__.py").write_text("half of a fi")
    folder = overlays.make(NINE)
    assert (folder / "tilelang" / "__init__.py").read_text() == "x = 1\n"


def test_one_makes_it_and_the_others_wait(index, overlays, told):
    """Whoever comes second says that it waits, and finds what the first has made."""
    fake_wheels.release(index, "9.0.0")
    overlays.folder.mkdir(parents=True)
    lock = os.open(overlays.folder / ".lock-tilelang-9.0.0", os.O_RDWR | os.O_CREAT)
    fcntl.flock(lock, fcntl.LOCK_EX)
    found = []
    second = threading.Thread(target=lambda: found.append(overlays.make(NINE)))
    second.start()
    while not told:
        second.join(0.01)
    assert told == ["waiting for another process that makes tilelang==9.0.0"]
    made = overlays.folder / "tilelang-9.0.0"
    write_packages(made, fake_wheels.unpacked(made, "tilelang", "9.0.0"))
    os.close(lock)
    second.join(60)
    assert found == [made]
    assert len(told) == 1, "it made nothing itself"


def test_removing(overlays):
    """The folder goes, and so does what an interrupted making left."""
    fetched(overlays)
    overlays.make(NINE)
    assert overlays.remove(NINE)
    assert overlays.all() == ()
    assert not overlays.remove(NINE)
    (overlays.folder / ".unfinished-tilelang-9.0.0").mkdir()
    assert overlays.remove(NINE)
    assert list(overlays.folder.iterdir()) == []


def test_one_that_is_named_twice_is_one(overlays, tmp_path, monkeypatch, capsys):
    """Whatever the spelling; where a value is none, nothing is touched."""
    fetched(overlays)
    overlays.make(NINE)
    monkeypatch.setenv("STAGEBENCH_CACHE_DIR", str(tmp_path / "cache"))
    assert main(["compilers", "remove", "tilelang==9.0.0", "tvm"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "  hint: tvm==VERSION; the tested ones are 0.25.0 to " in said.err
    assert main(["compilers", "remove", "tilelang==9", "tilelang==9.0.0"]) == 0
    assert capsys.readouterr() == ("tilelang==9.0.0 removed\n", "")


def test_what_a_killed_removal_left_goes_with_the_next_use(overlays):
    """Whoever takes the lock of that release deletes it."""
    fetched(overlays)
    left = overlays.folder / ".removed-tilelang-9.0.0"
    (left / "tilelang").mkdir(parents=True)
    overlays.make(NINE)
    assert not left.exists()


def test_a_lock_that_was_deleted_is_not_the_lock(overlays, told):
    """Who waited while the file was deleted takes the new one: two do not make the same at once."""
    fetched(overlays)
    path = overlays.folder / ".lock-tilelang-9.0.0"
    old = os.open(path, os.O_RDWR | os.O_CREAT)
    fcntl.flock(old, fcntl.LOCK_EX)
    waits = threading.Thread(target=lambda: overlays.make(NINE))
    waits.start()
    while not told:
        waits.join(0.01)
    path.unlink()
    new = os.open(path, os.O_RDWR | os.O_CREAT)
    fcntl.flock(new, fcntl.LOCK_EX)
    os.close(old)
    waits.join(0.3)
    assert waits.is_alive(), "it has the lock of a file that is gone"
    assert told == ["waiting for another process that makes tilelang==9.0.0"] * 2
    os.close(new)
    waits.join(60)
    assert overlays.find(NINE) is not None


def test_a_pip_ends_with_who_started_it(tmp_path):
    """Killed, it releases the lock: a pip that went on would write beside the next one."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        environ = {
            **os.environ, "STAGEBENCH_CACHE_DIR": str(tmp_path), "PIP_NO_INDEX": "0",
            "PIP_INDEX_URL": f"http://127.0.0.1:{port}/simple", "PIP_CONFIG_FILE": os.devnull,
        }  # fmt: skip
        maker = subprocess.Popen(
            command("compilers", "add", "tilelang==9.0.0"), env=environ, stderr=subprocess.PIPE
        )
        with maker:
            silent.settimeout(60)
            asked, _ = silent.accept()  # pip waits for an answer
            (pip,) = children(maker.pid)
            maker.kill()
        with asked:
            asked.settimeout(20)
            while asked.recv(4096):
                pass  # until the other end is closed
    deadline = time.monotonic() + 10
    while alive(pip) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not alive(pip)


DAMAGES = {
    "no list": (["packages.json"], "packages.json: No such file or directory"),
    "nothing": (["packages.json", "tilelang", "tvm_ffi"], "No such file or directory"),
    "no package": (["tvm_ffi"], "tvm_ffi is missing"),
    "no code": (["tilelang/__init__.py"], "tilelang/__init__.py is missing"),
    "no metadata": (["tilelang-9.0.0.dist-info"], "tilelang 9.0.0 is missing"),
}


@pytest.mark.parametrize(("gone", "why"), DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_overlay(gone, why, overlays, tmp_path, monkeypatch, capsys):
    """The others are listed; of it, and by whatever wants it, what is to be done about it."""
    for version in ("8.0.0", "9.0.0"):
        made = overlays.folder / f"tilelang-{version}"
        write_packages(made, fake_wheels.unpacked(made, "tilelang", version))
        ffi = fake_wheels.unpacked(made, "apache-tvm-ffi", "1.0")
        write_packages(made, {"tilelang": version, **ffi})
    (overlays.folder / "notes").mkdir()
    for name in gone:
        place = overlays.folder / "tilelang-9.0.0" / name
        shutil.rmtree(place) if place.is_dir() else place.unlink()
    monkeypatch.setenv("STAGEBENCH_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "400")  # the path of what is stray may be long
    assert main(["compilers"]) == 0
    listed = capsys.readouterr().out
    assert re.search(r"^tilelang==8\.0\.0 +in the cache", listed, re.M), listed
    assert re.search(r"^tilelang==9\.0\.0 +damaged: remove it and add it again", listed, re.M)
    assert re.search(r"^notes +not made by stagebench ", listed, re.M)
    with pytest.raises(MachineError) as caught:
        overlays.make(NINE)
    assert caught.value.message.startswith("tilelang==9.0.0 is damaged in the cache: ")
    assert caught.value.message.endswith(why)
    assert caught.value.hint == (
        "`stagebench compilers remove tilelang==9.0.0`, then `stagebench compilers add "
        "tilelang==9.0.0` makes it again"
    )
    assert main(["compilers", "remove", "tilelang==9.0.0"]) == 0
    assert overlays.find(NINE) is None


def test_what_is_damaged_is_made_again_by_adding_it(index, overlays, told):
    """The rest of the old one is gone; where it can't be fetched the old one stays."""
    made = overlays.folder / "tilelang-9.0.0"
    write_packages(made, fake_wheels.unpacked(made, "tilelang", "9.0.0"))
    (made / "tilelang" / "__init__.py").unlink()
    with pytest.raises(MachineError, match="can't be fetched") as caught:
        overlays.add(NINE)
    assert caught.value.hint == "made already, and at hand as ever: none"
    assert (made / "packages.json").exists()
    (made / "left.txt").touch()
    fake_wheels.release(index, "9.0.0")
    assert overlays.add(NINE) == overlays.find(NINE) == made
    assert not (made / "left.txt").exists()
    assert told[-2].startswith("tilelang==9.0.0 is broken in the cache: ")
    assert told[-2].endswith("tilelang/__init__.py is missing")


def test_what_can_not_be_imported_any_more_is_made_again(overlays, index, monkeypatch):
    """A library that is gone is seen by an import alone, once for the same files."""
    fake_wheels.release(index, "9.0.0", code="import os\n")
    made = overlays.add(NINE)
    monkeypatch.setattr(overlays_module, "check_import", check_import)
    assert overlays.add(NINE) == made, "its import is remembered: that of a worker would fail"
    with (made / "tilelang" / "__init__.py").open("a") as file:
        file.write("raise ImportError('no libx.so; searched directories:\\n  /bin\\n  /sbin')\n")
    state = [one.state for one in list_compilers(overlays) if "9.0.0" in one.compiler]
    assert state == ["made"], "nobody has tried"
    with pytest.raises(MachineError) as caught:
        check_import(environment_in_front(made, "tilelang"))
    assert caught.value.message.endswith(f"with {made} in front: ImportError: no libx.so")
    assert "`stagebench compilers remove tilelang==9.0.0`, then" in caught.value.hint
    state = [one.state for one in list_compilers(overlays) if "9.0.0" in one.compiler]
    assert state == ["broken"]
    with pytest.raises(MachineError, match="can't be imported"):  # an empty package is no compiler
        overlays.add(NINE)
    state = [one.state for one in list_compilers(overlays) if "9.0.0" in one.compiler]
    assert state == ["broken"], "one of it, as it was fetched"
    (unfinished,) = overlays.unfinished()
    assert (unfinished / "tilelang" / "__init__.py").read_text() == "import os\n"


def test_one_that_can_not_be_imported_is_not_ready(overlays, tmp_path, monkeypatch, capsys):
    """It is neither used nor listed as made, and what it says is in the message each time."""
    monkeypatch.setattr(overlays_module, "check_import", check_import)
    fetched(overlays, code="import sys\nsys.exit(3)\n")
    monkeypatch.setenv("STAGEBENCH_CACHE_DIR", str(tmp_path / "cache"))
    for _ in range(2):
        assert main(["compilers", "add", "tilelang==9.0.0"]) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert "tilelang 9.0.0 can't be imported by" in said.err
        assert "in front: SystemExit: 3\n" in said.err
        assert " -c 'import tilelang'` shows all of it; `stagebench compilers remove " in said.err
        assert "makes it again; tilelang 9.0.0 is untested" in said.err
    assert overlays.find(NINE) is None
    (broken,) = [one for one in list_compilers(overlays) if one.state == "broken"]
    assert broken.compiler == "tilelang==9.0.0"
    monkeypatch.setattr(overlays_module, "check_import", partial(remember_import, works=True))
    made = overlays.make(NINE)
    assert [path.name for path in made.glob(".*")] == [], "no mark is left where it can be imported"
    assert [one.state for one in list_compilers(overlays)][-1] == "made"


def test_what_is_being_made_is_not_called_broken(overlays, monkeypatch):
    """Also when it is whole and being tried, and when that was interrupted."""
    seen = []

    def interrupted(_):
        seen.extend(one.state for one in list_compilers(overlays) if "9.0.0" in one.compiler)
        raise KeyboardInterrupt

    monkeypatch.setattr(overlays_module, "check_import", interrupted)
    fetched(overlays)
    with pytest.raises(KeyboardInterrupt):
        overlays.make(NINE)
    seen.extend(one.state for one in list_compilers(overlays) if "9.0.0" in one.compiler)
    assert seen == ["unfinished", "unfinished"]


def test_versions_are_in_order(overlays):
    """The tenth is after the ninth, whatever its digits; one compiler after the other."""
    for name in ("tvm-0.25.0", "tilelang-0.1.10", "notes", "tilelang-0.1.9", "tvm-0.25.0.post1"):
        (overlays.folder / name).mkdir(parents=True)
    assert [path.name for path in overlays.all()] == [
        "tilelang-0.1.9", "tilelang-0.1.10", "tvm-0.25.0", "tvm-0.25.0.post1", "notes",
    ]  # fmt: skip


def test_a_cache_that_can_not_be_written(overlays):
    """It is an error of the machine, with the variable that names another folder."""
    overlays.folder.parent.parent.mkdir(parents=True)
    overlays.folder.parent.write_text("a file, where the folder should be")
    with pytest.raises(MachineError) as caught:
        overlays.make(NINE)
    assert "STAGEBENCH_CACHE_DIR" in caught.value.hint


@pytest.mark.parametrize("action", ["add", "remove"])
def test_this_environment_s_own_is_neither_made_nor_removed(
    action, index, tmp_path, monkeypatch, capsys
):
    """It is said whose it is: it is in the list, and not in the cache."""
    assert index
    monkeypatch.setenv("STAGEBENCH_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(
        installed_packages, "find_distribution", lambda *_: SimpleNamespace(version="9.0.0")
    )
    code = main(["compilers", action, "tilelang==9.0.0"])
    said = capsys.readouterr()
    if action == "add":
        assert (code, said.out) == (
            0, "tilelang==9.0.0 is this environment's own: nothing to make\n",
        )  # fmt: skip
    else:
        assert code == 2
        assert "tilelang==9.0.0 is this environment's own (" in said.err
        assert "-m pip uninstall tilelang" in said.err
    assert not (tmp_path / "cache").exists()
    assert main(["compilers", "remove", "tilelang==8.0.0"]) == 2
    assert "tilelang==8.0.0 is not there" in capsys.readouterr().err
