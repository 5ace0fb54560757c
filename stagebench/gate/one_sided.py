"""Which differences between two compilers' results are none of the code?

What one of them doesn't say, and what the other's kernel has no parameter for.  For comparing with
another compiler alone: a baseline that says less than now is drift.
"""

from __future__ import annotations

from stagebench.gate.allowance import Change
from stagebench.gate.fact_pattern import has_form
from stagebench.model import MachineCode, VariantResult
from stagebench.model.verdict import Rule

ONE_SIDED = Rule(pattern="said by one compiler alone", action="ignore", source="default")
"""The rule that lets these pass; reports list them apart."""

_NOT_KNOWN = (
    "shared_buffers[*].bytes_per_version", "shared_buffers[*].total_bytes",
    "shared_buffers[*].offset_bytes", "shared_buffers[*].alignment_bytes",
    "shared_memory.limit_bytes", "shared_memory.fits", "shared_memory.max_num_stages",
    "barriers[*].guards",
    "launch.profilers[*].groups", "launch.profilers[*].stride",
    "machine.resources.code_bytes", "machine.role_registers[*].used", "machine.frontier[*].*",
    "machine.walk.*", "machine.arithmetic.*", "machine.arithmetic.mma[*].executed",
)  # fmt: skip
"""Facts whose ``None`` is "not known"; elsewhere (``versioned_by``, ``cluster``) it answers."""
_MACHINE_RECORDS = ("occupancy", "walk", "arithmetic")


def one_sided(change: Change, then: VariantResult, now: VariantResult) -> str | None:
    """Why a difference is not one of the code, in words; ``None``: it is one."""
    if change.path.startswith("variant.params[") and change.presence != "both":
        return "the other compiler's kernel has no such parameter"
    if change.path.startswith("variant.pass_configs["):
        alike = then.variant.compiler.name == now.variant.compiler.name
        return None if alike else "a pass config of one compiler"
    if _not_known(change) or _not_looked_at(change, then, now):
        return "one compiler does not say it"
    return None


def other_parameters(then: VariantResult, now: VariantResult) -> str | None:
    """What makes the two kernels not comparable: parameters that both have, of other values.

    A variant that failed never told its defaults.
    """
    if then.outcome != "lowered" or now.outcome != "lowered":
        return None
    theirs, ours = then.variant.params, now.variant.params
    names = [name for name in ours if name in theirs and ours[name] != theirs[name]]
    if not names:
        return None
    said = ", ".join(f"{name} {theirs[name]} there and {ours[name]} here" for name in names)
    return f"another kernel: {said}; give both the same, by the case's params"


def _not_known(change: Change) -> bool:
    if change.presence != "both" or (change.left is None) == (change.right is None):
        return False
    return any(has_form(change.path, form) for form in _NOT_KNOWN)


def _not_looked_at(change: Change, then: VariantResult, now: VariantResult) -> bool:
    """A fact of the machine code that is absent on one side since what it is of is not known."""
    machines = [None if one.facts is None else one.facts.machine for one in (then, now)]
    if change.presence == "both" or None in machines:
        return False
    return any(_is_unknown(change.path, machine) for machine in machines if machine is not None)


def _is_unknown(path: str, machine: MachineCode) -> bool:
    for name in _MACHINE_RECORDS:
        if path.startswith(f"machine.{name}.") and getattr(machine, name) is None:
            return True
    if path.startswith("machine.arithmetic.mma["):
        return machine.arithmetic is not None and machine.arithmetic.mma is None
    for name in ("sync_ptx", "sync_sass"):
        if has_form(path, f"machine.{name}[*].executed"):
            count = getattr(machine, name).get(path.partition("[")[2].partition("]")[0])
            return count is not None and count.executed is None
    return False
