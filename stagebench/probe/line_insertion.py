"""How does text get between the lines of another, so that one knows on which lines it stands?

The lines of the original stay as they are, in their order; what is put at the same place keeps its
rank (`Rank`): what ends something comes before what starts something.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum


class Rank(IntEnum):
    """The order of what is put before the same line."""

    DECLARATION = 0
    BEHIND = 1
    PRAGMA = 2
    ENTRY = 3
    BEFORE = 4
    EXIT = 5


@dataclass(frozen=True)
class Lines:
    """A text with insertions; ``moved`` maps 1-based lines of the original to the new ones."""

    text: str
    moved: dict[int, int]
    marks: dict[str, int]

    @property
    def original(self) -> dict[int, int]:
        """Lines of the text to those of the original, for those that come from there."""
        return {new: old for old, new in self.moved.items()}


@dataclass
class Insertion:
    """Collects insertions, then applies them."""

    _before: dict[int, list[tuple[Rank, int, list[tuple[str, str | None]]]]] = field(
        default_factory=dict
    )
    _count: int = 0

    def before(self, line: int, rank: Rank, texts: list[str], mark: str | None = None) -> None:
        """Put texts before a line; ``mark`` names the line of the first of them."""
        self._count += 1
        marked = [(text, mark if at == 0 else None) for at, text in enumerate(texts)]
        self._before.setdefault(line, []).append((rank, self._count, marked))

    def apply(self, lines: tuple[str, ...]) -> Lines:
        """Apply to the lines of a text."""
        out: list[str] = []
        moved: dict[int, int] = {}
        marks: dict[str, int] = {}
        for number in range(1, len(lines) + 2):
            for _, _, texts in sorted(self._before.get(number, ()), key=lambda each: each[:2]):
                for text, mark in texts:
                    out.append(f"\t{text}")
                    if mark is not None:
                        marks[mark] = len(out)
            if number <= len(lines):
                out.append(lines[number - 1])
                moved[number] = len(out)
        return Lines("\n".join(out), moved, marks)
