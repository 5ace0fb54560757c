"""Which line of a PTX text could not be understood?"""

from __future__ import annotations

from stagebench.errors import StagebenchError


class PtxSyntaxError(StagebenchError):
    """PTX that the reader does not understand; ``line`` is 1-based, ``text`` that line."""

    def __init__(self, reason: str, *, line: int, text: str) -> None:
        shown = text.strip()
        shown = shown if len(shown) <= 120 else shown[:117] + "…"
        super().__init__(
            f"PTX line {line}: {reason}: {shown}",
            hint="The reader knows PTX ISA 9.0; assemble the text with ptxas to see whether it is "
            "valid, and report the line if it is.",
        )
        self.reason = reason
        self.line = line
        self.text = text
