"""How does a variant stand against its baseline: statuses, places, renames, what is only told?"""

import json

import msgspec
import pytest

from stagebench.gate.baseline_line import find_line, forget_documents
from stagebench.gate.json_lines import value_lines
from stagebench.model import Compiler, SyncTotal
from tests.dumping import building as dumps
from tests.gate.building import accepted, facts_with, judged, plain, write


@pytest.fixture
def place(tmp_path):
    forget_documents()
    return tmp_path / "baseline"


def with_variant(result, **changes):
    return msgspec.structs.replace(
        result, variant=msgspec.structs.replace(result.variant, **changes)
    )


def test_equal_is_clean(place):
    """The same facts and text: nothing to say."""
    found = judged(place, accepted(), accepted())
    assert (found.status, found.note, found.drifts, found.allowed) == ("clean", None, (), ())


def test_a_vanished_op_says_so_and_where(place):
    """Words, path, values, the rule, and the line of the value in the baseline."""
    then = accepted()
    totals = {k: v for k, v in then.facts.sync_totals.items() if k != "wgmma"}
    found = judged(place, then, facts_with(then, sync_totals=totals))
    static = next(d for d in found.drifts if d.path == "sync_totals[wgmma].static")
    assert (static.text, static.left, static.right) == ("wgmma call sites 1 → 0", 1, 0)
    assert (static.rule.action, static.rule.source, static.severity) == (
        "exact",
        "default",
        "error",
    )
    assert static.place.file == "dumps/x/facts.json"
    line = (place / "facts.json").read_text().splitlines()[static.place.line - 1]
    assert line.strip() == '"static": 1,'


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_every_line_is_that_of_the_value(place, arch):
    """For every fact of a real baseline the annotated line holds the field and its value."""
    result = accepted(arch, 3)
    write(place, result)
    for path, name, value in [
        ("shared_buffers[B_shared].num_versions", "facts.json", '"num_versions": 3'),
        ("pipeline_loops[k].scheduled_by", "facts.json", '"scheduled_by": '),
        ("pipeline_loops[k].statements.order", "facts.json", '"order": '),
        ("shared_memory.dynamic_bytes", "facts.json", '"dynamic_bytes": '),
        ("launch.grid", "launch.json", '"grid": '),
        ("launch.params[C].dtype", "launch.json", '"dtype": '),
        ("variant.params[block_M]", "variant.json", '"block_M": 128'),
        ("variant.arch", "variant.json", '"arch": '),
        ("outcome", "variant.json", '"outcome": "lowered"'),
    ]:
        file, line = find_line(place, path)
        assert file == name, path
        assert value in (place / file).read_text().splitlines()[line - 1], path
    file, line = find_line(place, "sync_totals[no_such_op].static")
    assert '"sync_totals"' in (place / file).read_text().splitlines()[line - 1]


def test_a_site_is_found_by_its_number(place):
    """``#2`` is the second site of the place."""
    result = accepted("sm_80", 3)
    write(place, result)
    lines = (place / "facts.json").read_text().splitlines()
    found = [find_line(place, f"sync_ops[cp_async_commit prologue #{n}].static")[1] for n in (1, 2)]
    sites = [i + 1 for i, text in enumerate(lines) if '"op": "cp_async_commit"' in text]
    assert [line - 3 for line in found] == sites[:2]


def test_lines_of_any_json():
    """Nested, escaped, on one line or many: each value is on its line."""
    text = '{"a": [1, {"b\\n": 2}],\n "c": {}, "d":\n [[], 3]}\n'
    lines = value_lines(text)
    assert (lines[()], lines["a",], lines["a", 0], lines["a", 1, "b\n"]) == (1, 1, 1, 1)
    assert (lines["c",], lines["d",], lines["d", 0], lines["d", 1]) == (2, 2, 3, 3)


def test_failing_now_and_lowering_now(place, tmp_path):
    """Either way is more than drift, with the compiler's own words."""
    lowered, failed = dumps.lowered(), dumps.failed()
    now = judged(place, lowered, failed)
    assert now.status == "failed_now"
    assert now.note == (
        "lowered before and fails now in tl.LowerTileOp: InternalError: Check failed"
    )
    assert [d.path for d in now.drifts] == ["outcome"]
    other = judged(tmp_path / "other", failed, lowered)
    assert other.status == "lowers_now"
    assert "failed before in tl.LowerTileOp" in other.note


def test_failing_alike_is_clean_and_otherwise_is_drift(place, tmp_path):
    """A known failure is a baseline like any other."""
    failed = dumps.failed()
    assert judged(place, failed, failed).status == "clean"
    other = msgspec.structs.replace(
        failed, failure=msgspec.structs.replace(failed.failure, message="Another: error")
    )
    found = judged(tmp_path / "other", failed, other)
    assert found.status == "drift"
    assert [d.path for d in found.drifts] == ["failure.message"]


