"""What does a call do that is in no table of intrinsics?"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from stagebench.worker.tir import nodes as ir
from stagebench.worker.tir.intrinsic import Intrinsic, device_function

_WITHOUT_EFFECT = frozenset({0, 1, 2})
"""``CallEffectKind`` values of ops that can't synchronise: annotation, pure, read-only state.

Source: ``tvm/tirx/op_attr_types.h``, ``enum class CallEffectKind``.
"""


def unlisted(call: Any, name: str, harmless: Collection[str]) -> Intrinsic | None:
    """What a call that is in no table of intrinsics does; ``None``: nothing that synchronises."""
    if name in ("call_extern", "call_pure_extern"):
        values = [ir.extent_of(arg) for arg in list(call.args)[1:]]
        return device_function(str(call.args[0].value), values)
    if name in harmless:
        return None
    effect = getattr(call.op, "get_attr", lambda _: None)("TCallEffectKind")
    if effect is not None and int(effect) in _WITHOUT_EFFECT:
        return None
    return Intrinsic((f"unknown:{name}",))
