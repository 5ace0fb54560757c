"""Is the gate red for every fact of the schema?  Each field of a baseline is mutated in turn."""

import msgspec
import pytest

from tests.dumping import building as dumps
from tests.gate.building import accepted, judged, plain, replaced

NEVER_COMPARED = ("lowering",)
NAMES = ("name", "loop_var", "function", "tensor", "kernel")
POSITIONS = ("line", "cuda_line", "file", "line_kind")
REPORTED = ("detail",)
"""Told, and not drift: a compiler's stack trace."""
OTHER_VALUES = (7, "another", True, False, "7", ["another"], [7], [7, 7, 7])
RECORDS = ("diagnostics", "barriers", "tma_descriptors", "evidence", "params")
"""Lists of records: where one is empty, another of the recorded variants has some."""
WORDS = {
    "scheduled_by": ("none", "software_pipeline"),
    "kind": ("full", "empty", "other", "tensor", "scalar", "timeout", "crash"),
    "role": ("producer", "consumer"),
    "section": ("prologue", "body"),
    "severity": ("error", "warning", "note"),
    "line_kind": ("exact", "synthetic"),
    "format": ("tvm", "flashinfer"),
    "exceeds": ("static", "total"),
}


def leaves(value, pointer=()):
    """Every value that is not a container, and every empty container, with its JSON pointer."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(
        value, list
    ) else ()  # fmt: skip
    found = [leaf for key, item in items for leaf in leaves(item, (*pointer, key))]
    return found or [(pointer, value)]


def mutated(result, pointer, value):
    """The result with another valid value at the pointer."""
    candidates = [*WORDS.get(pointer[-1], ()), *OTHER_VALUES, {"another": 7}]
    if isinstance(value, bool):
        candidates = [not value]
    elif isinstance(value, int):
        candidates = [value + 1]
    elif pointer[-1] == "summary":  # another last word would be a fragment's new name
        candidates = [f"x{value}"]
    elif isinstance(value, str) and pointer[-1] not in WORDS:
        candidates = [f"{value}x", *candidates]
    for candidate in candidates:
        if candidate != value:
            other = replaced(result, pointer, candidate)
            if other is not None and other != result:
                return other
    raise AssertionError(f"no other value for {pointer} = {value!r}")


def shape(pointer):
    """A pointer without its indices: fields are tried once in their first and last record."""
    return tuple("*" if isinstance(step, int) else step for step in pointer)


def cases():
    sources = {
        "built": replaced(dumps.lowered(), ("facts", "shared_memory", "exceeds"), "static"),
        "failed": dumps.failed(),
        "sm_90a": accepted("sm_90a", 3),
        "sm_80": accepted("sm_80", 3),
    }
    for name, result in sources.items():
        chosen = {}
        for pointer, value in leaves(plain(result)):
            fields = tuple(step for step in pointer if isinstance(step, str))
            if pointer[0] == "outcome" or fields[:2] == ("facts", "lowering"):
                continue
            if value is None and pointer[0] in ("facts", "failure") and len(pointer) == 1:
                continue
            if pointer[:2] == ("facts", "machine") or (value == [] and fields[-1] in RECORDS):
                continue  # machine code: `test_machine_facts`
            chosen.setdefault(shape(pointer), []).append((pointer, value))
        for several in chosen.values():
            both = [several[0], several[-1]] if name == "built" else several[:1]
            for pointer, value in dict(both).items():
                yield pytest.param(
                    result, pointer, value, id=f"{name}-{'.'.join(map(str, pointer))}"
                )


@pytest.mark.parametrize(("result", "pointer", "value"), list(cases()))
def test_a_mutated_field_is_drift_that_names_it(tmp_path, result, pointer, value):
    """Whatever field of a baseline is changed, the check says so and names the field."""
    found = judged(tmp_path / "baseline", mutated(result, pointer, value), result)

    field = next(step for step in reversed(pointer) if isinstance(step, str))
    changes = (*found.drifts, *found.allowed)
    if pointer[:2] == ("variant", "compiler"):
        assert found.status == "not_comparable"
        return
    assert any(field in change.path for change in changes), [c.path for c in changes]
    if field in NAMES or field in POSITIONS or field in REPORTED:
        return
    assert found.status == "drift"
    assert any(field in change.path for change in found.drifts), [c.path for c in found.drifts]


def test_the_mutations_reach_every_field_of_the_schema():
    """No field of the facts' records is left out because the recorded variants have none of it."""
    reached = {step for case in cases() for step in case.values[1] if isinstance(step, str)}
    from stagebench import model

    records = ("Barrier", "Diagnostic", "Evidence", "Launch", "LaunchParam", "LaunchTensor",
               "PipelineLoop", "PipelineStatement", "ProfilerBuffer", "SharedBuffer",
               "SharedMemory", "SyncOp", "SyncTotal", "TmaDescriptor", "Failure", "Variant",
               "Facts")  # fmt: skip
    for record in records:
        names = {info.encode_name for info in msgspec.structs.fields(getattr(model, record))}
        assert names - reached <= {"machine", *NEVER_COMPARED}, record


@pytest.mark.parametrize("pointer", [("facts", "lowering", "seconds")])
def test_what_lowering_cost_is_never_compared(tmp_path, pointer):
    """A slower machine is no regression of the code."""
    result = dumps.lowered()
    found = judged(tmp_path / "baseline", replaced(result, pointer, 9.0), result)
    assert (found.status, found.drifts, found.allowed) == ("clean", (), ())
