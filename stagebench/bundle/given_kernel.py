"""What is known of a kernel that no compiler of ours made?  Its plan, its PTX, its machine code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from stagebench.model import Launch, MachineCode, Variant

PlacedLine = tuple[int, str, int]
"""A line, and the file and line that it is said to be of."""


@dataclass(frozen=True)
class GivenKernel:
    """In the place of a `VariantResult`: there are no facts of an IR, and none are made up.

    ``launch.function`` is the entry's name in the PTX, ``scalars`` its scalar arguments.
    ``source`` is the file's name, ``cuda_file`` that of the CUDA behind it (``None``: PTX whose
    ``.loc`` names another language, or nothing).  ``lines`` says of a line of that file where a
    ``#line`` puts it, or which file of another language it is of.
    ``headers`` are the folders of the author's own headers.
    ``machine`` is what was read of the kernel as assembled for ``packed_arch``; ``problem`` says
    why there is none.
    """

    variant: Variant
    launch: Launch
    scalars: Mapping[str, int | float]
    source: str
    cuda_file: str | None = None
    lines: tuple[PlacedLine, ...] = ()
    headers: tuple[str, ...] = ()
    machine: MachineCode | None = None
    packed_arch: str | None = None
    problem: str | None = None

    @property
    def integers(self) -> dict[str, int]:
        """The scalar arguments that a walk of the PTX can follow."""
        return {name: int(one) for name, one in self.scalars.items() if not isinstance(one, float)}
