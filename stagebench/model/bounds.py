"""Which numbers can a record hold?  Held when it is read; what a device wrote is never below zero.

``le`` keeps out what only a broken file says: a time of more than 10¹² microseconds is eleven days.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

Count = Annotated[int, Meta(ge=0)]
"""How many: cycles, bytes, warps, registers, a depth."""
Some = Annotated[int, Meta(ge=1)]
"""How many, where none would be no record."""
Amount = Annotated[float, Meta(ge=0, le=1e15)]
"""A mean or a median of cycles."""
Microseconds = Annotated[float, Meta(gt=0, le=1e12)]
"""A launch takes some time."""
Ratio = Annotated[float, Meta(gt=0, le=1e12)]
"""One time over another."""
Share = Annotated[float, Meta(ge=0, le=1)]
"""A part of a whole, or a probability."""
Excess = Annotated[float, Meta(ge=0, le=1e9)]
"""A part of what should be the most, and may be more: a device in boost, bytes found in a cache."""
