"""Since which pass do two variants differ in each fact?"""

import msgspec
import pytest

from stagebench.diff.fact_changes import fact_changes
from stagebench.diff.pass_compare import changes_with_since, pass_matrices, pass_timeline
from stagebench.errors import DumpError
from stagebench.model import Failure
from tests.diffing.passes.recorded import dump, edited


def since(left, right):
    return {
        change.path: change.since.pass_name if change.since else "not seen"
        for change in changes_with_since(left, right)
        if change.kind == "fact" and not change.follows
    }


def test_each_fact_has_the_pass_since_which_it_differs():
    """sm_80, depth 2 against 3: the plan, the pipeline, the tile operators, the syncs."""
    assert since(dump("sm_80", 2), dump("sm_80", 3)) == {
        "pipeline_loops[k].num_stages": None,
        "pipeline_loops[k].statements.stage": "tl.PipelinePlanning",
        "shared_buffers[A_shared].num_versions": "tl.InjectSoftwarePipeline",
        "shared_buffers[B_shared].num_versions": "tl.InjectSoftwarePipeline",
        "shared_memory.total_bytes": "tl.InjectSoftwarePipeline",
        "sync_ops[cp_async_wait body #1].args[max_pending]": "tl.InjectSoftwarePipeline",
        "sync_totals[cp_async_commit].static": "tl.InjectSoftwarePipeline",
        "sync_totals[cp_async_copy].static": "tl.LowerTileOp",
        "sync_totals[cp_async_wait].static": "tl.InjectSoftwarePipeline",
        "sync_totals[mma_sync].static": "tl.LowerTileOp",
        "sync_totals[syncthreads].static": "tl.ThreadSync",
        "sync_totals[syncthreads].dynamic": "tl.ThreadSync",
    }


def test_warp_specialisation_is_found():
    """sm_90a, no depth against depth 2: who scheduled, threads, barriers, descriptors."""
    found = since(dump("sm_90a", 0), dump("sm_90a", 2))
    specialised = "tl.ProducerConsumerWarpSpecialized"
    assert found["pipeline_loops[k]"] == specialised
    assert found["launch.block"] == specialised
    assert found["barriers[mbarrier full]"] == specialised
    assert found["launch.tma_descriptors[A_desc]"] == "tl.LowerTileOp"
    assert found["sync_totals[setmaxnreg].static"] == "tl.AnnotateWarpGroupRegAlloc"
    assert found["sync_totals[fence_proxy_async].static"] == "tl.InjectFenceProxy"


def test_the_evidence_is_the_line_in_both_texts():
    """Values, sequence, line and text on both sides."""
    changes = changes_with_since(dump("sm_80", 2), dump("sm_80", 3))
    [change] = [c for c in changes if c.path == "shared_buffers[A_shared].num_versions"]
    seen = change.since
    assert seen.pass_name in ("tl.InjectSoftwarePipeline",)
    assert (seen.left, seen.right, seen.left_sequence, seen.right_sequence) == (2, 3, 18, 18)
    for side, versions in ((seen.left_evidence, 2), (seen.right_evidence, 3)):
        assert side.pass_name == seen.pass_name
        assert side.text.startswith(f"A_shared = T.sblock_alloc_buffer(({versions}, 128, 64)")
        assert side.line is not None


def test_a_fact_that_no_text_shows_is_not_guessed():
    """An alignment is nowhere in the texts: no pass is named."""
    assert (
        since(dump("sm_90a", 0), dump("sm_90a", 2))["shared_buffers[A_shared].alignment_bytes"]
        == "not seen"
    )


def test_changes_stay_the_same_but_for_the_pass():
    """The pass is added; nothing else is."""
    pair = dump("sm_80", 1), dump("sm_80", 2)
    with_pass = [msgspec.structs.replace(c, since=None) for c in changes_with_since(*pair)]
    assert with_pass == list(fact_changes(*pair))


def test_the_timeline_says_which_facts_a_pass_made():
    """Each pass that changed the IR, and what can be read off it since."""
    timeline = pass_timeline(dump("sm_80", 2))
    told = {e.name: [c.text for c in e.facts] for e in timeline.passes if e.facts}
    assert told["tl.PipelinePlanning"] == [
        "loop k num_stages gone",
        "loop k async groups 0 0 -1",
        "loop k order 0 1 2",
        "loop k stage 0 0 1",
    ]
    assert "A_shared 128×64 → 2×128×64" in told["tl.InjectSoftwarePipeline"]
    assert "cp_async_wait <pending> 1 0" in told["tl.InjectSoftwarePipeline"]
    assert [e.seconds for e in timeline.passes] == [None] * len(timeline.passes)


def test_times_run_along_the_passes_or_are_left_out():
    """Times of another lowering (another number of passes) are not shown beside these."""
    one = dump("sm_80", 2)
    count = len(one.result.facts.lowering.passes)
    assert pass_timeline(one, [0.5] * count).passes[3].seconds == 0.5
    assert pass_timeline(one, [0.5] * (count - 1)).passes[3].seconds is None


def test_the_matrix_compares_each_variant_with_its_left_neighbour():
    """sm_80, depths 0 to 3: the pass that first diverges, and one row in full."""
    [matrix] = pass_matrices([dump("sm_80", depth) for depth in range(4)])
    assert matrix.first == (
        "tl.PipelinePlanning",
        "tl.PipelinePlanning",
        "tl.InjectSoftwarePipeline",
    )
    rows = {(row.name, row.number): row.cells for row in matrix.rows}
    assert rows["tl.PipelinePlanning", 1] == ("no_op", "diverges", "diverges", "changed")
    assert rows["tl.LegalizeNegativeIndex", 1] == ("no_op",) * 4


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_every_pass_of_every_variant_is_in_the_matrix(arch):
    """Extra passes of deeper variants get rows of their own; none is lost or shown twice."""
    dumps = [dump(arch, depth) for depth in (3, 0, 2, 1)]
    [matrix] = pass_matrices(dumps)
    for column, one in enumerate(dumps):
        ran = sum(row.cells[column] != "absent" for row in matrix.rows)
        assert ran == len(one.result.facts.lowering.passes)


def failed(original):
    failure = Failure(kind="timeout", message="too slow")
    result = msgspec.structs.replace(original.result, outcome="failed", failure=failure, facts=None)
    return msgspec.structs.replace(original, result=result)


def test_failed_variants_are_counted_and_left_out():
    """A variant without passes has no column; its neighbours are compared with each other."""
    dumps = [dump("sm_80", 1), failed(dump("sm_80", 2)), dump("sm_80", 3)]
    [matrix] = pass_matrices(dumps)
    assert (len(matrix.variants), matrix.failed) == (2, 1)
    assert matrix.first == ("tl.PipelinePlanning",)


def test_a_run_in_which_everything_failed_is_an_error():
    """There is nothing to show, and that is said."""
    with pytest.raises(DumpError, match="every variant"):
        pass_matrices([failed(dump("sm_80", 2))])


def test_a_text_that_can_only_be_partly_read_is_not_counted(tmp_path):
    """A line that is no statement hides calls: the passes with such texts are passed over."""
    broken = edited(
        tmp_path,
        dump("sm_80", 3),
        "tl.InjectSoftwarePipeline",
        lambda text: text.replace("T.ptx_commit_group()", "T.ptx_commit_group() ???"),
    )
    found = since(dump("sm_80", 2), broken)
    assert found["sync_totals[cp_async_commit].static"] == "not seen"
    [entry] = [e for e in pass_timeline(broken).passes if e.name == "tl.InjectSoftwarePipeline"]
    assert entry.facts == ()
