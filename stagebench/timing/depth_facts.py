"""Which of a variant's facts can change its time from depth to depth?"""

from __future__ import annotations

from stagebench.model import Extent, Facts, Launch, MachineCode
from stagebench.model.timing import DepthFacts


def depth_facts(facts: Facts) -> DepthFacts:
    """Versions, wait depths, barriers, shared memory, registers, occupancy of one variant."""
    depths: dict[str, dict[Extent, None]] = {}
    for site in facts.sync_ops:
        if "max_pending" in site.args:
            depths.setdefault(site.op, {})[site.args["max_pending"]] = None
    machine = facts.machine
    occupancy = machine.occupancy if machine is not None else None
    return DepthFacts(
        versions={buffer.name: buffer.num_versions for buffer in facts.shared_buffers},
        wait_depths={op: tuple(found) for op, found in depths.items()},
        barriers=sum(barrier.count for barrier in facts.barriers),
        smem_bytes=facts.shared_memory.total_bytes,
        registers=machine.registers if machine is not None else None,
        ctas_per_sm=occupancy.ctas_per_sm if occupancy is not None else None,
    )


def given_depth_facts(machine: MachineCode, launch: Launch) -> DepthFacts:
    """The same of a kernel that came with a launch plan: what its machine code says."""
    depths: dict[str, dict[Extent, None]] = {}
    for site in machine.sites:
        if "max_pending" in site.args:
            depths.setdefault(site.op, {})[site.args["max_pending"]] = None
    return DepthFacts(
        versions=None,
        wait_depths={op: tuple(found) for op, found in depths.items()},
        barriers=None,
        smem_bytes=machine.resources.static_smem_bytes + launch.dynamic_smem_bytes,
        registers=machine.registers,
        ctas_per_sm=None if machine.occupancy is None else machine.occupancy.ctas_per_sm,
    )
