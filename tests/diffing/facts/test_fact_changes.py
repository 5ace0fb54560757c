"""Which facts changed: every field can show up, in words, and nothing shows up that did not."""

import msgspec
import pytest

from stagebench.diff.fact_changes import code_differs, fact_changes, result_changes
from stagebench.model import (
    Diagnostic,
    Evidence,
    Facts,
    Failure,
    LoweringCost,
    MachineCode,
    ProfilerBuffer,
    Record,
)
from tests.diffing.passes.recorded import dump, facts

LOWERS = "tl.LowerTileOp"
NOT_COMPARED = {LoweringCost, MachineCode}  # the latter by tests of its own
LISTS_OF_RECORDS = {
    "pipeline_loops", "shared_buffers", "barriers", "sync_ops", "params", "tma_descriptors",
    "tensors", "profilers",
}  # fmt: skip


def texts(changes):
    return [change.text for change in changes if change.kind == "fact" and not change.follows]


def with_rare_facts(original):
    evidence = (Evidence(artifact="stderr", line=3, pass_name=LOWERS, text="said"),)
    note = Diagnostic(severity="warning", code="made-up", message="a warning", evidence=evidence)
    times = ProfilerBuffer(
        tensor="times", format="tvm", groups=2, stride=8, events=(0,), event_names=("load",),
        group_names=("all",), marks={"timer_init_cuda": 1},
    )  # fmt: skip
    launch = msgspec.structs.replace(original.launch, profilers=(times,))
    memory = msgspec.structs.replace(original.shared_memory, exceeds="total")
    return msgspec.structs.replace(
        original, diagnostics=(note,), launch=launch, shared_memory=memory
    )


def leaves(value, path=(), schema=()):
    """Every leaf of a tree of builtins: where it is, and its place in the schema."""
    if isinstance(value, dict):
        for key, item in value.items():
            if path or key != "lowering":
                yield from leaves(item, (*path, key), (*schema, key))
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for index, item in enumerate(value):
            yield from leaves(item, (*path, index), schema)
    elif value != [] or schema[-1] not in LISTS_OF_RECORDS:
        yield path, schema, value


def tree_of(original):
    return msgspec.json.decode(msgspec.json.encode(original))


CANDIDATES = (
    7777, "other", None, False, True, "note", "producer", "consumer", "epilogue", "prologue",
    "exact", "synthetic", "none", "warp_specialization", "empty", "full", "scalar", "tensor",
    "flashinfer",    [7777], ["other"], [5, 6, 7],
)  # fmt: skip


def mutated(original, path, old):
    """The facts with another value at ``path``: the first that the schema takes."""
    for candidate in CANDIDATES:
        if candidate == old and type(candidate) is type(old):
            continue
        tree = tree_of(original)
        place = tree
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = candidate
        try:
            return msgspec.convert(tree, Facts, strict=True)
        except msgspec.ValidationError:
            continue
    raise AssertionError(f"nothing fits at {path}")


def one_of_each():
    """Each field of the schema once, in a variant that has it."""
    seen = set()
    for arch in ("sm_80", "sm_90a"):
        original = with_rare_facts(facts(arch, 2))
        for path, schema, old in leaves(tree_of(original)):
            if schema[:1] == ("machine",) or schema in seen:
                continue
            seen.add(schema)
            yield pytest.param(original, path, old, id=".".join(schema))


@pytest.mark.parametrize(("original", "path", "old"), list(one_of_each()))
def test_a_changed_field_is_named(original, path, old):
    """Whatever field of the facts is changed, a change has a path that names it."""
    changes = result_changes(original, mutated(original, path, old))
    field = str(path[-1])
    assert [c for c in changes if c.path.endswith((f".{field}", f"[{field}]"))], path


def test_every_field_of_the_schema_was_changed():
    """The test above has seen every field of every record that facts are made of."""
    tried = {case.id.split(".")[-1] for case in one_of_each()}
    pending, known = [Facts], set()
    while pending:
        record = pending.pop()
        if record in known or record in NOT_COMPARED:
            continue
        known.add(record)
        for field in msgspec.structs.fields(record):
            inner = [t for t in types_in(field.type) if issubclass(t, Record)]
            pending += inner
            if not inner and field.encode_name != "machine":
                assert field.encode_name in tried | {"args", "marks"}, (record, field.name)


def types_in(annotation):
    found = [annotation] if isinstance(annotation, type) else []
    for inner in getattr(annotation, "__args__", ()):
        found += types_in(inner)
    return [each for each in found if isinstance(each, type) and each is not type(None)]


