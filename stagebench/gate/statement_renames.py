"""Do two kernels' loop statements differ in names alone, as ``gemm lhs → acc`` and ``… → zed``?

Fragments have no fact of their own, so that no other fact tells of their new names.  Equal means:
one renaming, one to one, of all statements of all loops, to names that the baseline does not use,
and a shared buffer or a parameter only to another one.
"""

from __future__ import annotations

import re

from stagebench.model import Facts

_TOKEN = re.compile(r"[^\W\d]\w*|\d+|\S")
_KEYWORDS = frozenset({"nothing", "and", "or", "not", "True", "False"})


def only_renamed(left: Facts, right: Facts) -> bool:
    """Whether the summaries of all statements are the same but for names."""
    if len(left.pipeline_loops) != len(right.pipeline_loops):
        return False
    names: dict[str, str] = {}
    for one, two in zip(left.pipeline_loops, right.pipeline_loops, strict=True):
        if len(one.statements) != len(two.statements):
            return False
        for before, after in zip(one.statements, two.statements, strict=True):
            if not _learn(names, _words(before.summary), _words(after.summary)):
                return False
    renamed = {old: new for old, new in names.items() if old != new}
    return (
        len(set(names.values())) == len(names)
        and not any(new in names for new in renamed.values())
        and all(
            (old in ours) == (new in theirs)
            for ours, theirs in zip(_known(left), _known(right), strict=True)
            for old, new in names.items()
        )
    )


def _learn(
    names: dict[str, str], before: list[tuple[str, bool]], after: list[tuple[str, bool]]
) -> bool:
    """Note what each name has become; ``False`` where the words differ otherwise."""
    if len(before) != len(after):
        return False
    for (old, is_name), (new, is_name_too) in zip(before, after, strict=True):
        if is_name != is_name_too or (not is_name and old != new):
            return False
        if is_name and names.setdefault(old, new) != new:
            return False
    return True


def _words(summary: str) -> list[tuple[str, bool]]:
    """Each token, and whether it is a name; what opens a clause or is called is an operator."""
    tokens = _TOKEN.findall(summary)
    found = []
    for index, token in enumerate(tokens):
        before = tokens[index - 1] if index else ";"
        behind = tokens[index + 1] if index + 1 < len(tokens) else ""
        fixed = before in (":", ";", ".") or behind in ("(", ".") or token in _KEYWORDS
        found.append((token, token.isidentifier() and not fixed))
    return found


def _known(facts: Facts) -> tuple[frozenset[str], frozenset[str]]:
    """The names of the shared buffers, and of the tensors and other parameters."""
    launch = facts.launch
    return (
        frozenset(buffer.name for buffer in facts.shared_buffers),
        frozenset(
            (*(p.name for p in launch.params), *(str(d.tensor) for d in launch.tma_descriptors))
        ),
    )
