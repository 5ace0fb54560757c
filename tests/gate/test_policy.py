"""Which rule judges a fact, and what does each rule allow?"""

import pytest

from stagebench.errors import UsageError
from stagebench.gate.allowance import Change, parse_action
from stagebench.gate.fact_pattern import matches, specificity
from stagebench.gate.fact_schema import fact_templates
from stagebench.gate.policy import make_policy
from stagebench.model.facts import SYNC_OPS


def change(left, right, path="shared_memory.dynamic_bytes", presence="both", **more):
    return Change(
        path=path, group="memory", kind="fact", presence=presence, follows=False,
        text="", left=left, right=right, **more,
    )  # fmt: skip


def allows(action, left, right, **more):
    return parse_action(action, "here").judge(change(left, right, **more))[0]


@pytest.mark.parametrize(
    ("pattern", "path", "yes"),
    [
        ("*", "launch.grid", True),
        ("launch", "launch.grid", True),
        ("launch", "launch.params[A].dtype", True),
        ("launch", "launcher.grid", False),
        ("sync_totals[wgmma]", "sync_totals[wgmma].static", True),
        ("sync_totals[wgmma]", "sync_totals[wgmma_wait].static", False),
        ("sync_totals[wgmma*].*", "sync_totals[wgmma_wait].static", True),
        ("shared_buffers[*].num_versions", "shared_buffers[A[0]].num_versions", True),
        ("*.num_versions", "shared_buffers[A].num_versions", True),
        ("shared_buffers[?].dtype", "shared_buffers[A].dtype", False),
    ],
)
def test_a_pattern_names_a_fact_and_what_is_below_it(pattern, path, yes):
    """Only ``*`` is special; brackets and dots are themselves."""
    assert matches(pattern, path) is yes


def test_the_more_is_spelt_out_the_more_specific():
    """Stars count for nothing."""
    assert specificity("sync_totals[wgmma].static") > specificity("sync_totals[*].static")
    assert specificity("*") == 0


@pytest.mark.parametrize(
    ("action", "left", "right", "yes"),
    [
        ("exact", 1, 2, False),
        ("ignore", 1, 2, True),
        ("may change", "a", "b", True),
        ("may shrink", 96, 64, True),
        ("may shrink", 64, 96, False),
        ("may shrink", "n * 2", "n", False),
        ("may shrink", (8, 8, 1), (8, 4, 1), True),
        ("may shrink", (8, 8, 1), (4, 16, 1), False),
        ("may shrink", (8, 8), (8,), False),
        ("may shrink", True, False, False),
        ("may grow", 64, 96, True),
        ("may grow", 96, 64, False),
        ("may grow up to 10 %", 100, 110, True),
        ("may grow up to 10%", 100, 111, False),
        ("may grow up to 10 %", 0, 1, False),
        ("may grow up to 10 %", 100, 90, False),
        ("may shrink, may grow up to 10 %", 100, 90, True),
        ("MAY  Shrink", 2, 1, True),
        ("must not vanish", 64, 32, True),
        ("must not vanish", 64, 0, False),
        ("must not vanish", 64, None, False),
        ("must not vanish, may shrink", 64, 32, True),
        ("must not vanish, may shrink", 64, 96, False),
        ("must not vanish, may shrink", 64, 0, False),
        ("may vanish", 64, 0, True),
        ("may vanish", 64, 32, False),
        ("may appear", 0, 3, True),
        ("may appear", 1, 3, False),
        ("must appear", 3, 0, False),
        ("must appear", 3, 5, True),
    ],
)
def test_what_a_rule_allows(action, left, right, yes):
    """Sizes compare number by number; what is no number is never smaller."""
    assert allows(action, left, right) is yes


def test_vanishing_is_seen_by_presence_too():
    """A buffer that is gone has no value on the right."""
    assert not allows("must not vanish", "2 × 64", None, presence="left")
    assert allows("may vanish", "2 × 64", None, presence="left")
    assert allows("may appear", None, "2 × 64", presence="right")


@pytest.mark.parametrize(
    ("action", "near"),
    [("may shrnk", "may shrink"), ("exakt", "exact"), ("must not vanisch", "must not vanish"),
     ("may grow up to X %", "may grow"), ("may grow up to -3 %", "may grow"), ("", "there are")],
)  # fmt: skip
def test_a_misspelt_rule_is_an_error_with_the_nearest(action, near):
    """It never passes as a rule that allows nothing or everything."""
    with pytest.raises(UsageError) as caught:
        parse_action(action, "x.py, launch")
    assert "x.py, launch" in caught.value.message
    assert near in caught.value.hint


@pytest.mark.parametrize("action", ["exact, may shrink", "ignore, exact", "may grow, may grow"])
def test_rules_that_contradict_each_other_are_an_error(action):
    """``exact`` and ``ignore`` stand alone, and nothing is said twice."""
    with pytest.raises(UsageError):
        parse_action(action, "here")


@pytest.mark.parametrize(
    ("pattern", "hint"),
    [
        ("shared_bufers[*].num_versions", "shared_buffers[*].num_versions"),
        ("sync_totals[wgma].*", "sync_totals[wgmma].*"),
        ("launch.girds", "launch.grid"),
        ("lowering.seconds", "seconds"),
        ("nothing.like.it", "facts are named"),
    ],
)
def test_a_pattern_that_names_no_fact_is_an_error(pattern, hint):
    """A misspelt pattern must not pass silently."""
    with pytest.raises(UsageError) as caught:
        make_policy(("experiment", "x.py", {pattern: "ignore"}))
    assert hint in (caught.value.hint or "")


