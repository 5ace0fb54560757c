# ruff: noqa: ARG005 - an expectation takes a variant, used or not
"""Does an expectation hold only where it says so, and does a failing one show what it saw?"""

import pytest

from stagebench.errors import UsageError
from stagebench.gate.expectation import Member, evaluate, expect
from tests.dumping import building as dumps
from tests.gate.building import accepted


def members(arch="sm_90a", depths=(1, 2, 3)):
    return [
        Member(accepted(arch, depth), "wgmma<64>();\n",
               {"case": "gemm", "arch": arch, "num_stages": depth, "block_N": 64})
        for depth in depths
    ]  # fmt: skip


def one(test, member=None, **options):
    """The result of one expectation in one variant, or of none."""
    all_members = members() if member is None else [member]
    found, unanswered = evaluate([expect("words", test, **options)], all_members, "exp.py")
    return (*found[0], *unanswered)[0]


def seen(result):
    return {value.expression: value.value for value in result.seen}


def test_a_true_statement_holds_with_what_it_saw():
    """Every value that was read, as it was written."""
    result = one(lambda v: v.buffers["A_shared"].num_versions == v.num_stages)
    assert (result.outcome, result.error) == ("held", None)
    assert seen(result) == {"buffers['A_shared'].num_versions": "1", "num_stages": "1"}
    assert (result.place.file, result.place.line > 0) == ("exp.py", True)


def test_a_false_statement_fails_with_what_it_saw():
    """The values are the message."""
    result = one(lambda v: v.totals["wgmma"].static == 7 and v.launch.block == (1, 1, 1))
    assert result.outcome == "failed"
    assert seen(result) == {"totals['wgmma'].static": "1"}


@pytest.mark.parametrize(
    "answer", [None, 1, "yes", (True, "a stray comma"), [True]], ids=["none", "1", "s", "t", "l"]
)
def test_only_true_holds(answer):
    """A forgotten return or a stray comma is no pass."""
    result = one(lambda v: answer)
    assert result.outcome == "failed"
    assert "not True or False" in result.error


