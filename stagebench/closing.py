"""What ends what it holds when its ``with`` block is left?  Anything that has a ``close``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Self


class Closing(ABC):
    """Closed on the way out of its block, whatever happened in it."""

    @abstractmethod
    def close(self) -> None:
        """End what is held; more than once is as good as once."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()
