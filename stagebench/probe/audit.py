"""Does the machine code still time what the probes meant to time, and is it the same kernel?

ptxas may move, copy or drop code.  Read from the line table (``nvdisasm -gp``): the clock reads of
a site by the PTX line of each, the wait by its op and the line of its unit.  Every copy of a wait
has to stand between a read before it and a read behind it.  Whole kernels are compared by their
synchronising instructions: each statement that has one in the control has one in the probed build,
in the same order where there are as many copies.  How many copies ptxas makes (unrolled in base,
peeled now and then in the control) is a note.  Polls of a spin out of line don't count,
nor does WARPSYNC, which ptxas puts before a barrier where it can't prove that a warp is together.
Not seen: a wait that ptxas makes no instruction for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from stagebench.assemble.records import MachineText
from stagebench.model.audit_finding import AuditedBuild, AuditFinding
from stagebench.model.facts import Launch
from stagebench.probe.audit_records import Audit, SiteAudit, SiteStatus, finding
from stagebench.probe.audit_resources import compare_resources, ctas_per_sm, spill_bytes
from stagebench.probe.insert import Placed, ProbedText
from stagebench.probe.line_insertion import Lines
from stagebench.ptx.read import read_module
from stagebench.ptx.sites import sync_sites as ptx_sites
from stagebench.sass.control_flow import control_flow
from stagebench.sass.program import Instruction, SassFunction
from stagebench.sass.read import read_sass
from stagebench.sass.sites import POLL, SassSite, sync_sites

_CLOCK = "SR_CLOCKLO"
_READS = frozenset(("CS2R", "S2R", "S2UR"))
_WORK = """
    ATOMG ATOMS DMMA HGMMA HMMA IGMMA IMMA LDG LDGSTS LDS LDSM QGMMA QMMA RED STG STS STSM UTCHMMA
    UTMALDG UTMASTG
