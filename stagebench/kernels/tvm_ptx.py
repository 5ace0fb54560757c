"""How is one PTX operation said in TIRx?  One spelling here for that of every release.

Each function is called while a ``T.prim_func`` is parsed and adds one statement to it.  Which
spelling it is said in is asked of the release by name, never by its version.

Source: ``tvm/backend/cuda/script.py`` of Apache TVM 0.25 and 0.26; of 0.27 ``tvm/backend/cuda/ptx``
(a table of PTX instructions with their qualifiers as attributes) and ``cpp/builtins.py``.
"""

# The DSL's own annotations are values, and its ops are found at run time.
# ruff: noqa: ANN001, ANN201, N812
# mypy: ignore-errors

from tvm.script import tirx as T

_TABLE = hasattr(T.cuda, "mbarrier_wait")
"""0.27: an instruction is an attribute for each qualifier, and ``T.cuda`` spins on an mbarrier."""

_BYTES = 16  # of one cp.async


def copy(shared, from_global):
    """Start a copy of 16 bytes to shared memory by ``cp.async``."""
    if _TABLE:
        return T.evaluate(T.ptx.cp.async_.cg.shared.global_(shared, from_global, _BYTES))
    return T.evaluate(T.ptx.cp_async(shared, from_global, _BYTES))


def commit_group():
    """Close the group of copies that were started."""
    if _TABLE:
        return T.evaluate(T.ptx.cp.async_.commit_group())
    return T.evaluate(T.ptx.cp_async.commit_group())


def wait_group(max_pending):
    """Wait until at most ``max_pending`` groups are in flight."""
    if _TABLE:
        return T.evaluate(T.ptx.cp.async_.wait_group(max_pending))
    return T.evaluate(T.ptx.cp_async.wait_group(max_pending))


def mbarrier_init(barrier, count):
    """Make an mbarrier that expects ``count`` arrivals."""
    if _TABLE:
        return T.evaluate(T.ptx.mbarrier.init.shared.b64(barrier, T.uint32(count)))
    return T.evaluate(T.ptx.mbarrier.init(barrier, count))


def mbarrier_arrive(barrier):
    """Arrive at an mbarrier."""
    if _TABLE:
        return T.evaluate(T.ptx.mbarrier.arrive.shared.b64(barrier, T.uint32(1)))
    return T.evaluate(T.ptx.mbarrier.arrive(barrier))


def mbarrier_arrive_expect_tx(barrier, size):
    """Arrive at an mbarrier that ``size`` bytes will arrive at as well."""
    if _TABLE:
        return T.evaluate(T.ptx.mbarrier.arrive.expect_tx.shared.b64(barrier, T.uint32(size)))
    return T.evaluate(T.ptx.mbarrier.arrive.expect_tx(barrier, size))


def mbarrier_wait(barrier, parity):
    """Spin until the phase of ``parity`` of an mbarrier is complete."""
    if _TABLE:
        return T.evaluate(T.cuda.mbarrier_wait(barrier, parity))
    return T.evaluate(T.ptx.mbarrier.try_wait(barrier, parity))


def fence_proxy_async():
    """Make the mbarriers' initial values visible to the async proxy."""
    if _TABLE:
        return T.evaluate(T.ptx.fence.proxy.async_.shared__cta())
    return T.evaluate(T.ptx.fence.proxy_async("shared::cta"))


def tma_load(shared, barrier, descriptor, column, row):
    """Start the TMA load of a 2D box whose bytes arrive at ``barrier``; this CTA's alone."""
    if _TABLE:
        load = T.ptx["cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"]
        return T.evaluate(load(shared, descriptor, column, row, barrier))
    tensor = T.ptx.cp_async.bulk.tensor
    if hasattr(tensor, "g2s_cluster"):  # 0.26: a mask of one CTA is no multicast
        return T.evaluate(tensor.g2s_cluster(2, shared, barrier, descriptor, 1, 1, "", column, row))
    return T.evaluate(tensor.g2c(2, shared, barrier, descriptor, 0, 1, "", column, row))
