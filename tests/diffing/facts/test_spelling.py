"""Is what two compilers only spell otherwise told in one line, and no difference?"""

import json
import sys

import msgspec
import pytest

from stagebench.cli import main
from stagebench.diff.fact_changes import code_differs, fact_changes
from stagebench.dump.files import dump_files
from stagebench.experiment.bisecting_watched import Watched, differing
from stagebench.model import Compiler
from stagebench.report.fact_change_rows import change_table
from tests.command_line import Ran
from tests.diffing.passes.recorded import dump

replace = msgspec.structs.replace
SPELLED = {"tirx.one": "tir.one", "tirx.two": "tir.two"}
OLD = Compiler(name="tilelang", version="0.1.9")
LINE = (
    "spelled otherwise, and no difference: tirx. → tir. (2 names), "
    "`gemm A_shared, B_shared → C_local` → `gemm`"
)


def as_old(one, *, compiler=OLD, summary="gemm", op=None):
    """The dump as an older release would say it: its dialect, and an operator alone."""
    facts = one.result.facts
    sites = tuple(
        replace(site, intrinsic=SPELLED.get(site.intrinsic, site.intrinsic))
        for site in facts.sync_ops
    )
    if op is not None:
        sites = (replace(sites[0], op=op), *sites[1:])
    (loop,) = facts.pipeline_loops
    last = replace(loop.statements[-1], summary=summary)
    loops = (replace(loop, statements=(*loop.statements[:-1], last)),)
    facts = replace(facts, sync_ops=sites, pipeline_loops=loops)
    return of(one, facts, compiler)


def of(one, facts, compiler=None):
    variant = one.result.variant
    compiler = compiler or variant.compiler
    return replace(
        one,
        result=replace(one.result, facts=facts, variant=replace(variant, compiler=compiler)),
    )


def new():
    """A recorded dump with intrinsics of two names that other releases have too; no IR."""
    one = dump("sm_80", 2)
    facts = one.result.facts
    first, second, *rest = facts.sync_ops
    sites = (replace(first, intrinsic="tirx.one"), replace(second, intrinsic="tirx.two"), *rest)
    cost = replace(facts.lowering, passes=())
    return of(one, replace(facts, sync_ops=sites, lowering=cost))


def test_between_releases_it_is_no_fact():
    """Each is kept, with its kind; nothing of the code differs."""
    changes = fact_changes(new(), as_old(new()))
    assert [change.kind for change in changes] == ["spelling"] * 3
    assert not code_differs(changes)


def test_within_one_release_it_is_a_fact():
    """A compiler that was built anew and names another intrinsic does something else."""
    here = new()
    changes = fact_changes(here, as_old(here, compiler=here.result.variant.compiler))
    assert [change.kind for change in changes] == ["fact"] * 3


@pytest.mark.parametrize(
    "more",
    [{"summary": "copy"}, {"summary": "gemm A_shared → C_local"}, {"op": "syncthreads"}],
    ids=["another operator", "one less is read", "another op"],
)
def test_what_is_more_than_a_spelling_is_a_fact(more):
    """Near misses: each says that something else is done."""
    assert code_differs(fact_changes(new(), as_old(new(), **more)))


def test_it_is_one_line():
    """A dialect once for all names; all that there is, each as a row, where all is asked for."""
    changes = fact_changes(new(), as_old(new()))
    table = change_table(changes, no_since="not asked for: --raw")
    assert (table.rows, table.folded) == ((), (LINE,))
    assert len(change_table(changes, show_all=True).rows) == 3
    again = [replace(changes[-1], left="tir.call_extern", right="tl.prefetch")] * 2
    assert change_table(again).folded == (
        "spelled otherwise, and no difference: tir.call_extern → tl.prefetch (2 times)",
    )


@pytest.fixture
def diff(tmp_path, capfdbinary, monkeypatch):
    """Run ``stagebench diff`` on two dumps."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("NO_COLOR", "1")

    def run(*two, options=()):
        folders = []
        for at, one in enumerate(two):
            folder = tmp_path / str(len(list(tmp_path.iterdir()))) / f"d{at}"
            folder.mkdir(parents=True)
            for name, content in dump_files(one.result, one.kernel_cu, None).items():
                (folder / name).write_bytes(content)
            folders.append(str(folder))
        code = main(["diff", *folders, *options])
        sys.stdout.flush()
        printed = capfdbinary.readouterr()
        return Ran(code, printed.out.decode(), printed.err.decode())

    return run


def test_diff_says_equal(diff):
    """One line, exit code 0, in a pull request too; JSON has each, marked; --all shows each."""
    two = new(), as_old(new())
    ran = diff(*two)
    assert (ran.code, ran.err) == (0, "")
    assert f"no fact changed\n– {LINE} –\n" in ran.out
    found = json.loads(diff(*two, options=["--json"]).out)
    assert found["equal"] is True
    assert [fact["kind"] for fact in found["facts"]] == ["spelling"] * 3
    shown = diff(*two, options=["--all"]).out
    assert "intrinsic tirx.one → tir.one" in shown
    assert "spelled otherwise" not in shown
    marked = diff(*two, options=["--markdown"]).out
    assert "no fact changed\n\n– spelled otherwise, and no difference: tirx. → tir." in marked


def test_diff_says_different(diff):
    """Where a fact differs besides, or nobody else spelled it."""
    here = new()
    assert diff(here, as_old(here, op="syncthreads")).code == 1
    ran = diff(here, as_old(here, compiler=here.result.variant.compiler))
    assert ran.code == 1
    assert "spelled otherwise" not in ran.out


def test_bisect_follows_it_where_it_is_named():
    """``*`` is every fact, and a spelling is none; its field spelled out asks for it."""
    two = new(), as_old(new())
    assert differing(*two, Watched(fact="*")) == ()
    assert differing(*two, Watched(fact="sync_ops[*]")) == ()
    assert len(differing(*two, Watched(fact="sync_ops[*].intrinsic"))) == 2
    same = as_old(new(), compiler=new().result.variant.compiler)
    assert len(differing(new(), same, Watched(fact="*"))) == 3
