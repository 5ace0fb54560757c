"""Is what `profile` is given told apart, and is nothing written where something else lies?"""

import pytest

from stagebench.commands import profile as profile_command
from stagebench.commands.profile_source import source_of
from stagebench.dump.directory import SECONDS, DumpDirectory, Timing
from stagebench.errors import UsageError
from stagebench.gpu.profile_file import TIMINGS
from stagebench.gpu.records import PROFILE
from tests.bundle.building import bundle, parts, result, variant
from tests.dumping import building as dumps
from tests.gpu.test_commands import parsed
from tests.gpu.test_profile_again import _fake_device, child, profiled, run

__all__ = ["_fake_device", "child"]


@pytest.fixture
def swept(tmp_path):
    """A run with its times, as `sweep` leaves one."""
    directory = DumpDirectory(tmp_path / "run")
    folder = directory.write(result(variant(2)), (), dumps.CUDA, None)
    directory.finish(
        (folder,),
        {folder: Timing(load=0.1, lower=1.0, observe=0.1, facts=0.1, pass_seconds=())},
    )
    return tmp_path / "run"


def kind(path, *words):
    return source_of(parsed(profile_command, str(path), *words)).kind


@pytest.mark.parametrize("times", [SECONDS, TIMINGS])
def test_a_run_is_no_profile(swept, times):
    """Its times have a name of their own, and one that took a profile's is a run still."""
    (swept / SECONDS).rename(swept / times)
    assert kind(swept) == "run"
    assert kind(swept, "-o", "q", "--seed", "3") == "run"


def test_what_a_profile_is_told_by(tmp_path):
    """Either of its files; the files themselves too."""
    (tmp_path / PROFILE).write_text("{}")
    assert [kind(tmp_path), kind(tmp_path / PROFILE)] == ["measured"] * 2
    (tmp_path / PROFILE).rename(tmp_path / TIMINGS)
    assert [kind(tmp_path), kind(tmp_path / TIMINGS)] == ["measured"] * 2


def test_a_profile_has_a_folder_of_its_own(tmp_path, swept):
    """Among a run's dumps, in one of them or in a bundle it would be lost, or lose them."""
    path = bundle(tmp_path / "b", parts(0))
    (dump,) = [one.parent for one in swept.rglob("variant.json")]
    for out, told in ((swept, "a run"), (dump, "a dump"), (path, "a bundle")):
        before = sorted(out.rglob("*"))
        with pytest.raises(UsageError, match=f"--out {out} is {told}"):
            profiled(path, out)
        assert sorted(out.rglob("*")) == before


@pytest.mark.parametrize("option", ["--out", "--chart", "--timeline", "--json"])
def test_a_place_that_can_t_be_written_is_told_first(tmp_path, option, capsys):
    """Before a variant runs, with the option and what to do; nothing is left behind."""
    path = bundle(tmp_path / "b", parts(0))
    file = tmp_path / "afile"
    file.write_text("")
    place = file / "x.json" if option == "--json" else file
    with pytest.raises(UsageError, match=f"can't write {option} {place}: a file lies") as caught:
        run(path, *(() if option == "--out" else ("-o", str(tmp_path / "out"))), option, str(place))
    assert caught.value.hint == f"choose another {option}"
    assert capsys.readouterr() == ("", "")
    assert {one.name for one in tmp_path.iterdir()} == {"b", "afile"}


def test_what_was_interrupted_is_shown(tmp_path, monkeypatch, capsys):
    """The variants that had their turn, their times, and that others had none."""
    path = bundle(tmp_path / "b", parts(0), parts(1), parts(2))
    done = []

    def interrupted(number, total, variant):
        done.append((number, total, variant.id))
        if number == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(profile_command, "_progress", interrupted)
    with pytest.raises(KeyboardInterrupt):
        profiled(path, tmp_path / "out")
    assert [one[:2] for one in done] == [(1, 3), (2, 3)]
    assert sorted(one.name for one in (tmp_path / "out").iterdir()) == [PROFILE]
    capsys.readouterr()
    assert run(tmp_path / "out") == 3
    shown = capsys.readouterr().out
    assert "2 variants" in shown
    assert "incomplete: the run ended before every variant had its turn" in shown
    assert "0 → 1: what changed in the IR is not known" in shown
