"""Which tokens has a line of IR, of what kind is it, and in which tokens do two lines differ?"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from functools import lru_cache

from stagebench.diff.text_tokens import lex

TokenPair = tuple[str, str]
"""A token of the left text and what stands in its place in the right one."""
_NUMBERED = re.compile(r"(.+?)_\d+\Z")


@lru_cache(maxsize=1 << 15)
def tokens_of(line: str) -> tuple[str, ...]:
    """The words of one line without blanks and comments."""
    words = tuple(
        word
        for token_line in lex(line.strip(), "tvmscript")
        for word, kind in zip(token_line.words, token_line.kinds, strict=True)
        if kind not in ("blank", "comment")
    )
    return words[1:-1] if words[:4] == ("with", "T", ".", "attr") else words


@lru_cache(maxsize=1 << 15)
def key_of(tokens: tuple[str, ...]) -> str:
    """What kind of line it is: its tokens without numbers and the printer's numbering."""
    return "\0".join(_blanked(token) for token in tokens)


@lru_cache(maxsize=1 << 15)
def head_of(tokens: tuple[str, ...]) -> str:
    """What a line begins with, up to its first call: what is assigned, what is called."""
    end = tokens.index("(") if "(" in tokens else len(tokens)
    return "\0".join(_blanked(token) for token in tokens[:end])


def same_head(left: str, right: str) -> bool:
    """Whether two lines begin with the same assignment or call."""
    return head_of(tokens_of(left)) == head_of(tokens_of(right))


@lru_cache(maxsize=1 << 15)
def based(tokens: tuple[str, ...]) -> tuple[str, ...]:
    """The tokens without the printer's numbering."""
    return tuple(base_name(token) for token in tokens)


def same_tokens(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    """Whether `token_differences` has none: most lines are only asked for that."""
    return left == right or based(left) == based(right)


@lru_cache(maxsize=1 << 14)
def token_differences(left: tuple[str, ...], right: tuple[str, ...]) -> frozenset[TokenPair]:
    """Pairs of tokens of lines of one kind; else pairs of the runs of tokens that were replaced."""
    if key_of(left) == key_of(right):
        pairs = zip(left, right, strict=True)
        return frozenset((a, b) for a, b in pairs if a != b and base_name(a) != base_name(b))
    mine, theirs = based(left), based(right)
    matcher = SequenceMatcher(None, mine, theirs, autojunk=False)
    return frozenset(
        (" ".join(mine[start:end]), " ".join(theirs[first:last]))
        for tag, start, end, first, last in matcher.get_opcodes()
        if tag != "equal"
    )


@lru_cache(maxsize=1 << 15)
def base_name(name: str) -> str:
    """A name without the number that the printer puts behind equal names."""
    found = _NUMBERED.match(name) if name.isidentifier() else None
    return found[1] if found else name


def _blanked(token: str) -> str:
    return "#" if token[:1].isdigit() else base_name(token)
