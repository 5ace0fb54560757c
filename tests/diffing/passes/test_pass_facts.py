"""What is read off IR texts agrees with what was read from the IR objects."""

import pytest

from stagebench.diff.pass_facts import bits_of, read_pass_facts
from stagebench.diff.pass_runs import Lowering
from stagebench.diff.pass_script import read_script
from tests.command_line import stagebench
from tests.diffing.passes.recorded import GEMM, dump

HEAD = """\
@I.ir_module
class Module:
    @T.prim_func
    def kernel(A_handle: T.handle):
        tx = T.launch_thread("threadIdx.x", 128)
"""


def readings(body, **options):
    text = HEAD + "".join(f"        {line}\n" for line in body.split("\n"))
    found = read_pass_facts(text, **options)
    return {path: reading.value for path, reading in found.readings.items()}


def disagreements(lowering):
    """Where the last text of the device function and the recorded facts differ."""
    facts = lowering.facts
    function = facts.launch.function
    last = [
        step.after
        for step in lowering.steps
        if step.after and step.parent is None and f"def {function}(" in lowering.texts[step.after]
    ][-1]
    found = lowering.facts_of(last)
    seen = {path: reading.value for path, reading in found.readings.items()}
    wanted = {
        "shared_memory.static_bytes": facts.shared_memory.static_bytes,
        "shared_memory.dynamic_bytes": facts.shared_memory.dynamic_bytes,
        "shared_memory.total_bytes": facts.shared_memory.total_bytes,
        "launch.grid": facts.launch.grid,
        "launch.block": facts.launch.block,
        "launch.params": tuple(param.name for param in facts.launch.params),
    }
    ops = {path[12:].partition("]")[0] for path in seen if path.startswith("sync_totals[")}
    for op in ops | set(facts.sync_totals):
        total = facts.sync_totals.get(op)
        wanted[f"sync_totals[{op}].static"] = total and total.static
        wanted[f"sync_totals[{op}].dynamic"] = total and total.dynamic
    for op in ("cp_async_wait", "wgmma_wait", "tma_store_wait"):
        depths = [s.args["max_pending"] for s in facts.sync_ops if s.op == op]
        wanted[f"sync_ops[{op}].args[max_pending]"] = tuple(depths) or None
    arrivals = {}
    for barrier in facts.barriers:
        for index in range(barrier.first, barrier.first + barrier.count):
            arrivals.setdefault(barrier.name, {})[index] = barrier.arrive_count
    for name, slots in arrivals.items():
        values = tuple(slots[index] for index in sorted(slots))
        wanted[f"barriers[{name}].arrive_count"] = values
    for buffer in facts.shared_buffers:
        if buffer.offset_bytes is not None:
            wanted[f"shared_buffers[{buffer.name}].offset_bytes"] = buffer.offset_bytes
    return {
        path: (seen.get(path), value) for path, value in wanted.items() if seen.get(path) != value
    }


@pytest.mark.parametrize(("arch", "depth"), GEMM)
def test_the_last_text_shows_the_recorded_facts(arch, depth):
    """Counts, waits, barriers, memory and launch after the last pass are those of the facts."""
    assert disagreements(Lowering(dump(arch, depth))) == {}


@pytest.mark.parametrize(("arch", "depth"), GEMM)
def test_every_line_of_every_text_is_read(arch, depth):
    """No text of a lowering has a line that the reader leaves out."""
    lowering = Lowering(dump(arch, depth))
    assert {digest: lowering.facts_of(digest).unread for digest in lowering.texts} == dict.fromkeys(
        lowering.texts, ()
    )


@pytest.mark.slow
@pytest.mark.tilelang
def test_the_whole_default_sweep_agrees(tmp_path):
    """The same for every variant of the default sweep, lowered now."""
    from stagebench.dump.directory import read_run

    ran = stagebench("sweep", "--dump-dir", tmp_path / "run")
    assert ran.code == 0, ran.err
    for one in read_run(tmp_path / "run"):
        assert disagreements(Lowering(one)) == {}


def test_a_call_in_a_loop_is_executed_as_often_as_the_loop():
    """Static counts sites, dynamic multiplies the loops around them out."""
    found = readings(
        "for k in range(4):\n    for i, j in T.grid(2, 3):\n        T.ptx_commit_group()"
    )
    assert found["sync_totals[cp_async_commit].static"] == 1
    assert found["sync_totals[cp_async_commit].dynamic"] == 24


def test_a_thread_binding_is_no_loop():
    """A binding to threads does not multiply what one thread executes."""
    found = readings(
        'for tx in T.thread_binding(128, thread="threadIdx.x"):\n    T.ptx_commit_group()'
    )
    assert found["sync_totals[cp_async_commit].dynamic"] == 1


