"""What did the user give, and what became of it?  One account for all levels of a kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from stagebench.model import ParamValue


@dataclass
class Offer:
    """The given values, by the kernel's own names, while a kernel is built.

    ``taken`` are the names that some call took; ``values`` every parameter's final value, with
    defaults and configs.
    """

    given: Mapping[str, ParamValue] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    values: dict[str, Any] = field(default_factory=dict)

    def record(self, values: Mapping[str, Any], taken: set[str]) -> None:
        """Keep what one call was made with."""
        self.values.update(values)
        self.taken |= taken

    def rest(self, taken: set[str]) -> dict[str, ParamValue]:
        """List the given values that a call does not take by name."""
        return {name: value for name, value in self.given.items() if name not in taken}

    def untaken(self) -> list[str]:
        """List the given names that no call took."""
        return [name for name in self.given if name not in self.taken]
