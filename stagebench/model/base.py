"""What do all records share?  Frozen, keyword-only, strict to decode, deterministic to encode."""

from __future__ import annotations

import msgspec

Extent = int | str
"""A trip count or a size: an integer where the compiler proved it constant, else its expression."""

Scalar = bool | int | float | str | None
ParamValue = Scalar | tuple[Scalar | tuple[Scalar, ...], ...]
"""A kernel parameter's value as it crosses processes: scalars and (nested once) tuples of them."""


class Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of every record.  An unknown or mistyped field is an error that names its path."""
