"""What was read of a kernel of a launch plan?  Resources, PTX and SASS, probes, as lines."""

from __future__ import annotations

from stagebench.bundle.build import Candidate
from stagebench.bundle.given_kernel import GivenKernel
from stagebench.model import LevelRow, MachineCode
from stagebench.model.codec import decode
from stagebench.model.timing import ProbeMetadata
from stagebench.probe.audit_records import Audit
from stagebench.report import identity, quantities
from stagebench.report.quantities import UNKNOWN
from stagebench.report.sync_order import sync_rank


def given_lines(candidate: Candidate) -> tuple[str, ...]:
    """Of one kernel that has no facts of an IR; empty for a variant that has."""
    given = candidate.result
    if not isinstance(given, GivenKernel):
        return ()
    variant, launch = given.variant, given.launch
    words = [variant.kernel, variant.arch, *identity.parameters(variant)]
    if variant.num_stages is not None:
        words.append(f"num_stages={variant.num_stages}")
    head = f"{' · '.join(words)}: {launch.function} of {given.source}"
    if given.packed_arch not in (None, variant.arch):
        head += f", assembled for {given.packed_arch}"
    if given.problem is not None:
        return (head, f"  {given.problem}")
    if given.machine is None:
        return (head, f"  machine code {UNKNOWN}")
    return (
        head,
        f"  {_resources(given.machine, launch.dynamic_smem_bytes)}",
        f"  PTX → SASS: {_levels(given.machine.levels)}",
        f"  {_probes(candidate)}",
    )


def _resources(machine: MachineCode, dynamic_smem_bytes: int) -> str:
    static = machine.resources.static_smem_bytes
    words = [
        f"{machine.registers} registers",
        f"{machine.spill_bytes} bytes spilled",
        f"shared memory {static + dynamic_smem_bytes} bytes ({static} static)",
    ]
    fit = machine.occupancy
    if fit is None:
        return ", ".join([*words, f"CTAs per SM {UNKNOWN}"])
    limits = " and ".join(one.replace("_", " ") for one in fit.limiters)
    return ", ".join([*words, f"{quantities.count(fit.ctas_per_sm, 'CTA')} per SM ({limits})"])


def _levels(rows: tuple[LevelRow, ...]) -> str:
    """``cp_async_wait 2 (33×) → 2``: static counts, executions of one thread in brackets."""
    found = []
    for row in sorted(rows, key=lambda row: sync_rank(row.op)):
        ptx, sass = row.ptx, row.sass
        shown = UNKNOWN if ptx is None else str(ptx.static)
        if ptx is not None and ptx.executed is not None:
            shown += f" ({ptx.executed}×)"
        mark = "" if row.agreed else " ! not explained"
        found.append(f"{row.op} {shown} → {UNKNOWN if sass is None else sass.static}{mark}")
    return ", ".join(found) or "no sync op"


def _probes(candidate: Candidate) -> str:
    if candidate.probe is None:
        return "no probes"
    metadata = decode(candidate.probe, ProbeMetadata, "probe metadata")
    words = [quantities.count(len(metadata.sites), "probed site")]
    predicted = [sum(_known(site.predicted)) for site in metadata.sites]
    if all(site.predicted is not None and None not in site.predicted for site in metadata.sites):
        words.append(f"{sum(predicted)} records of a CTA predicted")
    else:
        words.append(f"records predicted {UNKNOWN}")
    return ", ".join([*words, _audit(candidate.audit)])


def _known(counts: tuple[int | None, ...] | None) -> list[int]:
    return [count for count in counts or () if count is not None]


def _audit(audit: Audit | None) -> str:
    if audit is None:
        return "not audited"
    if audit.passed:
        return "SASS audit passed"
    found = [one for one in audit.findings if not one.note]
    return f"SASS audit: {quantities.count(len(found), 'finding')}"
