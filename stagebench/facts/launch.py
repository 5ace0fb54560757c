"""How is the kernel launched?"""

from __future__ import annotations

from stagebench.model import Launch, Observation


def launch(observation: Observation) -> Launch:
    """Grid, block, cluster, dynamic shared memory, arguments, TMA descriptors and tensors."""
    kernel = observation.kernel
    return Launch(
        function=kernel.function,
        grid=kernel.grid,
        block=kernel.block,
        cluster=kernel.cluster,
        dynamic_smem_bytes=kernel.dynamic_smem_bytes,
        params=kernel.params,
        tma_descriptors=kernel.tma_descriptors,
        tensors=kernel.tensors,
        profilers=kernel.profilers,
    )
