"""What did probes cost in registers, and did the assembler say anything new?

Of a kernel with ``setmaxnreg`` the count of registers is the launch budget; what each role may use
is its own, and ptxas does not refuse code that takes more.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from stagebench.assemble.records import MachineText
from stagebench.machine.occupancy import occupancy
from stagebench.model.audit_finding import AuditedBuild, AuditFinding
from stagebench.model.facts import Launch
from stagebench.probe.audit_records import finding
from stagebench.sass.control_flow import ControlFlow
from stagebench.sass.registers import role_registers

_OTHERS: tuple[AuditedBuild, ...] = ("control", "probed")


def compare_resources(
    builds: Mapping[AuditedBuild, MachineText],
    ctas: Mapping[AuditedBuild, int | None],
    flows: Mapping[AuditedBuild, ControlFlow],
) -> list[AuditFinding]:
    """Spills, stack, messages, registers and occupancy of control and probed against base."""
    base = builds["base"]
    found: list[AuditFinding] = []
    known = {_key(message.code, message.name, message.text) for message in base.messages}
    for build in _OTHERS:
        text = builds[build]
        if spill_bytes(text) > spill_bytes(base):
            shown = f"{spill_bytes(base)} → {spill_bytes(text)} bytes"
            found.append(finding("spills", f"registers are spilled: {shown}", build=build))
        elif build == "probed" and not spill_bytes(text):
            spilled = {one: spill_bytes(builds[one]) for one in ("base", "control")}
            found += [
                finding(
                    "spills",
                    f"{one} spills registers, the probed build does not: {count} → 0 bytes",
                )
                for one, count in spilled.items()
                if count
            ]
        if text.resources.stack_bytes > base.resources.stack_bytes:
            shown = f"{base.resources.stack_bytes} → {text.resources.stack_bytes} bytes"
            found.append(finding("stack", f"the stack frame grew: {shown}", build=build))
        found += [
            finding("message", message.text, build=build)
            for message in text.messages
            if _key(message.code, message.name, message.text) not in known
        ]
        delta = text.resources.registers - base.resources.registers
        if delta:
            found.append(finding("registers", f"{delta:+d} registers against base", build=build))
        before, after = ctas["base"], ctas[build]
        if before is not None and after is not None and after < before:
            shown = f"{before} → {after} CTAs in an SM"
            found.append(
                finding("occupancy", f"registers lower the occupancy: {shown}", build=build)
            )
    for role in role_registers(flows["probed"]):
        if role.used is not None and role.used > role.budget:
            shown = f"the {role.role} uses {role.used} of {role.budget} registers"
            found.append(finding("role_registers", shown))
    return found


def ctas_per_sm(
    builds: Mapping[AuditedBuild, MachineText], launch: Launch, arch: str
) -> dict[AuditedBuild, int | None]:
    """The theoretical occupancy of each build."""
    return {build: _ctas(text, launch, arch) for build, text in builds.items()}


def registers_for(probed: MachineText, base: MachineText, launch: Launch, arch: str) -> int | None:
    """The most registers that leave the probed build as many CTAs in an SM as base has.

    ``None`` where it has them already, or no number of registers gives them.
    """
    wanted, has = _ctas(base, launch, arch), _ctas(probed, launch, arch)
    if wanted is None or has is None or has >= wanted:
        return None
    fewer = range(probed.resources.registers - 1, base.resources.registers - 1, -1)
    fits = (count for count in fewer if _ctas(probed, launch, arch, count) == wanted)
    return next(fits, None)


def _ctas(text: MachineText, launch: Launch, arch: str, registers: int | None = None) -> int | None:
    extents = [extent for extent in launch.block if isinstance(extent, int)]
    taken = text.resources
    fits = occupancy(
        arch,
        prod(extents),
        taken.registers if registers is None else registers,
        taken.static_smem_bytes,
        launch.dynamic_smem_bytes,
        barriers=taken.barriers,
    )
    return None if fits is None else fits.ctas_per_sm


def spill_bytes(text: MachineText) -> int:
    """Stores and loads of spilled registers."""
    return text.resources.spill_store_bytes + text.resources.spill_load_bytes


def _key(code: str | None, name: str, text: str) -> tuple[str | None, str, str]:
    """A message without its numbers: lines of the text move with the probes."""
    words = ("#" if any(char.isdigit() for char in word) else word for word in text.split())
    return code, name, " ".join(words)