@pytest.mark.parametrize("field", ["pipeline_loops", "shared_buffers", "barriers", "sync_ops"])
def test_a_record_that_goes_away_has_vanished(field):
    """A loop, buffer, barrier or site that only the left variant has is one change."""
    original = facts("sm_90a", 2)
    without = msgspec.structs.replace(original, **{field: getattr(original, field)[1:]})
    [gone] = [c for c in result_changes(original, without) if c.path.startswith(f"{field}[")]
    assert gone.presence == "left"
    assert gone.right is None
    assert "vanished" in gone.text
    [back] = [c for c in result_changes(without, original) if c.path.startswith(f"{field}[")]
    assert back.presence == "right"


def test_equal_facts_have_no_changes():
    """The same facts twice: nothing."""
    assert result_changes(facts("sm_80", 2), facts("sm_80", 2)) == ()


def test_depth_two_against_three_in_words():
    """The changes of the sm_80 GEMM read as a person would say them, the main ones first."""
    found = texts(fact_changes(dump("sm_80", 2), dump("sm_80", 3)))
    assert found == [
        "loop k requested num_stages 2 → 3",
        "loop k stage 0 0 1 → 0 0 2",
        "A_shared versions 2 → 3",
        "B_shared versions 2 → 3",
        "shared memory 64 → 96 KiB",
        "cp_async_wait depth 1 → 2 in the body",
        "cp_async_commit call sites 2 → 3",
        "cp_async_copy call sites 4 → 6",
        "cp_async_wait call sites 2 → 3",
        "mma_sync call sites 4 → 6",
        "syncthreads call sites 3 → 4",
        "syncthreads executions 31 → 30",
    ]


def test_depth_one_against_two_is_an_order():
    """Depths 1 and 2 have the same stages; their order differs, and that is what is said."""
    found = texts(fact_changes(dump("sm_80", 1), dump("sm_80", 2)))
    assert "loop k order 1 2 0 → 0 1 2" in found
    assert not [text for text in found if text.startswith("loop k stage")]


def test_barriers_are_told_apart_by_use():
    """More full barriers move the empty ones up: their number is a change, their place follows."""
    changes = fact_changes(dump("sm_90a", 2), dump("sm_90a", 3))
    barriers = [c.text for c in changes if c.group == "barriers" and not c.follows]
    assert barriers == ["mbarrier full barriers 2 → 3", "mbarrier empty barriers 2 → 3"]


def test_changes_have_evidence_on_both_sides():
    """A versioned buffer shows the pass that versioned it and its line in both CUDA texts."""
    changes = fact_changes(dump("sm_80", 2), dump("sm_80", 3))
    [change] = [c for c in changes if c.path == "shared_buffers[B_shared].num_versions"]
    for side in (change.left_evidence, change.right_evidence):
        assert [item.pass_name for item in side if item.artifact == "passes"] == [
            "tl.InjectSoftwarePipeline"
        ]
        assert [item.line for item in side if item.artifact == "kernel.cu"] == [23]
    [wait] = [c for c in changes if c.path.endswith("args[max_pending]")]
    assert (wait.left, wait.right) == (1, 2)
    assert wait.left_evidence[0].line != wait.right_evidence[0].line


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_a_renamed_tensor_is_renamed_and_nothing_else(arch):
    """A tensor under another name: no fact changed, and the names are said."""
    changes = fact_changes(dump(arch, 2), dump(arch, 2, "renamed.gemm"))
    assert not code_differs(changes)
    renamed = [c.text for c in changes if c.kind == "rename" and not c.follows]
    assert "B_shared renamed to X_shared" in renamed
    assert any(text.startswith("parameter order") for text in renamed)


def test_a_renamed_tensor_does_not_hide_a_change():
    """The near miss: renamed, and one version more."""
    original, other = facts("sm_80", 2), facts("sm_80", 2, "renamed.gemm")
    buffers = tuple(
        msgspec.structs.replace(b, num_versions=3) if b.name == "X_shared" else b
        for b in other.shared_buffers
    )
    changed = msgspec.structs.replace(other, shared_buffers=buffers)
    assert texts(result_changes(original, changed)) == ["B_shared versions 2 → 3"]


def test_a_moved_kernel_has_moved_lines_only():
    """Two lines further down in its file: only positions changed."""
    changes = fact_changes(dump("sm_80", 2), dump("sm_80", 2, "moved.gemm"))
    assert changes
    assert {change.kind for change in changes} == {"position"}
    assert not code_differs(changes)


def test_a_buffer_in_front_changes_no_other_buffer():
    """A new first buffer appeared; those after it are matched by name."""
    original = facts("sm_80", 2)
    new = msgspec.structs.replace(original.shared_buffers[0], name="scale", dtype="float32")
    more = msgspec.structs.replace(original, shared_buffers=(new, *original.shared_buffers))
    assert texts(result_changes(original, more)) == ["scale appeared"]


