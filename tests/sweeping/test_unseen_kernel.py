"""Is no depth made up for a kernel whose file can't be imported?"""

import ast

import msgspec
import pytest

from stagebench.experiment import sweep as sweep_module
from stagebench.experiment.sweep import SweepOptions, run_sweep
from stagebench.experiment.sweep_plan import SweepPlan
from stagebench.lowering.choose_compilers import NoCompiler
from stagebench.lowering.failure import from_no_compiler, from_raised
from stagebench.lowering.lower import Lowering
from stagebench.model import Compiler
from stagebench.worker.loading.kernel_file import imported_file, raised_by_import
from stagebench.worker.loading.user_tree import UserTree
from stagebench.worker.replies import raised, variant_of

ONE, TWO = (Compiler(name="tvm", version=version) for version in ("1.0", "2.0"))


@pytest.fixture
def file(tmp_path):
    """A kernel's file; what is in it nobody reads here."""
    path = tmp_path / "kernel.py"
    path.write_text("def add(n): pass\n")
    return path


def imported(path, *, call=False):
    """What an import of the file raises, or what is raised where it is open."""
    with pytest.raises(ZeroDivisionError) as caught:
        open_and(path, call=call)
    return caught.value


def open_and(path, *, call):
    with imported_file(path, ast.parse(path.read_text()), UserTree(path)) as module:
        if call:
            module.add(0)


def test_the_import_is_told_from_the_call(tmp_path):
    """Also where a file that the kernel's file imports is the one that raises."""
    path = tmp_path / "kernel.py"
    path.write_text("def add(n): return 1 / n\n")
    assert not raised_by_import(imported(path, call=True))
    path.write_text("1 / 0\n")
    assert raised_by_import(imported(path))
    (tmp_path / "beside_the_kernel.py").write_text("1 / 0\n")
    path.write_text("import beside_the_kernel\n")
    assert raised_by_import(imported(path))


def of_file(where, request, compiler):
    """A lowering that a file's import, or its kernel, raised in."""
    error = ImportError("no module x")
    reply = raised(
        error, request, variant_of(request, compiler, {}, None), loaded=False, files=(),
        open_passes=(), notes=(),
    )  # fmt: skip
    result = from_raised(msgspec.structs.replace(reply, where=where))
    return Lowering(result, None, None, None, cached=False)


def without(request, compiler):
    return Lowering(from_no_compiler(request, compiler, "no", None), None, None, None, cached=False)


def swept(monkeypatch, tmp_path, file, replies, **plan):
    """The depths of a sweep's variants, and the dumps that it leaves."""
    monkeypatch.setattr(sweep_module, "choose_compilers", lambda *_: _compilers(replies))

    def lower(requests, compilers, limits, cache, watcher, function):
        del compilers, limits, cache, function
        found = [reply(request) for reply in replies for request in requests]
        for index, lowering in enumerate(found):
            watcher.finished(index, lowering)
        return found

    monkeypatch.setattr(sweep_module, "lower_with_each", lower)
    options = SweepOptions(dump_dir=tmp_path / "dumps", use_cache=False, jobs=1)
    run = run_sweep(SweepPlan(kernel=f"{file}:add", archs=("sm_80",), **plan), options).run
    dumps = sorted(path.parent.name for path in (tmp_path / "dumps").rglob("variant.json"))
    return [one.variant.num_stages for one in run.variants], dumps


def _compilers(replies):
    return tuple(NoCompiler(compiler=one, error=None) for one in (ONE, TWO)[: len(replies)])


def test_one_variant_as_written(monkeypatch, tmp_path, file):
    """Of each compiler, also of one that is not there; no dump of a depth is left."""
    replies = [lambda r: of_file("file", r, ONE), lambda r: without(r, TWO)]
    assert swept(monkeypatch, tmp_path, file, replies) == (
        [None, None],
        ["num_stages=as-written,compiler=tvm==1.0", "num_stages=as-written,compiler=tvm==2.0"],
    )


def test_depths_that_were_asked_for(monkeypatch, tmp_path, file):
    """They are what fails; so are those of a kernel that another compiler has seen."""
    replies = [lambda r: of_file("file", r, ONE)]
    depths, dumps = swept(monkeypatch, tmp_path, file, replies, num_stages=(2, 3))
    assert (depths, len(dumps)) == ([2, 3], 2)
    replies.append(lambda r: of_file("kernel", r, TWO))
    depths, _ = swept(monkeypatch, tmp_path, file, replies, default_num_stages=(1, 4))
    assert depths == [1, 4, 1, 4]