@pytest.mark.parametrize(
    ("test", "said"),
    [
        (lambda v: v.buffers["A_shred"].dtype, "there are: A_shared, B_shared"),
        (lambda v: v.buffers[7].dtype, "has 2 of them"),
        (lambda v: v.launch.girds, "did you mean 'grid'?"),
        (lambda v: v.totals["wgma"].static, "did you mean 'wgmma'?"),
        (lambda v: v.params["block_X"], "has no 'block_X'"),
        (lambda v: v.at(num_stages=9), "no variant beside this one at num_stages=9"),
        (lambda v: v.at(depth=2), "no axis 'depth'"),
        (lambda v: 1 // 0, "ZeroDivisionError"),
        (lambda v: v.no_such_thing, "AttributeError"),
        (lambda v: next(iter(())), "StopIteration"),
    ],
)
def test_what_raises_is_a_failure_with_the_exception(test, said):
    """Never a pass, and the message says what is there instead."""
    result = one(test)
    assert result.outcome == "raised"
    assert said in result.error


def test_totals_are_zero_for_what_was_looked_for_and_not_found():
    """An op of the taxonomy that is absent, and an unknown one by its name."""
    assert one(lambda v: v.totals["tma_store"].static == 0).outcome == "held"
    assert one(lambda v: v.totals["unknown:foo"].dynamic == 0).outcome == "held"
    assert one(lambda v: "tma_store" not in v.totals).outcome == "held"


def test_the_views_read_like_the_facts():
    """Loops, statements, barriers, sites, diagnostics, CUDA; names, slices and equality."""
    for test in (
        lambda v: [s.role for s in v.loops["k"].statements] == ["producer", "producer", "consumer"],
        lambda v: len(v.buffers) == 2 and v.buffers.names() == ["A_shared", "B_shared"],
        lambda v: v.barriers["mbarrier"].count == 1,
        lambda v: {site.op for site in v.sync_ops} >= {"tma_load", "mbarrier_wait"},
        lambda v: len(v.diagnostics) == 0,
        lambda v: "wgmma<64>" in v.kernel_cu,
        lambda v: v.facts.shared_memory.fits is True and v.shared_memory.fits,
        lambda v: v.totals["wgmma"] == v.at(num_stages=3).totals["wgmma"],
        lambda v: v.buffers[-1].name == v.buffers[1:][0].name == "B_shared",
        lambda v: v.pass_configs.get("tl.x") is None and v.params["threads"] == 128,
        lambda v: (v.case, v.arch, v.kernel, v.outcome, v.failure) == (
            "gemm", "sm_90a", "gemm", "lowered", None,
        ),
        lambda v: v.machine.registers == v.facts.machine.registers,
    ):  # fmt: skip
        result = one(test)
        assert result.outcome == "held", (result.error, seen(result))


def test_a_neighbour_is_named_in_what_was_seen():
    """Which of the two values is whose."""
    result = one(lambda v: v.launch.grid == v.at(num_stages=2, arch="sm_90a").loops[0].extent)
    assert "at(num_stages=2, arch='sm_90a').loops[0].extent" in seen(result)


def test_a_failed_variant_has_no_facts_but_an_outcome():
    """A known failure can be expected; reading a fact of it raises with the compiler's line."""
    failed = Member(dumps.failed(), None, {"case": "gemm"})
    assert one(lambda v: v.outcome == "failed", failed).outcome == "held"
    result = one(lambda v: v.buffers[0].dtype == "float16", failed)
    assert result.error == (
        "LookupError: the variant has no facts, it failed: InternalError: Check failed"
    )


def test_where_selects_and_an_unanswered_expectation_fails():
    """Lists are alternatives; ``True`` is not ``1``; what no variant has is no pass."""
    chosen = [expect("w", lambda v: True, where={"num_stages": [1, 3]})]
    found, unanswered = evaluate(chosen, members(), "exp.py")
    assert ([len(results) for results in found], unanswered) == ([1, 0, 1], ())
    for where in ({"num_stages": 9}, {"num_stages": True}, {"depth": 1}):
        _, unanswered = evaluate([expect("w", lambda v: True, where=where)], members(), "e.py")
        assert [(r.outcome, r.error.startswith("no variant has")) for r in unanswered] == [
            ("failed", True)
        ]


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ({"kernel": "x"}, "kernel='x': there is no kernel, but case, arch, num_stages, block_N"),
        ({"num_stages": 9}, "num_stages=9: num_stages is 1 or 2 or 3"),
        ({"case": "gemm", "num_stages": True}, "num_stages=True: num_stages is 1 or 2 or 3"),
    ],
)
def test_what_where_could_have_meant(where, said):
    """A name or a value that is not there is answered by those that are."""
    _, (unanswered,) = evaluate([expect("w", lambda v: True, where=where)], members(), "e.py")
    assert unanswered.error.endswith(said)


def test_where_each_is_there_but_not_together():
    """Then neither is to blame."""
    two = [*members("sm_80", (1,)), *members("sm_90a", (2,))]
    where = {"arch": "sm_80", "num_stages": 2}
    _, (unanswered,) = evaluate([expect("w", lambda v: True, where=where)], two, "e.py")
    assert unanswered.error.endswith("num_stages=2: each is there, but not together")


def test_long_and_many_values_are_cut():
    """A message stays readable."""
    result = one(lambda v: [s.op for s in v.sync_ops] * 99 == [s.cuda_line for s in v.sync_ops])
    assert len(result.seen) == 40


@pytest.mark.parametrize("wrong", [("", lambda v: True), ("words", True), (lambda v: True, "w")])
def test_words_and_a_function(wrong):
    """What is no expectation is said where it is written."""
    with pytest.raises(UsageError):
        expect(*wrong)


def test_ending_the_process_is_raised():
    """An expectation can't end the check with an exit code of its own."""
    result = one(lambda v: raise_it(SystemExit(0)))
    assert (result.outcome, result.error) == ("raised", "SystemExit: 0")
    with pytest.raises(KeyboardInterrupt):
        one(lambda v: raise_it(KeyboardInterrupt()))


def raise_it(error):
    raise error
