"""Is the gate red for every fact of machine code that is compared, and for nothing else?"""

import pytest

from stagebench.diff.machine_facts import machine_facts
from tests.gate.building import accepted, judged, plain
from tests.gate.test_every_fact import leaves, mutated, shape

NOT_COMPARED = {
    "sites": "where a statement's instructions stand moves with every edit; totals are compared",
    "walk": "paths of threads; what all of them move and execute is compared",
    "levels": "counts are those of the IR, the CUDA, PTX and SASS; only whether they agree is new",
    "overlap": "each window; their sums by section are compared",
    "arithmetic": "floors and shapes follow from the work",
    "occupancy": "the arch's own maximum",
    "frontier": "names of arches",
    "resources": "repeated as machine.registers and the like",
    "toolchain": "names of programs",
    "diagnostics": "evidence and severity; the code and the message are compared",
}
"""Fields with parts that are not compared, and why."""


def leaves_of_machine_code():
    for arch in ("sm_80", "sm_90a"):
        result = accepted(arch, 3)
        chosen = {}
        for pointer, value in leaves(plain(result)):
            if pointer[:2] == ("facts", "machine"):
                chosen.setdefault(shape(pointer), (pointer, value))
        for pointer, value in chosen.values():
            name = ".".join(map(str, pointer[2:]))
            yield pytest.param(result, pointer, value, id=f"{arch}-{name}")


@pytest.mark.parametrize(("result", "pointer", "value"), list(leaves_of_machine_code()))
def test_a_mutated_fact_is_drift_exactly_where_it_is_compared(tmp_path, result, pointer, value):
    """Whatever leaf is changed: drift if a compared fact changed, silence if none did."""
    try:
        other = mutated(result, pointer, value)
    except AssertionError as exc:
        pytest.skip(str(exc))
    found = judged(tmp_path / "baseline", other, result)
    then, now = machine_facts(other.facts.machine), machine_facts(result.facts.machine)
    changed = {path for path in {*then, *now} if then.get(path) != now.get(path)}
    told = {change.path for change in (*found.drifts, *found.allowed)}
    assert told == changed
    assert (found.status == "clean") == (not found.drifts)
    if not changed:
        assert str(pointer[2]) in NOT_COMPARED, pointer
