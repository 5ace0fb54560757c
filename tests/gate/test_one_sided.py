"""Is what only one of two compilers says told apart from drift, and nothing else with it?"""

import msgspec
import pytest

from stagebench.gate.one_sided import ONE_SIDED
from stagebench.model import Compiler, Failure
from stagebench.model.verdict import Place
from stagebench.report.check_formats import render
from stagebench.report.check_view import print_verdict
from tests.gate.building import accepted, judged, replaced
from tests.gate_formats.building import change, of_variants, variant

HERE = Place(file="experiments/e.py", line=None)
BUFFER = ("facts", "shared_buffers", 0)


def against(tmp_path, then, now, rules=None, **options):
    return judged(tmp_path / "b", then, now, rules, elsewhere=HERE, **options)


def by(result, name, **params):
    told = msgspec.structs.replace(
        result.variant,
        compiler=Compiler(name=name, version="1"),
        params={**result.variant.params, **params},
    )
    return msgspec.structs.replace(result, variant=told)


UNSAID = {
    "offset": (*BUFFER, "offset_bytes"),
    "alignment": (*BUFFER, "alignment_bytes"),
    "deepest": ("facts", "shared_memory", "max_num_stages"),
    "guards": ("facts", "barriers", 0, "guards"),
    "frontier": ("facts", "machine", "frontier", 0, "max_num_stages"),
    "occupancy": ("facts", "machine", "occupancy"),
    "walk": ("facts", "machine", "walk"),
}


@pytest.mark.parametrize("pointer", UNSAID.values(), ids=UNSAID)
@pytest.mark.parametrize("older", [True, False])
def test_what_one_compiler_does_not_say(tmp_path, pointer, older):
    """Not known on one side, whichever: nothing is compared, and it is named."""
    whole = accepted()
    less = replaced(whole, pointer, None)
    assert less is not None
    found = against(tmp_path, *((less, whole) if older else (whole, less)))
    assert (found.status, found.drifts) == ("clean", ())
    assert found.allowed
    assert {(c.rule, c.why, c.place) for c in found.allowed} == {
        (ONE_SIDED, "one compiler does not say it", None)
    }


@pytest.mark.parametrize("pointer", UNSAID.values(), ids=UNSAID)
def test_a_baseline_that_says_less_is_drift(tmp_path, pointer):
    """Against baselines it is as ever: a fact that was known has to be known."""
    whole = accepted()
    found = judged(tmp_path / "b", replaced(whole, pointer, None), whole)
    assert found.status == "drift"


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        ((*BUFFER, "offset_bytes"), 512),
        ((*BUFFER, "versioned_by"), None),
        (("facts", "launch", "cluster"), [2, 1, 1]),
        (("facts", "pipeline_loops", 0, "pass"), None),
        (("facts", "machine"), None),
    ],
    ids=["both say it", "nobody versions it", "a cluster", "nobody scheduled", "not assembled"],
)
def test_what_both_say_is_drift(tmp_path, pointer, value):
    """Another value, or a ``None`` that is an answer; a place in the repository is pointed at."""
    whole = accepted()
    found = against(tmp_path, replaced(whole, pointer, value), whole)
    assert found.status == "drift"
    assert {c.place for c in found.drifts} == {HERE}


def test_an_opcode_that_is_gone_is_drift(tmp_path):
    """The histogram was looked at on both sides: what is not in it is not there."""
    whole = accepted()
    histogram = dict(list(whole.facts.machine.histogram.items())[1:])
    less = replaced(whole, ("facts", "machine", "histogram"), histogram)
    assert against(tmp_path, less, whole).status == "drift"


def test_the_experiments_own_rule_comes_first(tmp_path):
    """Whoever says that a fact must not vanish means it."""
    whole = accepted()
    less = replaced(whole, UNSAID["deepest"], None)
    rules = {"shared_memory.max_num_stages": "must not vanish"}
    assert against(tmp_path, whole, less, rules).status == "drift"


