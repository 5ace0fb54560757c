"""Is what two compilers only spell otherwise told in one line, and everything else still judged?"""

import msgspec
import pytest

from stagebench.gate.spelling import SPELLED
from stagebench.model import Compiler
from stagebench.model.verdict import Place
from stagebench.report.check_formats import render
from stagebench.report.check_view import print_verdict
from tests.gate.building import accepted, judged, replaced
from tests.gate_formats.building import change, of_variants, variant

HERE = Place(file="experiments/e.py", line=None)
FACTS = ("facts",)
LOOP = (*FACTS, "pipeline_loops", 0)
INTRINSIC = (*FACTS, "sync_ops", 0, "intrinsic")
SUMMARY = (*LOOP, "statements", 2, "summary")  # gemm A_shared, B_shared → C_local


def by(result, name="tilelang", version="0.1.9"):
    told = Compiler(name=name, version=version)
    return msgspec.structs.replace(
        result, variant=msgspec.structs.replace(result.variant, compiler=told)
    )


def paths(found):
    return [c.path for c in found.drifts], [c.path for c in found.allowed if c.rule == SPELLED]


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        (INTRINSIC, "tir.another_name"),
        (SUMMARY, "gemm"),
        ((*LOOP, "pass"), "tir.PlanThem"),
    ],
    ids=["an intrinsic", "a statement of few words", "a dialect"],
)
def test_a_spelling_is_no_drift_between_compilers(tmp_path, pointer, value):
    """Against a release and against an old baseline it is put aside; of one version it is drift."""
    now = accepted()
    if pointer[-1] == "pass":
        now = replaced(now, pointer, "tirx.PlanThem")
    then = replaced(now, pointer, value)
    for options in ({"elsewhere": HERE}, {}):
        found = judged(tmp_path / f"a{len(options)}", by(then), now, any_compiler=True, **options)
        assert found.status == "clean", found.drifts
        assert len(paths(found)[1]) == 1
        assert [c.kind for c in found.allowed if c.rule == SPELLED] == ["spelling"]
    found = judged(tmp_path / "c", then, now)
    assert (found.status, len(paths(found)[0]), paths(found)[1]) == ("drift", 1, [])


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        ((*LOOP, "pass"), "tirx.AnotherPass"),
        (SUMMARY, "copy"),
        (SUMMARY, "gemm A_shared → C_local"),
        (SUMMARY, "gemm A_shared, B_shared → C_local; compute → C_local"),
        ((*FACTS, "sync_ops", 0, "op"), "syncthreads"),
        ((*FACTS, "shared_buffers", 0, "versioned_by"), None),
    ],
    ids=["another pass", "another operator", "one less is read", "one more clause", "op", "gone"],
)
def test_what_is_more_than_a_spelling_is_drift(tmp_path, pointer, value):
    """Near misses: each says that something else is done."""
    now = accepted()
    then = replaced(now, pointer, value)
    found = judged(tmp_path / "a", by(then), now, any_compiler=True, elsewhere=HERE)
    assert found.status == "drift"
    assert paths(found)[1] == []


def test_the_experiments_own_rule_holds(tmp_path):
    """Whoever asks for an intrinsic exactly gets it, by any compiler."""
    then = replaced(accepted(), INTRINSIC, "tir.another_name")
    rules = {"sync_ops[*].intrinsic": "exact"}
    found = judged(tmp_path / "a", by(then), accepted(), rules, any_compiler=True, elsewhere=HERE)
    assert found.status == "drift"


def spelled(left, right, path="sync_ops[wgmma body #1].intrinsic"):
    return change(f"wgmma intrinsic {left} → {right}", path, left=left, right=right, rule=SPELLED,
                  severity="note", place=None)  # fmt: skip


def test_it_is_told_in_one_line(capsys):
    """A dialect once for all names, a text once for all sites, each with its variants."""
    words = ("copy A → s", "reduce"), ("copy A → s", "reduce f → acc")
    unsaid = (
        spelled("tir.a", "tirx.a"),
        spelled("tir.b", "tirx.b"),
        spelled("tir.call_extern", "tl.prefetch", "sync_ops[x #1].intrinsic"),
        spelled("tir.call_extern", "tl.prefetch", "sync_ops[x #2].intrinsic"),
        spelled(*words, path="pipeline_loops[k].statements.summary"),
    )
    found = of_variants(
        *(msgspec.structs.replace(variant(name=name), allowed=unsaid[:count])
          for name, count in (("g/a/n=1", 5), ("g/a/n=2", 1)))
    )  # fmt: skip
    assert found.exit_code == 0
    print_verdict(found, plain=True)
    text = " ".join(capsys.readouterr().out.split())
    assert (
        "spelled otherwise, and not judged: tir. → tirx. (2 names, 2 variants), "
        "tir.call_extern → tl.prefetch (1 variant), `reduce` → `reduce f → acc` (1 variant)"
    ) in text
    assert "more change" not in text
    for name in ("github", "sarif", "markdown"):
        assert render(found, name).count("spelled otherwise, and not judged") == 1, name


def test_the_same_change_at_several_sites_is_said_once(capsys):
    """With all variants that have it; other numbers at another site of one variant stay apart."""
    text = "wgmma_wait depth 1 → 0 in the body"
    sites = [change(text, f"sync_ops[wgmma_wait body #{n}].args[max_pending]") for n in (1, 2)]
    other = change("wgmma_wait depth 3 → 2 in the body",
                   "sync_ops[wgmma_wait body #3].args[max_pending]")  # fmt: skip
    found = of_variants(
        variant("drift", name="g/a/n=1", drifts=[*sites, other]),
        variant("drift", name="g/a/n=2", drifts=sites[:1]),
    )
    print_verdict(found, plain=True)
    out = capsys.readouterr().out
    assert out.count("wgmma_wait depth 1 → 0") == 1
    assert "drift in 2 variants  g/a/n=1, 2" in out
    assert "sync_ops[wgmma_wait body #*].args[max_pending]" in out
    assert out.count("wgmma_wait depth 3 → 2") == 1
    assert render(found, "github").count("::error") == 2
