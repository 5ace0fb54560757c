"""Is a name that stands for nothing refused before anything heavy is imported?"""

import subprocess
import sys

import pytest

from stagebench.dump.place import check_place
from stagebench.errors import DumpError


@pytest.mark.parametrize("text", ["no", "no/such", "no.tar", "no[num_stages=2]"])
def test_nothing_is_there(text, tmp_path, monkeypatch):
    """The message names the folder, not the selector."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DumpError) as caught:
        check_place(text)
    assert caught.value.message == f"no dump at {text.partition('[')[0]}"


@pytest.mark.parametrize("text", ["run", "run[a=1]", "[a=1]", "run[a=1", "a[1]", "no.toml"])
def test_what_others_say_more_about(text, tmp_path, monkeypatch):
    """A folder, a selector that may be wrong, a folder with brackets in its name, a plan."""
    monkeypatch.chdir(tmp_path)
    for name in ("run", "a[1]"):
        (tmp_path / name).mkdir()
    check_place(text)


@pytest.mark.parametrize(
    ("arguments", "heavy"),
    [
        (["profile", "no"], ("numpy", "rich", "msgspec")),
        (["bundle", "no", "-o", "x.tar"], ("numpy", "rich", "stagebench.probe")),
        (["diff", "no", "no"], ("numpy", "rich", "stagebench.diff.text_compare")),
        (["compilers"], ("numpy", "stagebench.worker", "stagebench.lowering.cache")),
    ],
)
def test_what_is_not_imported(arguments, heavy, tmp_path):
    """What only the work itself needs."""
    code = (
        "import sys; from stagebench.cli import main; main(sys.argv[1:]);"
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "[]"