"""
_WORK_HEADS = frozenset(_WORK.split())
_SCHEDULED = frozenset(("cp_async_copy", "mma_sync"))
_NOT_OF_THE_KERNEL = frozenset((POLL, "warp_sync"))
_PRODUCTS = frozenset(("mma_sync", "wgmma", "tcgen05_mma"))
_OPS = {"cluster_sync": ("cluster_wait",), "syncthreads": ("syncthreads", "partial_barrier")}


def audit(
    builds: Mapping[AuditedBuild, MachineText],
    probed: ProbedText,
    control: Lines,
    *,
    launch: Launch,
    arch: str,
) -> Audit:
    """Audit three builds of one kernel; ``probed`` and ``control`` say where its lines went."""
    flows = {
        build: control_flow(read_sass(text.sass, probed.kernel)) for build, text in builds.items()
    }
    sync = {
        build: sync_sites(flows[build], _ops(text.ptx, probed.kernel))
        for build, text in builds.items()
    }
    sites = _audit_sites(flows["probed"].function, sync["probed"], probed.sites)
    occupancies = ctas_per_sm(builds, launch, arch)
    findings = [
        finding(one.status, f"site {one.site}: {_STATUS[one.status]}", site=one.site)
        for one in sites
        if one.status != "ok"
    ]
    findings += _skeleton(sync)
    findings += _lost(sync["control"], control.original, sync["probed"], probed.lines.original)
    findings += compare_resources(builds, occupancies, flows)
    return Audit(
        passed=all(one.note for one in findings),
        sites=sites,
        findings=tuple(findings),
        registers={build: text.resources.registers for build, text in builds.items()},
        spill_bytes={build: spill_bytes(text) for build, text in builds.items()},
        code_bytes={build: text.resources.code_bytes for build, text in builds.items()},
        ctas_per_sm=occupancies,
    )


_STATUS: dict[str, str] = {
    "moved": "a wait does not stand between its two clock reads",
    "wait_missing": "no instruction for the wait was found",
    "read_missing": "a clock read is missing",
}


def _ops(ptx: str, kernel: str) -> dict[int, str]:
    module = read_module(ptx)
    entry = next(one for one in module.entries if one.name == kernel)
    return {site.line: site.op for site in ptx_sites(entry)}


def _audit_sites(
    function: SassFunction, sync: Sequence[SassSite], sites: Sequence[Placed]
) -> tuple[SiteAudit, ...]:
    by_line: dict[int, list[Instruction]] = {}
    for instruction in function.instructions:
        if _reads_clock(instruction) and instruction.ptx_line is not None:
            by_line.setdefault(instruction.ptx_line, []).append(instruction)
    waits: dict[int, list[SassSite]] = {}
    for site in sync:
        if site.op != POLL and site.ptx_line is not None:
            waits.setdefault(site.ptx_line, []).append(site)
    found = []
    for placed in sites:
        op = placed.unit.site.op
        here = [
            wait.index
            for line in placed.unit_lines
            for wait in waits.get(line, ())
            if wait.op in _OPS.get(op, (op,))
        ]
        before = by_line.get(placed.before_line, [])
        after = by_line.get(placed.after_line, [])
        found.append(_audit_site(placed.id, function, sorted(set(here)), before, after))
    return tuple(found)


def _audit_site(
    number: int,
    function: SassFunction,
    waits: Sequence[int],
    before: Sequence[Instruction],
    after: Sequence[Instruction],
) -> SiteAudit:
    """Every wait is between two reads, nearest first, and every pair of reads has a wait."""
    status: SiteStatus = "ok"
    spans: list[tuple[int, int]] = []
    if not before or not after:
        status = "read_missing"
    elif not waits:
        status = "wait_missing"
    else:
        events = sorted(
            [(one.index, "before") for one in before]
            + [(one.index, "after") for one in after]
            + [(index, "wait") for index in waits]
        )
        for index in waits:
            at = events.index((index, "wait"))
            left = next((one for one in reversed(events[:at]) if one[1] != "wait"), None)
            right = next((one for one in events[at + 1 :] if one[1] != "wait"), None)
            if left is None or right is None or (left[1], right[1]) != ("before", "after"):
                status = "moved"
            else:
                spans.append((left[0], right[0]))
    work: Counter[str] = Counter()
    for first, last in set(spans):
        inside = function.instructions[first + 1 : last]
        work.update(one.head for one in inside if one.head in _WORK_HEADS)
    return SiteAudit(
        site=number,
        status=status,
        copies=len(waits),
        span=max((last - first - 1 for first, last in spans), default=0),
        work=dict(sorted(work.items())),
        reads=tuple(sorted({one.head for one in (*before, *after)})),
    )


def _reads_clock(instruction: Instruction) -> bool:
    return instruction.head in _READS and any(_CLOCK in one for one in instruction.operands)


def _skeleton(sync: Mapping[AuditedBuild, Sequence[SassSite]]) -> list[AuditFinding]:
    ops = {
        build: [_shown(site) for site in sites if site.op not in _NOT_OF_THE_KERNEL]
        for build, sites in sync.items()
    }
    counts = {build: Counter(shown) for build, shown in ops.items()}
    findings: list[AuditFinding] = []
    pairs: tuple[tuple[AuditedBuild, AuditedBuild], ...] = (
        ("base", "control"),
        ("control", "probed"),
    )
    for left, right in pairs:
        before, after = counts[left], counts[right]
        if before.keys() != after.keys():
            only = ", ".join(sorted(before.keys() ^ after.keys()))
            findings.append(finding("ops_differ", f"{left} and {right}: {only}", build=right))
        elif before != after:
            shown = f"{left} → {right}: {_difference(before, after)}"
            findings.append(finding("copies_differ", f"copies of code: {shown}", build=right))
        elif right == "probed" and _ordered(ops[left]) != _ordered(ops[right]):
            message = "control and probed synchronise in another order of code"
            findings.append(finding("order_differs", message))
    return findings


def _lost(
    control: Sequence[SassSite],
    control_lines: Mapping[int, int],
    probed: Sequence[SassSite],
    probed_lines: Mapping[int, int],
) -> list[AuditFinding]:
    """Statements that synchronise in the control and, copies or not, don't in the probed build.

    Only asked where the copies differ: the line table is vague about products.
    """
    if Counter(map(_shown, control)) == Counter(map(_shown, probed)):
        return []
    before = {(site.op, control_lines.get(site.ptx_line or 0)) for site in control}
    after = {(site.op, probed_lines.get(site.ptx_line or 0)) for site in probed}
    return [
        finding("ops_differ", f"the {op} of PTX line {line} is in the control alone")
        for op, line in sorted(before - after, key=str)
        if line is not None and op not in _PRODUCTS | _NOT_OF_THE_KERNEL
    ]


def _ordered(ops: Sequence[str]) -> list[str]:
    """Without copies and products, which are scheduled between one another."""
    return [op for op in ops if op not in _SCHEDULED]


def _shown(site: SassSite) -> str:
    pending = site.args.get("max_pending")
    return site.op if pending is None else f"{site.op}({pending})"


def _difference(left: Counter[str], right: Counter[str]) -> str:
    return ", ".join(
        f"{op} {left[op]} → {right[op]}"
        for op in sorted(left.keys() | right.keys())
        if left[op] != right[op]
    )
