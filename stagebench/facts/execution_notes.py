"""What must a reader of the executions know: where are they an upper bound, and why is one missing?

Counts take every branch, also one whose condition depends on a loop's index alone.  Conditions on
the thread (or its warp) alone, and the election of one thread, are none of these: a count is of a
thread that reaches the site.
"""

from __future__ import annotations

from collections.abc import Iterable

from stagebench.facts.sync import executions
from stagebench.model import Diagnostic
from stagebench.model.observation import SeenKernel

_ELECTION = "tl_shuffle_elect"
_NAMED = 4
"""How many conditions, or loops, are named."""


def execution_notes(kernel: SeenKernel) -> Iterable[Diagnostic]:
    """Notes on upper bounds and on executions that can't be told."""
    guarded: dict[str, dict[str, None]] = {}
    untold: dict[str, dict[str, None]] = {}
    for site in kernel.sites:
        for guard in site.guards:
            if _ELECTION not in guard and guard not in site.thread_guards:
                guarded.setdefault(_plain(guard), {})[site.op] = None
        if executions(kernel, site) is None:
            loops = (kernel.loops[index] for index in site.loops)
            nest = " > ".join(f"{loop.var}<{loop.extent}" for loop in loops)
            untold.setdefault(nest, {})[site.op] = None
    if guarded:
        yield Diagnostic(
            severity="note",
            code="every-branch-taken",
            message="every branch is taken, so executions are an upper bound of what runs behind "
            + _listed(f"`{guard}` ({', '.join(ops)})" for guard, ops in guarded.items()),
        )
    if untold:
        yield Diagnostic(
            severity="note",
            code="executions-not-known",
            message="a trip count changes from trip to trip of a loop around it and can't be added "
            "up: no executions of "
            + _listed(f"{', '.join(ops)} in {nest}" for nest, ops in untold.items()),
        )


def _plain(guard: str) -> str:
    """A condition on one line; of an ``else`` branch the condition itself: it is one question."""
    shown = " ".join(guard.split())
    return shown[2:-1] if shown.startswith("!(") and shown.endswith(")") else shown


def _listed(items: Iterable[str]) -> str:
    shown = list(items)
    more = len(shown) - _NAMED
    return "; ".join(shown[:_NAMED]) + (f"; and {more} more" if more > 0 else "")
