"""What did the loader decide on the user's behalf?  Notes, in the order in which they arose."""

from __future__ import annotations

from collections.abc import Sequence

from stagebench.model import Diagnostic, Evidence
from stagebench.worker.loading.user_tree import Place, UserTree


class Notes:
    """Collects diagnostics of severity ``note``; the same note is kept once."""

    def __init__(self, tree: UserTree) -> None:
        self._tree = tree
        self._notes: dict[tuple[str, str], Diagnostic] = {}

    def add(
        self, code: str, message: str, place: Place | None = None, *, texts: Sequence[str] = ()
    ) -> None:
        """Add a note; ``place`` is the user's line that it is about, ``texts`` what was read."""
        evidence = tuple(Evidence(artifact="source", text=text) for text in texts)
        if place is not None:
            shown = self._tree.show(place)
            message = f"{shown}: {message}"
            evidence = (Evidence(artifact="source", line=place[1], text=shown), *evidence)
        note = Diagnostic(severity="note", code=code, message=message, evidence=evidence)
        self._notes.setdefault((code, message), note)

    def all(self) -> tuple[Diagnostic, ...]:
        """Every note, in order."""
        return tuple(self._notes.values())
