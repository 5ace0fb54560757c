"""Is it asked before the work whether an output can be written, and is a refusal the right one?"""

import errno
from pathlib import Path

import pytest

from stagebench.commands.output_place import (
    cannot_write,
    check_file,
    check_folder,
    write_output,
)
from stagebench.errors import UsageError

FILE = "a file lies where a folder belongs"


@pytest.mark.parametrize(
    "act",
    [
        lambda folder: check_folder(folder, "--out"),
        lambda folder: check_file(folder / "x.json", "--json"),
    ],
)
@pytest.mark.parametrize("losses", [1, 3])
def test_a_folder_that_another_command_took_away_is_made_again(tmp_path, monkeypatch, act, losses):
    """Two commands try one missing folder: the one's goes between the other's making and use."""
    make, left = Path.mkdir, [losses]

    def made_and_gone(self, *args, **kwargs):
        make(self, *args, **kwargs)
        if left[0]:
            left[0] -= 1
            self.rmdir()

    monkeypatch.setattr(Path, "mkdir", made_and_gone)
    act(tmp_path / "new")
    assert left == [0]
    assert list(tmp_path.iterdir()) == [], "and taken away again"


def test_writing_goes_on_too(tmp_path, monkeypatch):
    """The output itself is as little lost to another command's trial."""
    make, left = Path.mkdir, [1]

    def made_and_gone(self, *args, **kwargs):
        make(self, *args, **kwargs)
        if left[0]:
            left[0] -= 1
            self.rmdir()

    monkeypatch.setattr(Path, "mkdir", made_and_gone)
    write_output(tmp_path / "new" / "x.json", b"x", "--json")
    assert (tmp_path / "new" / "x.json").read_bytes() == b"x"


def test_a_file_in_the_way(tmp_path):
    """As the folder itself, as one above it, as one above a file."""
    (tmp_path / "file").write_text("")
    for check, place in (
        (check_folder, tmp_path / "file"),
        (check_folder, tmp_path / "file" / "deeper"),
        (check_file, tmp_path / "file" / "x.json"),
    ):
        with pytest.raises(UsageError) as caught:
            check(place, "--out")
        assert caught.value.message == f"can't write --out {place}: {FILE}"


def test_a_file_that_is_there_is_in_nobodys_way(tmp_path):
    """Another reason of the same number has its own words."""
    (tmp_path / "file").write_text("")
    there = FileExistsError(errno.EEXIST, "File exists", str(tmp_path / "file"))
    said = cannot_write("-o", tmp_path / "file", there).message
    assert said == f"can't write -o {tmp_path / 'file'}: File exists"
