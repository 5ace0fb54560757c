"""Which of several things does a text of ``--only`` mean?  Of a whole name before a part of one."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Mapping
from typing import TypeVar

T = TypeVar("T", bound=Hashable)

_APART = "/,:"
"""What stands between the words of a name: ``k.py:gemm/sm_90a/num_stages=1,block_N=64``."""


def chosen(text: str, names: Mapping[T, Collection[str]]) -> frozenset[T]:
    """What is called so; else what has it as whole words in a name; else as a part of one.

    ``gemm/sm_90a`` is not ``dequant_gemm/sm_90a``, ``num_stages=1`` not ``num_stages=16``.
    """
    for means in (str.__eq__, _whole, str.__contains__):
        found = frozenset(
            one for one, called in names.items() if any(means(name, text) for name in called)
        )
        if found:
            return found
    return frozenset()


def _whole(name: str, text: str) -> bool:
    if not text:
        return False
    return any(
        (at.start() == 0 or name[at.start() - 1] in _APART or text[0] in _APART)
        and (at.end() == len(name) or name[at.end()] in _APART or text[-1] in _APART)
        for at in re.finditer(re.escape(text), name)
    )
