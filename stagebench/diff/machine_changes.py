"""Which facts of the machine code differ?  Compared only where both variants were assembled."""

from __future__ import annotations

from collections.abc import Iterator

from stagebench.diff.fact_change import FactChange, Presence
from stagebench.diff.fact_words import from_to
from stagebench.diff.machine_facts import FOLLOWING, machine_facts
from stagebench.model import MachineCode, ParamValue

_ABSENT = "–"


def machine_changes(left: MachineCode | None, right: MachineCode | None) -> tuple[FactChange, ...]:
    """Every changed fact in reading order; one change in all where only one was assembled."""
    if left is None and right is None:
        return ()
    if left is None or right is None:
        return (_change("machine", _assembled(left), _assembled(right), "both"),)
    return tuple(_compared(machine_facts(left), machine_facts(right)))


def _assembled(machine: MachineCode | None) -> str:
    return "not assembled" if machine is None else "assembled"


def _compared(left: dict[str, ParamValue], right: dict[str, ParamValue]) -> Iterator[FactChange]:
    for path in dict.fromkeys((*left, *right)):
        mine, theirs = left.get(path), right.get(path)
        if path in left and path in right and mine == theirs:
            continue
        presence: Presence = (
            "both" if path in left and path in right else "left" if path in left else "right"
        )
        yield _change(path, mine, theirs, presence)


def _change(path: str, left: ParamValue, right: ParamValue, presence: Presence) -> FactChange:
    subject = path.removeprefix("machine.") if path != "machine" else "machine code"
    return FactChange(
        path=path,
        group="machine",
        kind="fact",
        presence=presence,
        follows=path.startswith(FOLLOWING),
        subject=subject,
        text=f"{subject} {from_to(_said(left), _said(right))}",
        left=left,
        right=right,
        left_evidence=(),
        right_evidence=(),
    )


def _said(value: ParamValue) -> str:
    if value is None:
        return _ABSENT
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    return str(value)
