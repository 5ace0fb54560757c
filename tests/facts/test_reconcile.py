"""Is a disagreement between the IR and the generated CUDA always told, and never made up?"""

from stagebench.facts.cuda_records import ArenaAlias
from stagebench.facts.reconcile import pair_lines, reconcile
from tests.facts.building import arena, cuda, cuda_site, kernel, nest, site


def differences(seen, written):
    found = reconcile(seen, written)
    assert {(d.code, d.severity) for d in found} <= {("ir-cuda-disagree", "warning")}
    return [d.message for d in found]


def test_equal_stories():
    """The same sites and executions on both levels: nothing to say."""
    seen = kernel(site("syncthreads"), nest("k", 15, site("syncthreads"), site("mma_sync")))
    written = cuda(
        cuda_site("syncthreads"), cuda_site("syncthreads", 15), cuda_site("mma_sync", 15)
    )
    assert differences(seen, written) == []
    assert differences(kernel(), cuda()) == []


def test_a_site_is_missing_in_the_cuda():
    """A site that code generation dropped is told with both counts."""
    seen = kernel(nest("k", 15, site("cp_async_commit")), site("cp_async_commit"))
    assert differences(seen, cuda(cuda_site("cp_async_commit", 15))) == [
        "cp_async_commit: 2 sites in the device IR, 1 in the generated CUDA"
    ]


def test_an_op_is_only_in_the_cuda():
    """What the text does and the IR does not know of is told, with its line."""
    (found,) = reconcile(kernel(), cuda(cuda_site("syncthreads", line=7)))
    assert found.message == "syncthreads: 0 sites in the device IR, 1 in the generated CUDA"
    assert [(e.artifact, e.line, e.text) for e in found.evidence] == [
        ("kernel.cu", 7, "tl::syncthreads")
    ]


def test_executions_differ():
    """As many sites, but another trip count."""
    seen = kernel(nest("k", 15, site("mma_sync")))
    assert differences(seen, cuda(cuda_site("mma_sync", 16))) == [
        "mma_sync: 15 executions in the device IR, 16 in the generated CUDA"
    ]


def test_executions_are_compared_in_sum():
    """Sites may trade places as long as the op is executed as often."""
    seen = kernel(nest("k", 15, site("mma_sync")), site("mma_sync"))
    assert differences(seen, cuda(cuda_site("mma_sync"), cuda_site("mma_sync", 15))) == []


def test_symbolic_counts_are_not_compared():
    """Two languages write one expression differently: only the sites are compared then."""
    seen = kernel(nest("k", "(K + 63) // 64", site("mma_sync")))
    (note,) = reconcile(seen, cuda(cuda_site("mma_sync", "(K + 63) >> 6")))
    assert (note.severity, note.code) == ("note", "executions-not-confirmed")
    assert note.message.endswith("not the executions, of mma_sync")
    assert differences(seen, cuda(cuda_site("mma_sync", "(K + 63) // 64"))) == []
    assert differences(seen, cuda()) == [
        "mma_sync: 1 sites in the device IR, 0 in the generated CUDA"
    ]


def test_one_op_each_sorted():
    """Every op that differs has its own line, by name, whatever the others do."""
    seen = kernel(site("syncthreads"), site("mma_sync"), site("cp_async_wait"))
    found = differences(seen, cuda(cuda_site("syncthreads")))
    assert [message.partition(":")[0] for message in found] == ["cp_async_wait", "mma_sync"]


def test_the_thread_count_differs():
    """The launch bounds of the text are the threads of the IR."""
    seen = kernel(block=(128, 2, 1))
    assert differences(seen, cuda(launch_bounds=(256, 1))) == []
    assert differences(seen, cuda(launch_bounds=(128, 1))) == [
        "256 threads in the device IR, 128 in the generated CUDA's launch bounds"
    ]


def test_a_thread_count_that_is_not_known_is_not_compared():
    """No bounds, or symbolic ones, contradict nothing."""
    assert differences(kernel(), cuda()) == []
    assert differences(kernel(), cuda(launch_bounds=("kThreads",))) == []
    assert differences(kernel(block=("n", 1, 1)), cuda(launch_bounds=(128,))) == []


def test_an_offset_in_the_arena_differs():
    """A buffer that lies elsewhere in the text is told; one that the text does not name is not."""
    seen = kernel(arena=arena(lhs=0, rhs=16384, unnamed=32768))
    aliases = tuple(
        ArenaAlias(name=name, arena="buf_dyn_shmem", offset_bytes=at, line=1)
        for name, at in (("lhs", 0), ("rhs", 8192))
    )
    assert differences(seen, cuda(aliases=aliases)) == [
        "rhs: offset 16384 in the device IR, 8192 in the generated CUDA"
    ]


def test_sites_are_paired_in_order():
    """The n-th site of an op in the IR is the n-th of that op in the text."""
    seen = kernel(site("syncthreads"), site("mma_sync"), site("syncthreads"))
    written = cuda(
        cuda_site("syncthreads", line=3),
        cuda_site("syncthreads", line=5),
        cuda_site("mma_sync", line=9),
    )
    assert pair_lines(seen, written) == (3, 9, 5)


def test_sites_that_do_not_pair_up_have_no_line():
    """One site too many or too few: no line of that op is given, the others keep theirs."""
    seen = kernel(site("syncthreads"), site("syncthreads"), site("mma_sync"), site("wgmma"))
    written = cuda(cuda_site("syncthreads", line=3), cuda_site("mma_sync", line=9))
    assert pair_lines(seen, written) == (None, None, 9, None)
