"""Is the launch told as the device function says it?"""

from stagebench.facts.launch import launch
from stagebench.model import LaunchParam, LaunchTensor
from tests.facts.building import observation


def test_launch():
    """Grid, block, cluster, memory and arguments are those of the final function, in its order."""
    params = (
        LaunchParam(name="B", kind="tensor", dtype="float16"),
        LaunchParam(name="A_desc", kind="tma_descriptor", dtype="CUtensorMap"),
        LaunchParam(name="n", kind="scalar", dtype="int32"),
    )
    tensors = (
        LaunchTensor(
            name="B", dtype="float16", shape=("n", 64), strides=(64, 1), read=True, written=False
        ),
    )
    found = launch(
        observation(
            grid=("ceildiv(n, 64)", 8, 1), block=(256, 1, 1), cluster=(2, 1, 1),
            dynamic_smem_bytes=4096, params=params, tensors=tensors,
        )
    )  # fmt: skip
    assert (found.function, found.grid, found.block) == (
        "kernel", ("ceildiv(n, 64)", 8, 1), (256, 1, 1),
    )  # fmt: skip
    assert (found.cluster, found.dynamic_smem_bytes) == ((2, 1, 1), 4096)
    assert (found.params, found.tma_descriptors, found.tensors) == (params, (), tensors)


def test_no_cluster_is_none():
    """A kernel that is launched without clusters has none, not clusters of one."""
    assert launch(observation()).cluster is None
