"""What does one intrinsic stand for?  Taxonomy ops, and where the call keeps their arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from stagebench.facts import cuda_callees
from stagebench.model import Extent


@dataclass(frozen=True)
class Intrinsic:
    """The ops that one call stands for; ``args`` maps our argument names to call positions."""

    ops: tuple[str, ...]
    args: dict[str, int] = field(default_factory=dict)
    constants: dict[str, Extent] = field(default_factory=dict)


def one_op(op: str, /, **args: int) -> Intrinsic:
    """One op, with the call positions of its arguments."""
    return Intrinsic((op,), args)


def storage_sync(scope: str, extra: list[int | str]) -> Intrinsic | None:
    """What ``tvm_storage_sync(scope, …)`` becomes; ``None``: no code (warp scope).

    ``extra`` are the arguments after the scope: barrier id, then thread count.
    """
    if scope == "warp":
        return None
    if scope == "cluster":
        return Intrinsic(("cluster_sync",))
    if scope in ("shared", "shared.dyn"):
        if not extra:
            return Intrinsic(("syncthreads",))
        names = ("barrier_id", "threads")
        return Intrinsic(("partial_barrier",), {}, dict(zip(names, extra, strict=False)))
    return Intrinsic((f"unknown:tvm_storage_sync({scope})",))


def device_function(text: str, values: Sequence[Extent]) -> Intrinsic | None:
    """What a device function does that is called by its name (``call_extern``).

    ``text`` is the name with its template arguments, as the generated CUDA will say it, and
    ``values`` are the call's arguments; the names are those that the CUDA reader knows
    (`stagebench.facts.cuda_callees`).  ``None``: nothing that is a site.
    """
    head, _, rest = text.partition("<")
    templates, _, tail = rest.rpartition(">")
    name = head + tail
    if cuda_callees.is_plain(name):
        return None
    reader = cuda_callees.SYNC.get(name)
    if reader is None:
        return None if cuda_callees.hidden_syncs(name, []) else Intrinsic((f"unknown:{name}",))
    parts = [part.strip() for part in templates.split(",") if part]
    parameters: list[Extent] = [int(part) if part.isdigit() else part for part in parts]
    found = reader(parameters, values)
    constants = {key: value for _, args in found for key, value in args.items()}
    return Intrinsic(tuple(op for op, _ in found), {}, constants)
