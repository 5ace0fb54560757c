"""Is what `profile` is given told apart, and is nothing written where something else lies?"""

import pytest
from msgspec.structs import replace

from stagebench.commands import profile as profile_command
from stagebench.commands.profile_source import source_of
from stagebench.dump.directory import SECONDS, DumpDirectory, Timing
from stagebench.errors import UsageError
from stagebench.gpu.profile_file import TIMINGS, read_profile
from stagebench.gpu.records import PROFILE
from stagebench.gpu.watchdog import Watchdog
from stagebench.model.codec import encode_pretty
from tests.bundle.building import bundle, name, parts, result, variant
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
    assert sorted(one.name for one in (tmp_path / "out").iterdir()) == [PROFILE, TIMINGS]
    capsys.readouterr()
    assert run(tmp_path / "out") == 3
    shown = " ".join(capsys.readouterr().out.split())
    assert "2 variants" in shown
    assert f"incomplete: 1 of 3 variants had no turn before the run ended: {name(2)}" in shown
    assert "0 → 1: no slot more or fewer" in shown


def test_what_was_killed_is_shown(tmp_path, capsys):
    """With what lies there: what only the bundle says is not known; an older one names nobody."""
    out = tmp_path / "out"
    profiled(bundle(tmp_path / "b", parts(0), parts(1)), out)
    (out / TIMINGS).unlink()
    whole = read_profile(out)
    assert whole.no_turn == ()
    for no_turn, told in (
        ((), "every variant had its turn, and the run ended before it was done"),
        (None, "the run ended before every variant had its turn"),
    ):
        (out / PROFILE).write_bytes(encode_pretty(replace(whole, complete=False, no_turn=no_turn)))
        capsys.readouterr()
        assert run(out) == 3
        shown = " ".join(capsys.readouterr().out.split())
        assert f"incomplete: {told}" in shown
        assert "0 → 1: what changed in the IR is not known" in shown


def test_one_that_ended_in_its_first_variant_is_shown(tmp_path, monkeypatch, capsys):
    """None had its turn, and all are named."""
    path, out = bundle(tmp_path / "b", parts(0), parts(1)), tmp_path / "out"

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Watchdog, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        profiled(path, out)
    assert run(out) == 3
    shown = " ".join(capsys.readouterr().out.split())
    assert f"2 of 2 variants had no turn before the run ended: {name(0)}, {name(1)}" in shown
