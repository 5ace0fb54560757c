"""Which name of the right variant stands for which of the left?  Learnt from matched records."""

from __future__ import annotations

import re
from collections.abc import Iterable

from stagebench.diff.fact_change import Kind
from stagebench.model import LaunchParam

_WORD = re.compile(r"[A-Za-z_]\w*")


def words_of(kernel_cu: str | None) -> frozenset[str] | None:
    """Every word of a CUDA text; ``None`` without one."""
    return None if kernel_cu is None else frozenset(_WORD.findall(kernel_cu))


class FactRenames:
    """Names of loops, buffers, barriers and parameters, one to one wherever either stands.

    With the words of both CUDA texts, two names that only one text has are not the same name.
    """

    def __init__(self, left_cu: frozenset[str] | None, right_cu: frozenset[str] | None) -> None:
        self._left_cu = left_cu
        self._right_cu = right_cu
        self._names: dict[str, str] = {}
        self._same: list[tuple[str, str]] = []
        self._refused: set[tuple[str, str]] = set()

    def learn(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Right names that stand for left ones: one to one, in every place where either stands.

        A name that both sides use stays as it is: two that are swapped are not renamed.
        """
        self._same += pairs
        mine_of: dict[str, set[str]] = {}
        theirs_of: dict[str, set[str]] = {}
        for mine, theirs in self._same:
            mine_of.setdefault(theirs, set()).add(mine)
            theirs_of.setdefault(mine, set()).add(theirs)
        self._names = {
            theirs: mine
            for mine, theirs in self._same
            if mine != theirs
            and len(mine_of[theirs]) == len(theirs_of[mine]) == 1
            and theirs not in theirs_of
            and mine not in mine_of
            and (mine, theirs) not in self._refused
        }

    def refuse(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Left and right names that are never the same, whatever is learnt."""
        self._refused.update(pairs)

    def in_cuda(self, mine: str, theirs: str) -> bool:
        """Are what one side calls this and the other that both in the CUDA text, or neither?"""
        left, right = self._left_cu, self._right_cu
        return left is None or right is None or (mine in left) == (theirs in right)

    def in_left(self, value: object) -> object:
        """A right value in the left side's names."""
        if not self._names:
            return value
        if isinstance(value, str):
            return _WORD.sub(lambda word: self._names.get(word[0], word[0]), value)
        if isinstance(value, tuple):
            return tuple(self.in_left(item) for item in value)
        return value

    def order_kind(self, params: Iterable[LaunchParam], order: Iterable[object]) -> Kind:
        """A parameter order is a name's doing where one that is renamed moved, and nothing else.

        ``params`` are the left's, ``order`` is the right order in the left's names.
        """
        types = {param.name: (param.kind, param.dtype) for param in params}
        renamed = set(self._names.values())
        orders = [list(types), [str(name) for name in order]]
        kept = [[name for name in names if name not in renamed] for names in orders]
        if kept[0] != kept[1] or not renamed.intersection(types):
            return "fact"
        for kind in set(types.values()):
            moved = [
                [name for name in names if name in renamed and types.get(name) == kind]
                for names in orders
            ]
            if moved[0] != moved[1]:
                return "fact"
        return "rename"