def test_another_kernel_is_not_comparable(tmp_path):
    """The same parameter with two values is two kernels: said so, and none of it is judged."""
    whole = accepted()
    now, then = by(whole, "tilelang", block_K=64), by(whole, "tvm", block_K=32)
    found = against(tmp_path, then, replaced(now, ("facts", "launch", "cluster"), [2, 1, 1]),
                    any_compiler=True)  # fmt: skip
    assert (found.status, found.drifts, found.allowed) == ("not_comparable", (), ())
    assert found.note == (
        "another kernel: block_K 32 there and 64 here; give both the same, by the case's params"
    )
    assert judged(tmp_path / "c", then, now, any_compiler=True).status == "drift"


def test_a_parameter_that_one_kernel_has(tmp_path):
    """It is named, and the rest is compared; so are the pass configs of two compilers."""
    whole = accepted()
    then, now = by(whole, "tvm", order=()), by(whole, "tilelang", warps=4)
    then = replaced(then, ("variant", "pass_configs"), {"tirx.use_async_copy": True})
    found = against(tmp_path, then, now, any_compiler=True)
    assert found.status == "clean"
    assert {c.path for c in found.allowed} == {
        "variant.params[order]", "variant.params[warps]",
        "variant.pass_configs[tirx.use_async_copy]",
    }  # fmt: skip
    found = against(tmp_path, by(then, "tilelang"), now, any_compiler=True)
    assert [c.path for c in found.drifts] == ["variant.pass_configs[tirx.use_async_copy]"]


@pytest.mark.parametrize("ours", [True, False])
def test_a_failure_of_one_compiler(tmp_path, ours):
    """It is said whose it is; neither side is earlier than the other."""
    whole = by(accepted(), "tvm")
    lost = msgspec.structs.replace(
        whole, outcome="failed", facts=None,
        failure=Failure(kind="compile_error", message="no layout"),
    )  # fmt: skip
    found = against(tmp_path, *((whole, lost) if ours else (lost, whole)), any_compiler=True)
    assert (found.status, found.note) == (
        ("failed_now", "tvm 1 lowers it; it fails here: no layout") if ours
        else ("lowers_now", "tvm 1 fails: no layout")
    )  # fmt: skip


@pytest.mark.parametrize(
    ("other", "status"),
    [
        ({}, "fails_on_both"),
        ({"pass_name": "tirx.X", "detail": "at line 3"}, "fails_on_both"),
        ({"message": "no layout at all"}, "drift"),
        ({"kind": "crash"}, "drift"),
    ],
)
def test_a_failure_of_both(tmp_path, other, status):
    """With the same message nothing was compared; that it is another one is a difference."""
    why = Failure(kind="compile_error", message="no layout\nmore", pass_name="tir.X")  # noqa: S106
    then, now = (
        msgspec.structs.replace(
            by(accepted(), "tvm"), outcome="failed", facts=None, failure=failure
        )
        for failure in (why, msgspec.structs.replace(why, **other))
    )
    found = against(tmp_path, then, now, any_compiler=True)
    assert found.status == status
    if status == "fails_on_both":
        where = now.failure.pass_name
        assert found.note == (
            f"fails on both sides in {where}, with the same message: no layout; "
            "nothing was compared"
        )
        assert (found.drifts, found.allowed) == ((), ())
        assert judged(tmp_path / "c", then, then).status == "clean"  # a baseline: as accepted


def test_it_is_told_once_at_the_end(capsys):
    """By path, whatever the buffer; and a note in every format that has notes."""
    unsaid = tuple(
        change(f"{path} – → 0", path, left=None, right=0, rule=ONE_SIDED, severity="note",
               place=None)
        for path in ("shared_buffers[A].offset_bytes", "shared_buffers[B].offset_bytes",
                     "variant.params[order]")
    )  # fmt: skip
    found = of_variants(msgspec.structs.replace(variant(), allowed=unsaid), variant(name="g/x"))
    said = (
        "not compared, since only one of the two compilers says it: shared_buffers[*].offset_bytes,"
    )
    assert found.exit_code == 0
    print_verdict(found, plain=True)
    text = " ".join(capsys.readouterr().out.split())
    assert text.count(f"{said} variant.params[order]") == 1
    assert "more changes are allowed" not in text
    for name in ("github", "sarif", "markdown"):
        assert render(found, name).count(said.rpartition(":")[0]) >= 1, name
    print_verdict(of_variants(variant()), plain=True)
    assert "not compared" not in capsys.readouterr().out
