"""What ends with its ``with`` block on the device?  Unless the context, and all in it, is lost."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import TYPE_CHECKING, Generic, TypeVar

from stagebench.gpu.driver import Driver, DriverError

if TYPE_CHECKING:
    from typing_extensions import Self

T = TypeVar("T")


class Held(ABC, Generic[T]):
    """Things of one kind that are on the device, released together."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._held: list[T] = []

    @abstractmethod
    def release(self, one: T) -> None:
        """Give one back."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        lost = isinstance(error, DriverError) and error.sticky
        for one in [] if lost else self._held:
            self.release(one)
        self._held.clear()
