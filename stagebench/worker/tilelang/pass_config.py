"""Which pass configs does a kernel ask for?  All that stand around and in it, in plain values.

They stand in the decorator (``@tilelang.jit(pass_configs=…)``), in an autotune config, in
``tilelang.compile(…)`` and in the kernel itself (``T.annotate_pass_configs``).  As in TileLang,
what stands outside the kernel wins over what stands in it (``tilelang.jit.compile``, 0.1.15).
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any


def normal_pass_configs(
    prim_func: Any,
    outside: Mapping[Any, Any],
) -> tuple[dict[str, object], list[str]]:
    """Collect pass configs by key, and compiler flags, with ``outside`` around the kernel."""
    attributes = prim_func.attrs
    inside = (
        attributes["tilelang_pass_configs"] if _has(attributes, "tilelang_pass_configs") else {}
    )
    flags = (
        attributes["tilelang_compile_flags"] if _has(attributes, "tilelang_compile_flags") else []
    )
    merged = {**dict(inside), **dict(outside)}
    return {_key(k): _plain(v) for k, v in merged.items()}, [str(flag) for flag in flags]


def _has(attributes: Any, name: str) -> bool:
    return attributes is not None and name in attributes


def _key(key: object) -> str:
    return str(key.value) if isinstance(key, enum.Enum) else str(key)


def _plain(value: object) -> object:
    """Return the Python value of one that the IR holds (``IntImm``, ``StringImm``)."""
    if isinstance(value, enum.Enum):
        return value.value
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        return str(value)
    constant = getattr(value, "value", None)
    if isinstance(constant, (bool, int, float, str)):
        return bool(constant) if str(getattr(value, "dtype", "")) == "bool" else constant
    return value
