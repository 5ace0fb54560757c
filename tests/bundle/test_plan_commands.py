"""Do ``bundle`` and ``profile`` take launch plans as users type them, and refuse the rest?"""

import json
import shutil
from pathlib import Path

import pytest

from stagebench.bundle.read import read_bundle
from tests.command_line import stagebench

PLANS = Path(__file__).parent / "plans"


@pytest.fixture
def folder(tmp_path):
    for name in ("add.ptx", "add.json"):
        shutil.copy(PLANS / name, tmp_path)
    plan = json.loads((PLANS / "add.json").read_text())
    broken = (PLANS / "add.ptx").read_text().replace("bar.sync 0;", "bar.snyc 0;")
    (tmp_path / "broken.ptx").write_text(broken)
    (tmp_path / "broken.json").write_text(
        json.dumps({**plan, "kernel": "broken", "source": "broken.ptx"})
    )
    (tmp_path / "old.json").write_text(json.dumps({**plan, "arch": "sm_70"}))
    (tmp_path / "reference.py").write_text(
        "def reference(asked, inputs):\n    return {'C': inputs['A'] + asked.scalars['s']}\n"
    )
    return tmp_path


def test_what_compiles_is_bundled(folder):
    """The other is left out with its reason, exit code 3; the reference's values travel along."""
    words = ("add.json", "broken.json", "--case", "reference.py", "-o", "b")
    ran = stagebench("bundle", *words, cwd=folder)
    assert ran.code == 3, ran.err
    assert "add · sm_80 · block=128: add_kernel of add.ptx\n  12 registers, 0 bytes" in ran.out
    assert max(map(len, ran.out.splitlines())) <= 100
    assert "Unknown modifier '.snyc' (broken.ptx:38)" in ran.out
    assert "left out: broken sm_80 as written: it does not assemble" in ran.out
    (one,) = read_bundle(folder / "b").bundle.variants
    assert (one.variant.kernel, one.facts, one.machine is not None) == ("add", None, True)
    assert [(t.name, t.contents is not None, t.expected is not None) for t in one.tensors] == [
        ("A", True, False), ("C", False, True),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("bundle", "no.toml", "-o", "b"), "no launch plan no.toml"),
        (("profile", "no.toml"), "no launch plan no.toml"),
        (("profile", "add.json", "."), ". is no launch plan, and only those can be several"),
        (("profile", ".", "add.json"), ". is no launch plan, and only those can be several"),
        (("profile", "add.json", "--num-stages", "2"), "add.json is no kernel"),
        (("bundle", "add.json", "add.json", "-o", "b"), "has the same kernel, num_stages"),
        (("bundle", "add.ptx", "-o", "b"), "stagebench new plan add.ptx"),
        (("profile", "add.ptx"), "stagebench new plan add.ptx"),
        (("bundle", "reference.json", "-o", "b"), "no launch plan reference.json"),
        (("bundle", "old.json", "-o", "b"), "old.json: arch: ptxas"),
        (("bundle", "add.json", "-o", "b", "--device-arch", "sm_999"), "--device-arch: ptxas"),
        (("profile", "add.json", "--device-arch", "sm_999"), "--device-arch: ptxas"),
    ],
)
def test_what_is_refused(folder, words, message):
    """Nothing is written for what is no plan, or not one alone."""
    ran = stagebench(*words, cwd=folder)
    assert ran.code == 2
    assert message in ran.err
    assert not (folder / "b").exists()