@pytest.mark.parametrize(
    "pattern",
    ["*", "launch", "launch.params[A].dtype", "launch.params.order", "sync_ops[*].line",
     "sync_ops[cp_async_wait prologue #2].args[max_pending]", "sync_totals[unknown:foo].static",
     "sync_totals[*].dynamic", "machine.registers", "diagnostics[unfit*]", "kernel_cu",
     "pipeline_loops[k].statements.stage", "barriers[*].guards", "variant.params[block_M]",
     "failure.message", "outcome", "shared_buffers[A_*]"],
)  # fmt: skip
def test_every_kind_of_fact_can_be_named(pattern):
    """Names of the kernel are free; names of the schema are not."""
    make_policy(("experiment", "x.py", {pattern: "may change"}))


def test_every_op_of_the_taxonomy_can_be_named():
    """The ops that the compiler's intrinsics map to are all known."""
    from stagebench.worker.tilelang import intrinsics

    mapped = {
        op
        for value in vars(intrinsics).values()
        if isinstance(value, dict)
        for entry in value.values()
        for op in getattr(entry, "ops", ())
    }
    assert {op for op in mapped if not op.startswith("unknown")} <= set(SYNC_OPS)
    assert f"sync_totals[{SYNC_OPS[0]}].static" in fact_templates()


def judge(policy, **more):
    allowed, rule, _ = policy.judge(change(64, 32, **more))
    return allowed, rule.pattern, rule.source


def test_the_most_specific_rule_of_a_source_wins():
    """Whatever their order."""
    rules = {"shared_memory.dynamic_bytes": "may shrink", "shared_memory": "exact", "*": "ignore"}
    for order in (rules, dict(reversed(rules.items()))):
        policy = make_policy(("experiment", "x.py", order))
        assert judge(policy) == (True, "shared_memory.dynamic_bytes", "experiment")
        assert judge(policy, path="shared_memory.fits") == (False, "shared_memory", "experiment")
        assert judge(policy, path="launch.grid") == (True, "*", "experiment")


def test_a_nearer_source_wins_over_a_more_specific_pattern():
    """Case over experiment over pyproject over defaults."""
    policy = make_policy(
        ("experiment", "case", {"launch": "exact"}),
        ("experiment", "x.py", {"launch.grid": "ignore"}),
        ("pyproject", "pyproject", {"shared_memory.dynamic_bytes": "ignore"}),
    )  # fmt: skip
    assert judge(policy, path="launch.grid") == (False, "launch", "experiment")
    assert judge(policy) == (True, "shared_memory.dynamic_bytes", "pyproject")
    assert judge(policy, path="shared_memory.fits") == (False, "*", "default")


def test_of_two_equally_specific_patterns_the_later_wins():
    """As in .gitignore."""
    policy = make_policy(("experiment", "x", {"*h.grid": "exact", "launch*d": "ignore"}))
    assert judge(policy, path="launch.grid")[0] is True


def test_diagnostics_may_vanish_and_only_notes_may_be_new():
    """A new warning is drift; a changed one too."""
    policy = make_policy()
    path = "diagnostics[unfit]"
    assert not policy.judge(change(None, "w", path=path, presence="right"))[0]
    assert policy.judge(change(None, "w", path=path, presence="right", note=True))[0]
    assert policy.judge(change("w", None, path=path, presence="left"))[0]
    assert not policy.judge(change("w", "v", path=f"{path}.message"))[0]


RECORDS = {
    "barriers[mbar full]": ("barriers[*].count", "barriers[*].*", "barriers[mbar*].kind"),
    "sync_ops[tma_load producer #1]": ("sync_ops[tma_load *].static",),
    "launch.tma_descriptors[A_desc]": ("launch.tma_descriptors[*].box",),
    "shared_buffers[A_shared]": ("shared_buffers[*].num_versions",),
}


@pytest.mark.parametrize("path", RECORDS)
def test_a_field_that_must_not_vanish_holds_its_record(path):
    """The change names the record alone; a looser rule for all facts does not hide it."""
    gone = change("x", None, path=path, presence="left")
    for pattern in RECORDS[path]:
        for action in ("must not vanish", "must appear"):
            rules = {"*": "may change", pattern: action}
            allowed, rule, why = make_policy(("experiment", "x", rules)).judge(gone)
            assert (allowed, rule.pattern, why) == (False, pattern, "must not vanish")
        nearer = make_policy(
            ("experiment", "case", {"*": "may change"}),
            ("experiment", "x", {pattern: "must not vanish"}),
        )
        assert nearer.judge(gone)[0], "a nearer source still wins"
    other = change("x", None, path="pipeline_loops[k]", presence="left")
    assert make_policy(("experiment", "x", rules)).judge(other)[0]


def test_a_new_record_is_asked_for_where_all_its_fields_are():
    """One field that must appear says nothing of the others: they are exact."""
    new = change(None, "x", path="barriers[mbar full]", presence="right")
    for pattern, allowed in (("barriers[*].count", False), ("barriers[*].*", True)):
        policy = make_policy(("experiment", "x", {pattern: "must appear"}))
        assert policy.judge(new)[0] is allowed
