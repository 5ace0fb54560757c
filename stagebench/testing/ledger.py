"""What did a test session check, and which baselines did nobody ask for?

A ledger is kept in each process and merged where pytest reports (under xdist: the controller), as
plain lists.  A baseline is unused only if its module was collected whole and its test is gone, or
ran to its end without this check: what was deselected, skipped or failed on the way says nothing.
"""

from __future__ import annotations

from pathlib import Path

from stagebench.testing.places import FOLDER, is_of_test, module_folder

Merged = dict[str, list[list[str]]]


class Ledger:
    """Files are absolute; tests and checks are called as in `stagebench.testing.places`."""

    def __init__(self) -> None:
        self.collected: set[tuple[str, str]] = set()
        self.partial: set[tuple[str]] = set()
        self.finished: set[tuple[str, str]] = set()
        self.checked: set[tuple[str, str]] = set()
        self.approvals: set[tuple[str, str, str, str]] = set()

    def pack(self) -> Merged:
        """Everything as lists of text, to cross processes."""
        return {name: sorted(map(list, entries)) for name, entries in vars(self).items()}

    def merge(self, packed: Merged) -> None:
        """Add what another process kept."""
        for name, entries in vars(self).items():
            entries.update(tuple(entry) for entry in packed.get(name, ()))

    def unused(self) -> list[tuple[Path, str]]:
        """Folders of baselines that belong to no check, with the reason."""
        modules = {file for file, _ in self.collected}
        found: list[tuple[Path, str]] = []
        for file in sorted(modules):
            if (file,) not in self.partial:
                found += self._of_module(Path(file))
        for folder in sorted({Path(file).parent / FOLDER for file in modules}):
            for entry in _folders(folder):
                if not (folder.parent / f"{entry.name}.py").exists():
                    found.append((entry, f"there is no {entry.name}.py"))
        return found

    def _of_module(self, file: Path) -> list[tuple[Path, str]]:
        collected = {test for name, test in self.collected if name == str(file)}
        finished = {test for name, test in self.finished if name == str(file)}
        found = []
        for entry in _folders(module_folder(file)):
            if (str(file), entry.name) in self.checked:
                continue
            owners = {test for test in collected if is_of_test(entry.name, test)}
            if owners <= finished:
                why = "no test makes this check" if owners else "there is no such test"
                found.append((entry, why))
        return found


def _folders(root: Path) -> list[Path]:
    try:
        return sorted(
            entry for entry in root.iterdir() if entry.is_dir() and not entry.name.startswith(".")
        )
    except OSError:
        return []
