"""Who is told what a sweep does while it does it?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from stagebench.lowering.lower import Lowering, Watcher
from stagebench.worker.protocol import LowerRequest


class Unwatched:
    """A watcher that does nothing."""

    def planned(self, requests: Sequence[LowerRequest]) -> None:
        """Ignore."""

    def importing(self) -> None:
        """Ignore."""

    def started(self, index: int) -> None:
        """Ignore."""

    def finished(self, index: int, lowering: Lowering) -> None:
        """Ignore."""

    def assembled(self, index: int, lowering: Lowering) -> None:
        """Ignore."""


class SweepWatcher(Watcher, Protocol):
    """A `Watcher` that is first told of all requests."""

    def planned(self, requests: Sequence[LowerRequest]) -> None:
        """All requests, before anything starts (again where the kernel is lowered as written)."""
