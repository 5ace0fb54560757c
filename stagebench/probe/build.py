"""How does a kernel become three builds that can be compared on a GPU: base, control, probed?

From PTX and a launch whose extents are known; facts make the sites readable but are not needed, so
that it works for any kernel with a launch plan.  The three are assembled by the same assembler for
the same arch, base too: a dump's cubin may be of another arch than the device's.
"""

from __future__ import annotations

from collections.abc import Mapping

from stagebench.assemble.assembler import Assembler
from stagebench.assemble.records import MachineText, NotAssembled
from stagebench.errors import MachineError
from stagebench.model.audit_finding import AuditedBuild
from stagebench.model.base import Record
from stagebench.model.facts import Facts, Launch
from stagebench.model.timing import ProbeMetadata
from stagebench.probe.audit import audit
from stagebench.probe.audit_records import Audit
from stagebench.probe.audit_resources import registers_for, spill_bytes
from stagebench.probe.layout import DEFAULT_BUDGET_BYTES, DEFAULT_MAX_CTAS
from stagebench.probe.plan import PlannedProbes, plan_probes
from stagebench.probe.register_bound import with_register_bound


class ProbedBuild(Record, frozen=True, kw_only=True):
    """Probes planned, assembled for ``arch`` and audited."""

    arch: str
    plan: PlannedProbes
    base: MachineText
    control: MachineText
    probed: MachineText
    audit: Audit

    @property
    def metadata(self) -> ProbeMetadata:
        """What decoding the probed kernel's buffer needs."""
        return self.plan.metadata


def build_probed(  # noqa: PLR0913 - keyword-only: one name for each thing to choose
    ptx: str,
    arch: str,
    launch: Launch,
    facts: Facts | None = None,
    *,
    assembler: Assembler,
    scalars: Mapping[str, int] | None = None,
    max_ctas: int = DEFAULT_MAX_CTAS,
    budget_bytes: int = DEFAULT_BUDGET_BYTES,
    ops: frozenset[str] | None = None,
    ptxas_flags: tuple[str, ...] = (),
) -> ProbedBuild:
    """Plan, assemble for ``arch`` and audit; `MachineError` where one build does not assemble.

    Where the registers of probes would lower the occupancy, the probed build is assembled again
    with as many as keep it, and that build is taken if it keeps it without spilling more than base.
    """
    plan, placed = plan_probes(
        ptx, launch, facts, scalars=scalars, max_ctas=max_ctas, budget_bytes=budget_bytes, ops=ops
    )
    made = _assembled(plan, arch, assembler, ptxas_flags)
    most = registers_for(made["probed"], made["base"], launch, arch)
    bound = None if most is None else with_register_bound(plan.probed, plan.kernel, most)
    if bound is not None:
        again = assembler.submit_ptx(bound, arch, plan.kernel, ptxas_flags=ptxas_flags).result()
        if isinstance(again, MachineText) and spill_bytes(again) <= spill_bytes(made["base"]):
            made["probed"] = again
    return ProbedBuild(
        arch=arch,
        plan=plan,
        base=made["base"],
        control=made["control"],
        probed=made["probed"],
        audit=audit(made, placed.probed, placed.control, launch=launch, arch=arch),
    )


def _assembled(
    plan: PlannedProbes, arch: str, assembler: Assembler, ptxas_flags: tuple[str, ...]
) -> dict[AuditedBuild, MachineText]:
    texts: dict[AuditedBuild, str] = {
        "base": plan.base,
        "control": plan.control,
        "probed": plan.probed,
    }
    futures = {
        build: assembler.submit_ptx(one, arch, plan.kernel, ptxas_flags=ptxas_flags)
        for build, one in texts.items()
    }
    made: dict[AuditedBuild, MachineText] = {}
    for build, future in futures.items():
        result = future.result()
        if isinstance(result, NotAssembled):
            where = "" if result.ptx_line is None else f" (PTX line {result.ptx_line})"
            raise MachineError(
                f"{plan.kernel}: the {build} build doesn't assemble for {arch}:"
                f" {result.message}{where}",
                hint="code for one arch runs on a later one only if its name has no letter",
            )
        made[build] = result
    return made