def test_a_symbolic_range_counts_its_extent():
    """``range(start, start + extent)`` is the printer's way to write an extent."""
    found = readings("for k in range(by, by + (8 - by)):\n    T.ptx_commit_group()")
    assert found["sync_totals[cp_async_commit].dynamic"] == "8 - by"


@pytest.mark.parametrize(
    "line",
    [
        'x = "T.ptx_commit_group()"',
        "# T.ptx_commit_group()",
        "T.ptx_commit_group_of_mine()",
        "y = ptx_commit_group",
    ],
)
def test_what_only_looks_like_a_call_is_not_counted(line):
    """Strings, comments, longer names and names that are not called are no sites."""
    assert not [path for path in readings(line) if path.startswith("sync_totals")]


def test_two_calls_on_one_line_are_two_sites():
    """The near miss of counting lines."""
    found = readings("T.evaluate(T.ptx_wait_group(1) + T.ptx_wait_group(0))")
    assert found["sync_totals[cp_async_wait].static"] == 2
    assert found["sync_ops[cp_async_wait].args[max_pending]"] == (1, 0)


def test_an_unknown_intrinsic_is_counted_where_the_facts_name_it():
    """A text can't tell which calls synchronise: the facts say."""
    assert readings("T.new_fence()") == {"launch.block": (128, 1, 1)} | readings("pass")
    found = readings("T.new_fence()", unknown_ops=["new_fence"])
    assert found["sync_totals[unknown:new_fence].static"] == 1


def test_dotted_keywords_are_read():
    """TileLang prints ``tl.flag=1`` as a keyword, which Python can't parse."""
    flag = "tl.pipeline_mbar_phase_expr=k // 2 % 2"
    found = readings(f"T.tma_copy(A, barrier=b[0], {flag}, x=T.ptx_commit_group())")
    assert found["sync_totals[cp_async_commit].static"] == 1


def test_a_line_that_is_no_statement_is_reported():
    """Nothing is dropped in silence: the line's number is kept."""
    script = read_script(HEAD + "        this is no python\n        T.ptx_commit_group()\n")
    assert script.unread == (6,)
    assert len(script.functions[0].statements) == 2


def test_a_statement_over_several_lines_is_read():
    """A list that the printer breaks is one statement, on its first line."""
    script = read_script(HEAD + "        T.ptx_wait_group(\n            1,\n        )\n")
    assert script.unread == ()
    assert [statement.line for statement in script.functions[0].statements] == [5, 6]


def test_an_unclosed_bracket_hides_nothing_after_it():
    """Where a statement never ends, its line is reported and the next ones are read."""
    calls = "        T.ptx_commit_group()\n" * 3
    script = read_script(HEAD + "        T.ptx_wait_group((1\n" + calls)
    assert script.unread == (6,)
    assert len(script.functions[0].statements) == 4


def test_views_are_not_allocations():
    """Only allocations take shared memory; a view has the name of what it shows."""
    found = readings(
        'A = T.alloc_buffer((64, 32), "float16", scope="shared.dyn")\n'
        'A_1 = T.decl_buffer((64, 32), "float16", data=A.data, scope="shared.dyn")\n'
        'B = T.alloc_buffer((64, 32), "float16", scope="local")'
    )
    assert found["shared_memory.dynamic_bytes"] == 64 * 32 * 2
    assert [path for path in found if path.endswith("allocated_shape")] == [
        "shared_buffers[A].allocated_shape"
    ]


def test_a_symbolic_size_makes_the_sum_unknown():
    """A buffer of unknown size: no sum is given, rather than a sum without it."""
    found = readings('A = T.alloc_buffer((n, 32), "float16", scope="shared.dyn")')
    assert not [path for path in found if path.startswith("shared_memory")]


@pytest.mark.parametrize(
    ("dtype", "bits"),
    [("float16", 16), ("float8_e4m3", 8), ("float16x2", 32), ("uint64", 64), ("bool", 8),
     ("int4", 4), ("handle", None), ("custom[x]8", None)],
)  # fmt: skip
def test_bits_of_types(dtype, bits):
    """Types by name; one that is not known has no size."""
    assert bits_of(dtype) == bits


def test_a_module_without_a_kernel_has_no_counts():
    """Host code alone: nothing is said of the device, not even zero."""
    text = HEAD.replace('        tx = T.launch_thread("threadIdx.x", 128)\n', "        return 0\n")
    found = read_pass_facts(text)
    assert not found.kernel
    assert found.readings == {}
