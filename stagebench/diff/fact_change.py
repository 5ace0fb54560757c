"""What is one difference between the facts of two variants?"""

from __future__ import annotations

from typing import Literal

import msgspec

from stagebench.model import Evidence, ParamValue, Record

Group = Literal[
    "outcome", "schedule", "memory", "sync", "barriers", "launch", "machine", "diagnostics"
]
Kind = Literal["fact", "rename", "position", "spelling"]
Presence = Literal["both", "left", "right"]


class Since(Record, frozen=True, kw_only=True):
    """The first pass after which the two variants differ in a fact, and go on to differ.

    ``pass`` is ``None`` where they differ before the first pass already: it was asked for.
    ``left`` and ``right`` are the fact's values there, and where in the IR text after the pass they
    are read (1-based line of ``snapshot``); ``None``: not to be seen in the text of that side.
    """

    pass_name: str | None = msgspec.field(name="pass")
    left_sequence: int | None
    right_sequence: int | None
    left: ParamValue
    right: ParamValue
    left_evidence: Evidence | None
    right_evidence: Evidence | None


class FactChange(Record, frozen=True, kw_only=True):
    """One fact that is not the same in two variants.

    ``path`` names the fact for scripts, with the left variant's names in it
    (``shared_buffers[A_shared].num_versions``); ``text`` says it for people, and begins with
    ``subject``, the thing that changed, where it is about one (``A_shared``).  ``kind`` is
    ``rename`` where the two are equal but for names, ``position`` where only a line moved, and
    ``spelling`` where two compilers, or releases, say the same in other words
    (`stagebench.diff.spelling`): none is a difference of the code.  ``presence`` says on which side
    the thing exists; a value is ``None`` where it does not, or is not known.  ``follows``: it is
    only another side of a change that is in the list too.
    """

    path: str
    group: Group
    kind: Kind
    presence: Presence
    follows: bool
    subject: str
    text: str
    left: ParamValue
    right: ParamValue
    left_evidence: tuple[Evidence, ...]
    right_evidence: tuple[Evidence, ...]
    since: Since | None = None
