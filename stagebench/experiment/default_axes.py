"""What is swept, followed or compared where an option says nothing?  Also told by help texts."""

from __future__ import annotations

DEFAULT_ARCHS = ("sm_80", "sm_90a")
DEFAULT_NUM_STAGES = (1, 2, 3, 4)
NUM_STAGES_OF_ONE = 2
"""The depth where one variant is followed or compared."""
