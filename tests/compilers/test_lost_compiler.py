"""Does a compiler that can't be had or imported lose its own variants, and only these?"""

import sys

import msgspec
import pytest

from stagebench.errors import MachineError
from stagebench.lowering.choose_compilers import NoCompiler
from stagebench.lowering.compiler_environment import environment_in_front
from stagebench.lowering.failure import from_no_compiler
from stagebench.lowering.lower import Limits, Lowering, lower_with_each
from stagebench.lowering.tested_releases import untested
from stagebench.model import Compiler
from stagebench.report.sweep_notes import Column, notes
from tests.command_line import stagebench
from tests.lowering.fake_compiler import environment, request

WORKS = "hello()\nfor job, request in jobs(): raised(job, request)\n"
LIMITS = Limits(jobs=1, timeout_seconds=5)


class Watcher:
    def __init__(self):
        self.finished_ones = []

    def importing(self):
        """Ignore."""

    def started(self, index):
        """Ignore."""

    def finished(self, index, _):
        self.finished_ones.append(index)


def lower(compilers, watcher=None):
    requests = [request(1), request(2)]
    return lower_with_each(requests, compilers, LIMITS, None, watcher or Watcher())


def broken(folder, code):
    """A build whose import does this."""
    package = folder / "build" / "tilelang"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(code)
    (package / "VERSION").write_text("9.0")
    return environment_in_front(package.parent, "tilelang")


def test_its_variants_fail_and_the_others_do_not(tmp_path):
    """The import's own words are in each of its cells; what comes after it is lowered."""
    bad = broken(tmp_path, "raise ImportError('libz3.so.4.15: no such file')\n")
    watcher = Watcher()
    found = lower([bad, environment(tmp_path, WORKS)], watcher)
    assert [f.result.failure.kind for f in found] == ["no_compiler"] * 2 + ["compile_error"] * 2
    assert "ImportError: libz3.so.4.15: no such file" in found[0].result.failure.message
    versions = [f.result.variant.compiler.version for f in found]
    assert versions == ["9.0+local", "9.0+local", "1.0", "1.0"]
    assert [f.result.variant.num_stages for f in found[:2]] == [1, 2]
    assert sorted(watcher.finished_ones) == [0, 1, 2, 3], "indices go on over both"


@pytest.mark.parametrize(
    ("code", "how"),
    [
        ("import os\nos.abort()\n", "it ended while starting (SIGABRT)"),
        ("import os\nos._exit(3)\n", "it ended while starting (exit code 3)"),
        ("import sys\nsys.exit(3)\n", "SystemExit: 3"),
        ("raise KeyboardInterrupt\n", "in front: KeyboardInterrupt"),
    ],
)
def test_an_import_that_ends_the_process(tmp_path, code, how):
    """It is a broken compiler like any other; how it ended is said."""
    bad = broken(tmp_path, code)
    found = lower([environment(tmp_path, WORKS), bad])
    assert [f.result.failure.kind for f in found] == ["compile_error"] * 2 + ["no_compiler"] * 2
    assert how in found[2].result.failure.message


def test_its_cell_says_what_to_do(tmp_path):
    """The import to try by hand, and that nobody has tried that release."""
    bad = broken(tmp_path, "raise ImportError('no such thing')\n")
    result = from_no_compiler(
        request(1), Compiler(name="tilelang", version="0.1.8"), "it can't be imported", "try it"
    )
    (note,) = notes([Column(depth="1", result=result, kernel_cu=None)])
    assert note.text == "no compiler: it can't be imported; try it"
    (lost, *_) = lower([bad, environment(tmp_path, WORKS)])
    assert lost.result.failure.detail == (
        f"`PYTHONPATH={bad.front[0]} {sys.executable} -c 'import tilelang'` shows all of it; "
        f"{untested('tilelang', '9.0+local')}"
    )


def test_one_that_is_not_there(tmp_path):
    """The reason and what to do are in the cells of the compiler that was asked for."""
    error = MachineError("it is not here", hint="fetch it")
    missing = NoCompiler(compiler=Compiler(name="tilelang", version="9.0"), error=error)
    found = lower([missing, environment(tmp_path, WORKS)])
    assert found[0].result.failure.message == "it is not here"
    assert found[0].result.failure.detail == "fetch it"
    assert found[2].result.failure.kind == "compile_error"


def test_none_is_left(tmp_path):
    """Where no compiler works the run is an error, not a table of crosses."""
    with pytest.raises(MachineError, match=r"9\.0\+local can't be imported by .* no such thing"):
        lower([broken(tmp_path, "raise ImportError('no such thing')\n")])


def test_one_that_is_alone_is_one_line_and_what_shows_more(tmp_path):
    """That it is untested too is part of the hint, and said once."""
    bad = broken(tmp_path, "raise ImportError('no such thing')\n").front[0]
    words = ("gemm", "--arch", "sm_80", "--compiler", bad)
    done = stagebench("sweep", *words, "--num-stages", "2", "--no-dumps")
    reason = (
        f"stagebench: tilelang 9.0+local can't be imported by {sys.executable} with {bad} in "
        f"front: ImportError: no such thing\n  hint: `PYTHONPATH={bad} {sys.executable} -c "
        f"'import tilelang'` shows all of it; {untested('tilelang', '9.0+local')}\n"
    )
    assert (done.code, done.out, done.err) == (2, "", reason)
    steps = ("--axis", "num_stages", "--num-stages", "2", "3", "--fact", "outcome")
    done = stagebench("bisect", *words, *steps)
    assert (done.code, done.out, done.err) == (2, "", reason)


def test_a_poisoned_environment_changes_nothing(tmp_path, monkeypatch):
    """A package on PYTHONPATH, and what TileLang leaves in the environment, are not seen."""
    code = "import os, sys\nraise ImportError(sorted(k for k in os.environ if k[:3] in POISON))\n"
    bad = broken(tmp_path, f"POISON = ('TL_', 'TVM')\n{code}")
    poison = tmp_path / "poison" / "tilelang"
    poison.mkdir(parents=True)
    (poison / "__init__.py").write_text("raise ImportError('the poisoned one')\n")
    monkeypatch.setenv("PYTHONPATH", str(poison.parent))
    monkeypatch.setenv("TVM_LIBRARY_PATH", "/x")
    monkeypatch.setenv("TL_LOWER_TRACE", "1")
    with pytest.raises(MachineError) as caught:
        lower([bad])
    assert caught.value.message.endswith("ImportError: []")


def test_the_pipeline_of_apache_tvm_is_asked_of_no_other(tmp_path):
    """Both compilers get the other pass configs; the choice of passes is Apache TVM's alone."""
    asked = msgspec.structs.replace(
        request(1), pass_configs={"tir_pipeline": "tirx", "tl.disable_tma_lower": True}
    )
    seen = []

    def lower(requests, environment, *_):
        seen.append((environment.compiler.name, [one.pass_configs for one in requests]))
        return [Lowering(None, None, None, None, cached=False) for _ in requests]

    own = environment(tmp_path, WORKS)
    other = msgspec.structs.replace(own, compiler=Compiler(name="tvm", version="1.0"))
    lower_with_each([asked], [own, other], LIMITS, None, Watcher(), lower)
    assert seen == [
        (own.compiler.name, [{"tl.disable_tma_lower": True}]),
        ("tvm", [{"tir_pipeline": "tirx", "tl.disable_tma_lower": True}]),
    ]