def test_another_compiler_is_not_comparable_but_shown(place, tmp_path):
    """What differs is there to read; it is judged only if that is asked for."""
    then = with_variant(accepted(), compiler=Compiler(name="tilelang", version="0.1.14"))
    now = facts_with(accepted(), sync_totals={"wgmma": SyncTotal(static=1, dynamic=1)})
    found = judged(place, then, now)
    assert found.status == "not_comparable"
    assert found.note == "baseline by tilelang 0.1.14, now tilelang 0.1.15"
    assert found.drifts
    assert judged(tmp_path / "b", then, now, any_compiler=True).status == "drift"
    assert judged(tmp_path / "c", then, accepted(), any_compiler=True).status == "clean"


def test_names_and_lines_are_no_difference_of_the_code(place):
    """A renamed buffer and loop, moved lines, another file and kernel name: clean, and told."""
    then = accepted()
    text = json.dumps(plain(then)).replace("A_shared", "tile_a").replace('"gemm.py"', '"other.py"')
    text = text.replace("gemm_kernel", "renamed_kernel")
    now = msgspec.json.decode(text, type=type(then))
    sites = tuple(
        msgspec.structs.replace(site, line=(site.line or 0) + 5) for site in now.facts.sync_ops
    )
    now = with_variant(facts_with(now, sync_ops=sites), kernel="moved.py:gemm")
    found = judged(place, then, now)
    assert (found.status, found.drifts) == ("clean", ())
    assert found.note == "its baseline is recorded under the name gemm"
    assert {change.rule.pattern for change in found.allowed} >= {"renames", "moved lines"}


def test_a_rule_that_spells_a_name_or_line_reaches_it(place, tmp_path):
    """Who wants lines held says so with the field's name; a rule for everything does not."""
    then = accepted()
    sites = tuple(
        msgspec.structs.replace(site, line=(site.line or 0) + 5) for site in then.facts.sync_ops
    )
    now = facts_with(then, sync_ops=sites)
    assert judged(place, then, now, {"sync_ops": "exact"}).status == "clean"
    assert judged(tmp_path / "b", then, now, {"sync_ops[*].line": "exact"}).status == "drift"


def test_cuda_text_is_told_and_held_only_on_request(place, tmp_path):
    """A comment in the generated text is no drift."""
    texts = (dumps.CUDA, "// a comment\n" + dumps.CUDA)
    found = judged(place, accepted(), accepted(), cuda=texts)
    assert found.status == "clean"
    assert [change.text for change in found.allowed] == ["kernel.cu: 0 lines became 1"]
    held = judged(tmp_path / "b", accepted(), accepted(), {"kernel_cu": "exact"}, cuda=texts)
    assert [(d.path, d.place.file, d.place.line) for d in held.drifts] == [
        ("kernel_cu", "dumps/x/kernel.cu", 1)
    ]


def test_a_default_that_changed_is_another_kernel(place):
    """The parameters of the variant are held too."""
    now = accepted()
    now = with_variant(now, params={**now.variant.params, "block_M": 64})
    found = judged(place, accepted(), now)
    assert [d.text for d in found.drifts] == ["parameter block_M 128 → 64"]


def test_what_was_asked_for_this_check_alone_is_no_finding(place):
    """``--pass-config`` differs from the baseline on purpose."""
    now = with_variant(accepted(), pass_configs={"tl.disable_tma_lower": True})
    assert judged(place, accepted(), now).status == "drift"
    asked = frozenset({"tl.disable_tma_lower"})
    assert judged(place, accepted(), now, asked=asked).status == "clean"


def test_what_must_appear_is_missed_though_the_baseline_lacks_it_too(place, tmp_path):
    """Equal to the baseline is not enough."""
    rules = {"sync_totals[tma_store]": "must appear"}
    found = judged(place, accepted(), accepted(), rules)
    assert found.status == "drift"
    assert [(d.text, d.why) for d in found.drifts] == [
        ("sync_totals[tma_store] is not there", "must appear")
    ]
    there = {"sync_totals[wgmma].*": "must appear", "shared_buffers[A_*]": "must appear",
             "barriers[mbarrier full]": "must appear", "launch.block": "must appear"}  # fmt: skip
    assert judged(tmp_path / "b", accepted(), accepted(), there).status == "clean"


def test_wgmma_may_not_vanish(place):
    """The rule is named with the drift, and why."""
    then = accepted()
    totals = {k: v for k, v in then.facts.sync_totals.items() if k != "wgmma"}
    rules = {"sync_totals[wgmma].*": "must not vanish"}
    found = judged(place, then, facts_with(then, sync_totals=totals), rules)
    drift = next(d for d in found.drifts if d.path == "sync_totals[wgmma].static")
    assert (drift.why, drift.rule.pattern) == ("must not vanish", "sync_totals[wgmma].*")