def test_two_swapped_waits_are_two_changes():
    """The near miss of matching: the same two depths in another order are not equal."""
    original = facts("sm_80", 2)
    waits = [i for i, site in enumerate(original.sync_ops) if site.op == "cp_async_wait"]
    sites = list(original.sync_ops)
    for here, there in (waits, reversed(waits)):
        args = original.sync_ops[there].args
        sites[here] = msgspec.structs.replace(original.sync_ops[here], args=args)
    found = texts(result_changes(original, msgspec.structs.replace(original, sync_ops=sites)))
    assert found == [
        "cp_async_wait depth 1 → 0 in the body",
        "cp_async_wait depth 0 → 1 in the epilogue",
    ]


def test_a_failed_variant_is_compared_by_how_it_ended():
    """A variant without facts: its outcome is the one change."""
    failure = Failure(kind="crash", message="boom", pass_name=LOWERS)
    lowered = dump("sm_80", 2)
    result = msgspec.structs.replace(lowered.result, outcome="failed", failure=failure, facts=None)
    failed = msgspec.structs.replace(lowered, result=result)
    [change] = fact_changes(lowered, failed)
    assert change.text == "outcome lowered → failed (crash in tl.LowerTileOp)"
    assert change.right_evidence[0].pass_name == LOWERS
    assert fact_changes(failed, failed) == ()


def with_launch(original, descriptors=None, params=None):
    """The facts with other fields of the descriptors or names of the parameters, by index."""
    launch = original.launch
    changed = [
        msgspec.structs.replace(each, **(descriptors or {}).get(index, {}))
        for index, each in enumerate(launch.tma_descriptors)
    ]
    named = [
        msgspec.structs.replace(each, name=(params or {}).get(index, each.name))
        for index, each in enumerate(launch.params)
    ]
    launch = msgspec.structs.replace(launch, tma_descriptors=tuple(changed), params=tuple(named))
    return msgspec.structs.replace(original, launch=launch)


@pytest.mark.parametrize(
    "wrong",
    [
        {"descriptors": {1: {"tensor": "A"}}},
        {"descriptors": {0: {"tensor": "B"}, 1: {"tensor": "A"}}},
        {"descriptors": {1: {"tensor": "Q"}}},
        {"params": {1: "A_desc"}},
    ],
    ids=["one for both", "swapped", "not its own", "one name twice"],
)
def test_a_name_that_is_not_one_to_one_is_a_changed_fact(wrong):
    """A descriptor of the wrong tensor is no renaming."""
    original = facts("sm_90a", 2)
    assert code_differs(result_changes(original, with_launch(original, **wrong)))


def test_a_name_that_the_cuda_does_not_have_is_a_changed_fact():
    """The facts of a dump are renamed, its kernel is not."""
    original = dump("sm_90a", 2)
    renamed = with_launch(
        original.result.facts,
        {1: {"name": "Q_desc", "tensor": "Q"}},
        {1: "Q_desc"},
    )
    assert not code_differs(result_changes(original.result.facts, renamed))
    result = msgspec.structs.replace(original.result, facts=renamed)
    assert code_differs(fact_changes(original, msgspec.structs.replace(original, result=result)))


def test_a_reordering_beside_a_rename_is_a_changed_fact():
    """Another parameter is renamed: that does not explain why these two changed places."""
    original = facts("sm_80", 2)
    params = original.launch.params
    assert len(params) == 3
    renamed = msgspec.structs.replace(params[2], name="Z")
    launch = msgspec.structs.replace(original.launch, params=(params[1], params[0], renamed))
    changes = result_changes(original, msgspec.structs.replace(original, launch=launch))
    assert code_differs(changes)


def test_a_site_that_changes_its_place_says_the_place_once():
    """No "section body → prologue in the body"."""
    original = facts("sm_80", 2)
    where = next(i for i, site in enumerate(original.sync_ops) if site.section == "body")
    sites = list(original.sync_ops)
    sites[where] = msgspec.structs.replace(sites[where], section="prologue")
    changes = result_changes(original, msgspec.structs.replace(original, sync_ops=tuple(sites)))
    (said,) = [c.text for c in changes if c.path.endswith(".section")]
    assert said.endswith("section body → prologue")


def test_a_loop_that_is_pipelined_now_says_so():
    """At depth 0 the loop is there too; it is not a pipeline."""
    assert "pipelining of loop k appeared" in texts(
        fact_changes(dump("sm_80", 0), dump("sm_80", 1))
    )


def test_a_path_starts_with_a_name():
    """Of facts that this comparison does not know, too."""
    changes = result_changes(facts("sm_80", 2), facts("sm_90a", 2))
    assert not [change.path for change in changes if not change.path[0].isalpha()]
