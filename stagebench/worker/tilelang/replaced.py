"""How is a name of another library replaced while a kernel loads?  Here, and it is put back.

This is the one place where we patch what is not ours, and it happens only in a worker's forked
child: the user's file calls ``torch.cuda`` and ``tilelang.compile`` itself, so there is no seam
between it and them.  Everything is put back when the load ends; lowering sees the originals.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

_ABSENT = object()


def replace(stack: ExitStack, owner: Any, name: str, value: object) -> None:
    """Set ``owner.name`` until ``stack`` closes.  A name that this release lacks is left alone."""
    if not hasattr(owner, name):
        return
    before = vars(owner).get(name, _ABSENT)
    setattr(owner, name, value)
    if before is _ABSENT:
        stack.callback(delattr, owner, name)
    else:
        stack.callback(setattr, owner, name, before)
