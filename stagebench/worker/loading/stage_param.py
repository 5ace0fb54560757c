"""Which parameter of a kernel is its depth?  The one named, spelt, or followed from the loop.

In this order: the one the user names; one called ``num_stages``; the one that ``T.Pipelined`` gets
its depth from; one with a well-known name.  A depth that is written in the kernel as a number can't
be swept, and the error says where it stands.
"""

from __future__ import annotations

from collections.abc import Sequence

from stagebench.errors import UsageError
from stagebench.worker.loading.depth_sites import DepthSource
from stagebench.worker.loading.user_tree import UserTree

WELL_KNOWN = (
    "num_stages",
    "num_stage",
    "stages",
    "n_stages",
    "nstages",
    "stage_num",
    "stage_count",
    "pipeline_stages",
    "pipeline_depth",
    "num_pipeline_stages",
    "kStages",
    "STAGES",
    "NUM_STAGES",
)
_DEFAULT = "num_stages"


class NoDepthParameterError(UsageError):
    """A depth was asked for and no parameter of the kernel is known to carry it."""


class LiteralDepthError(NoDepthParameterError):
    """The kernel's depth is written in it as a number: the axis can't be swept as it is."""


def infer_stage_param(
    kernel: str,
    signature_names: Sequence[str],
    own_names: Sequence[str],
    sources: Sequence[DepthSource],
    tree: UserTree,
    *,
    wanted: bool,
) -> str | None:
    """Choose the parameter that is the depth; ``None`` where the kernel has none.

    ``signature_names`` are the parameters of the referenced function, ``own_names`` those that the
    text shows for later levels (a builder that returns a kernel with parameters of its own).
    Loops of several depths are an error where a depth is ``wanted``.
    """
    if _DEFAULT in signature_names or _DEFAULT in own_names:
        return _DEFAULT
    found = list(dict.fromkeys(s.text for s in sources if s.kind == "parameter"))
    if len(found) > 1:
        found = [name for name in WELL_KNOWN if name in found][:1] or found
    if len(found) > 1 and not wanted:
        return None
    if len(found) > 1:
        places = ", ".join(f"{s.text} at {tree.show(s.place)}" for s in sources if s.text in found)
        raise UsageError(
            f"`{kernel}` has pipelined loops of different depths: {places}",
            hint=f"say which one to sweep: --stage-param {found[0]}",
        )
    if found:
        return found[0]
    return next((name for name in WELL_KNOWN if name in signature_names), None)


def no_stage_param(
    kernel: str, sources: Sequence[DepthSource], tree: UserTree
) -> NoDepthParameterError:
    """Make the error for a depth requested of a kernel that has no parameter for it."""
    literal = [s for s in sources if s.kind in ("literal", "absent")]
    unknown = [s for s in sources if s.kind == "unknown"]
    if unknown:
        places = ", ".join(f"`{s.text}` at {tree.show(s.place)}" for s in unknown)
        return NoDepthParameterError(
            f"`{kernel}` takes its pipeline depth from {places}, which is not a parameter",
            hint="name the parameter that decides it: --stage-param NAME",
        )
    if literal:
        places = ", ".join(
            f"{'no num_stages' if s.kind == 'absent' else f'num_stages={s.text}'} "
            f"at {tree.show(s.place)}"
            for s in literal
        )
        return LiteralDepthError(
            f"`{kernel}` has its pipeline depth written in it ({places}), "
            "so num_stages can't be swept as it stands",
            hint="make the depth a parameter (num_stages=num_stages), "
            "or lower the kernel as it is, without --num-stages",
        )
    return NoDepthParameterError(
        f"`{kernel}` has no parameter for a pipeline depth, and no loop in it asks for one",
        hint="lower it without --num-stages, or name its depth with --stage-param NAME",
    )
