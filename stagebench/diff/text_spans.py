"""Which characters of a changed line changed?  Whole tokens, renamed ones left out."""

from __future__ import annotations

from difflib import SequenceMatcher

from stagebench.diff.text_functions import Words
from stagebench.diff.text_records import Span
from stagebench.diff.text_tokens import Language, TokenLine, lex

MAX_TOKENS = 600
"""Of longer differences only the common head and tail are left out."""


def changed_spans(
    left: TokenLine, right: TokenLine, left_words: Words, right_words: Words, language: Language
) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Half-open ranges of characters, left and right.

    The words are those of the comparison: as many as the line's significant tokens, so that the
    n-th word is the n-th token that is no blank and no comment.  Otherwise (the plain diff, a
    comment that is compared) all tokens of the two lines are compared as they are.
    """
    left_places, right_places = _places(left), _places(right)
    if len(left_places) != len(left_words) or len(right_places) != len(right_words):
        left_words, left_places = _all_tokens(left, language)
        right_words, right_places = _all_tokens(right, language)
    head = 0
    while (
        head < len(left_words) and head < len(right_words) and left_words[head] == right_words[head]
    ):
        head += 1
    left_end, right_end = len(left_words), len(right_words)
    while (
        left_end > head
        and right_end > head
        and left_words[left_end - 1] == right_words[right_end - 1]
    ):
        left_end -= 1
        right_end -= 1
    middle = (left_words[head:left_end], right_words[head:right_end])
    blocks: list[tuple[str, int, int, int, int]]
    if max(map(len, middle)) > MAX_TOKENS:
        blocks = [("replace", 0, len(middle[0]), 0, len(middle[1]))]
    else:
        blocks = [
            block
            for block in SequenceMatcher(None, *middle, autojunk=False).get_opcodes()
            if block[0] != "equal"
        ]
    return (
        _merged([(head + start, head + end) for _, start, end, _, _ in blocks], left_places),
        _merged([(head + start, head + end) for _, _, _, start, end in blocks], right_places),
    )


def _places(line: TokenLine) -> list[Span]:
    found: list[Span] = []
    at = 0
    for word, kind in zip(line.words, line.kinds, strict=True):
        if kind not in ("blank", "comment"):
            found.append((at, at + len(word)))
        at += len(word)
    return found


def _all_tokens(line: TokenLine, language: Language) -> tuple[Words, list[Span]]:
    words = [word for each in lex(line.text, language)[:1] for word in each.words]
    places: list[Span] = []
    at = 0
    for word in words:
        places.append((at, at + len(word)))
        at += len(word)
    return tuple(words), places


def _merged(ranges: list[tuple[int, int]], places: list[Span]) -> tuple[Span, ...]:
    return tuple((places[start][0], places[end - 1][1]) for start, end in ranges if end > start)
