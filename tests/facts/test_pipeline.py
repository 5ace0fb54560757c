"""Did the depth take effect, who scheduled the loop, and if nobody, why?"""

import pytest

from stagebench.facts.buffers import shared_buffers
from stagebench.facts.pipeline import pipeline_loops
from tests.facts.building import (
    GEMM,
    PLANNED,
    SPECIALIZED,
    buffer,
    nest,
    observation,
    request,
    site,
)

COPIES = nest("k", 15, site("cp_async_copy"))


def schedule(*body, versions=2, **changes):
    """The one loop of a kernel of that body whose tiles have so many versions."""
    leading = (versions,) if versions > 1 else ()
    seen = observation(
        *body,
        requests=[request(**changes)],
        buffers=[buffer("lhs", leading=leading), buffer("rhs", leading=leading)],
    )
    (loop,) = pipeline_loops(seen, shared_buffers(seen))
    return loop


def test_a_software_pipeline():
    """Stage, order and commit group of each statement; the planner is named; all as asked."""
    loop = schedule(COPIES, **PLANNED)
    assert (loop.loop_var, loop.extent, loop.num_stages, loop.line) == ("k", 16, 2, 10)
    assert (loop.scheduled_by, loop.pass_name) == ("software_pipeline", "tl.PipelinePlanning")
    assert (loop.pipeline_depth, loop.explicit_schedule, loop.reason) == (2, False, None)
    assert [
        (s.summary, s.stage, s.order, s.async_group, s.role, s.line) for s in loop.statements
    ] == [
        ("copy A → lhs", 0, 0, 0, None, 11),
        ("copy B → rhs", 0, 1, 0, None, 12),
        ("gemm lhs, rhs → acc", 1, 2, None, None, 13),
    ]


def test_warp_specialisation():
    """The copies are the producer's, the rest the consumer's; there is no stage and no depth."""
    loop = schedule(**SPECIALIZED)
    assert (loop.scheduled_by, loop.pass_name) == (
        "warp_specialization", "tl.ProducerConsumerWarpSpecialized",
    )  # fmt: skip
    assert (loop.pipeline_depth, loop.reason) == (None, None)
    assert [(s.role, s.stage, s.order, s.async_group) for s in loop.statements] == [
        ("producer", None, None, None),
        ("producer", None, None, None),
        ("consumer", None, None, None),
    ]


def test_warp_specialisation_whose_sides_are_not_known():
    """Where the producer's loop was not told apart no statement is given a role."""
    loop = schedule(**{**SPECIALIZED, "producer_writes": ()})
    assert [s.role for s in loop.statements] == [None] * 3
    assert loop.reason is None


def test_a_plan_that_was_discarded_schedules_nothing():
    """A plan that no pass injected leaves no stage on any statement, and the reason names it."""
    loop = schedule(**{**PLANNED, "injected_by": None})
    assert (loop.scheduled_by, loop.pass_name, loop.pipeline_depth) == ("none", None, None)
    assert [(s.stage, s.order, s.async_group) for s in loop.statements] == [(None,) * 3] * 3
    assert (
        loop.reason == "a plan was made by tl.PipelinePlanning and discarded: no pass injected it"
    )


def test_a_plan_shorter_than_the_body_does_not_run_over():
    """A list that is too short gives nothing to the statements behind its end."""
    loop = schedule(COPIES, **{**PLANNED, "stage": (0,), "order": (0,), "async_groups": None})
    assert [(s.stage, s.order, s.async_group) for s in loop.statements] == [
        (0, 0, None), (None, None, None), (None, None, None),
    ]  # fmt: skip


EXPLICIT = {"explicit_order": (0, 1, 2), "explicit_stage": (0, 0, 1)}
ONE = {"versions": 1}


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        (PLANNED, None),
        ({**PLANNED, **EXPLICIT}, "explicit order and stage lists override num_stages"),
        (
            {**PLANNED, **ONE},
            "no buffer has more than one version: copies can't run ahead of their use",
        ),
        ({**PLANNED, **ONE, "num_stages": 1}, None),
        ({**PLANNED, **ONE, "num_stages": None}, None),
        (SPECIALIZED, None),
        ({**SPECIALIZED, "versions": 1, "num_stages": 1}, None),
        (
            {**SPECIALIZED, **ONE},
            "no buffer has more than one version: the producer can't run ahead",
        ),
        (
            {**SPECIALIZED, **EXPLICIT},
            "warp specialisation took the loop; the explicit order and stage lists are ignored",
        ),
        ({"num_stages": 0}, "depth 0 asks for no pipeline"),
        ({"num_stages": None}, "no depth was asked for"),
        ({"num_stages": None, **EXPLICIT}, "no pass took the loop up"),
        ({}, "no pass took the loop up"),
        (
            {"outcome": "removed", "pass_name": "tl.Simplify"},
            "the request was dropped without a schedule in tl.Simplify",
        ),
        ({"outcome": "removed", "pass_name": "p", "num_stages": 0}, "depth 0 asks for no pipeline"),
    ],
)
def test_the_reason_why_a_depth_has_no_effect(changes, wanted):
    """Each way in which a depth comes to nothing is said in words, and only then."""
    assert schedule(COPIES, **changes).reason == wanted


@pytest.mark.parametrize(
    ("versions", "wanted"),
    [
        (3, "3 versions, but no copy is asynchronous: memory without overlap"),
        (1, "no copy is asynchronous and nothing has versions: the order changed at most"),
    ],
)
def test_a_pipeline_without_an_asynchronous_copy(versions, wanted):
    """Synchronous copies can't overlap anything, however many versions there are."""
    assert schedule(site("syncthreads"), versions=versions, **PLANNED).reason == wanted


def test_versions_of_other_buffers_do_not_count():
    """A buffer that this loop does not write says nothing about it."""
    seen = observation(
        COPIES,
        requests=[request(**PLANNED, statements=GEMM[2:])],
        buffers=[buffer("lhs", leading=(2,)), buffer("rhs", leading=(2,))],
    )
    (loop,) = pipeline_loops(seen, shared_buffers(seen))
    assert loop.reason is not None
    assert "no buffer has more than one version" in loop.reason


def test_no_request_no_loop():
    """A kernel without a pipelined loop has none to tell."""
    assert pipeline_loops(observation(COPIES), ()) == ()
