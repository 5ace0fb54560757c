"""What is said when a kernel's file needs a real GPU?  Which line does, and what to do."""

from __future__ import annotations

import traceback

from stagebench.errors import UsageError
from stagebench.worker.loading.user_tree import UserTree

_HINT = (
    'move it below `if __name__ == "__main__":` or into a function of its own; '
    "only what builds the kernel is run here"
)


class GpuNeededError(UsageError):
    """A line of the kernel's file launches, allocates on or asks something only a GPU can do."""


class UnknownPropertyError(GpuNeededError, AttributeError):
    """A device property that the arch does not determine.  ``hasattr`` and ``getattr`` see it."""


def gpu_needed(tree: UserTree, what: str, *, hint: str = _HINT) -> GpuNeededError:
    """Make the error for ``what`` (a clause: "launches a kernel") at the user's current line."""
    return GpuNeededError(_message(tree, what), hint=hint)


def unknown_property(tree: UserTree, what: str) -> UnknownPropertyError:
    """Make the error for a device property without an answer."""
    return UnknownPropertyError(
        _message(tree, what), hint="make the value a parameter of the kernel and give it with --set"
    )


def failed_for_gpu(tree: UserTree, error: Exception) -> GpuNeededError | None:
    """Make the error for one that ``torch.cuda`` raised for want of a GPU, if it did.

    Streams and events of a torch without CUDA fail in their constructors, in words of their own.
    """
    place = tree.raising_line(error.__traceback__)
    if place is None:
        return None
    below = False
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if tree.contains(frame.f_code.co_filename):
            below = False
        elif str(frame.f_globals.get("__name__", "")).startswith("torch.cuda"):
            below = True
    if not below:
        return None
    return GpuNeededError(f"{tree.show(place)} uses the GPU through torch: {error}", hint=_HINT)


def _message(tree: UserTree, what: str) -> str:
    place = tree.current_line()
    return f"{tree.show(place)} {what}" if place else f"the kernel's file {what}"
