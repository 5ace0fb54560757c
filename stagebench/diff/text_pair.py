"""What do the rules work on?  Two texts as lines of words, read but not yet compared.

``words`` are the significant words of each line, blanks and comments left out; the rules rewrite
them until equal lines have equal words.  A line without words, or that a rule drops, takes no part
in the alignment.  In a preprocessor line blanks are words too (``#define F (x)`` is not
``#define F(x)``), but for its indentation and its end.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from stagebench.diff.text_functions import Function, Words, find_functions
from stagebench.diff.text_tokens import Language, TokenLine, lex

_INSIGNIFICANT = ("blank", "comment")


@dataclass
class Side:
    """One text.

    ``function_of`` is the index of the function that a line is in, or -1.  ``nesting`` is the
    number of open braces before a line (TVMScript: its indentation).  ``rewritten`` is filled by
    the rules: which lines each of them changed.
    """

    lines: list[TokenLine]
    words: list[Words]
    functions: list[Function]
    function_of: list[int]
    nesting: list[int]
    dropped: dict[int, str] = field(default_factory=dict)
    rewritten: dict[str, set[int]] = field(default_factory=dict)

    def rewrite(self, rule: str, line: int, words: Words) -> None:
        """Replace a line's words, in a rule's name."""
        if words != self.words[line]:
            self.words[line] = words
            self.rewritten.setdefault(rule, set()).add(line)


@dataclass
class TextPair:
    """Two texts of one language, and which kinds of tokens may differ."""

    language: Language
    left: Side
    right: Side
    ignored_kinds: set[str] = field(default_factory=set)
    renames: list[tuple[str, str, str]] = field(default_factory=list)


def read_side(text: str, language: Language) -> Side:
    """Lex a text and find its functions."""
    lines = lex(text, language)
    words = [
        _of_directive(line, continues=number > 0 and _continued(lines[number - 1]))
        if line.directive
        else _significant(line)
        for number, line in enumerate(lines)
    ]
    if language == "tvmscript":
        nesting = [_indentation(line) for line in lines]
        functions = find_functions(
            [(" " * indent, *each) for indent, each in zip(nesting, words, strict=True)],
            [False] * len(lines),
            language,
        )
    else:
        nesting = _brace_depths(words)
        functions = find_functions(words, [line.directive for line in lines], language)
    function_of = [-1] * len(lines)
    for index, function in enumerate(functions):
        for line in range(function.first, function.last):
            if function_of[line] < 0:
                function_of[line] = index
    return Side(
        lines=lines,
        words=words,
        functions=functions,
        function_of=function_of,
        nesting=nesting,
    )


def _significant(line: TokenLine) -> Words:
    kinds = line.kinds
    if "blank" not in kinds and "comment" not in kinds:
        return line.words
    return tuple(
        [word for word, kind in zip(line.words, kinds, strict=True) if kind not in _INSIGNIFICANT]
    )


def _of_directive(line: TokenLine, *, continues: bool) -> Words:
    """Everything but the indentation, comments at the end, and blanks at the end.

    A line that continues a directive keeps its indentation, and is one even where it is empty: it
    ends the directive.  A blank after the last backslash stays: compilers disagree about it.
    """
    words, kinds = line.words, line.kinds
    start, end = 0, len(words)
    while end and kinds[end - 1] in _INSIGNIFICANT and words[end - 2 : end - 1] != ("\\",):
        end -= 1
    while not continues and start < end and kinds[start] in _INSIGNIFICANT:
        start += 1
    kept = words[start:end]
    if kept[-2:-1] == ("\\",):
        kept = (*kept[:-1], kept[-1].removesuffix("\r"))
    return tuple(word for word in kept if word) or ("\n",)


def _continued(line: TokenLine) -> bool:
    return line.directive and line.text.rstrip().endswith("\\")


def _indentation(line: TokenLine) -> int:
    return len(line.text) - len(line.text.lstrip(" "))


def _brace_depths(words: list[Words]) -> list[int]:
    depths: list[int] = []
    depth = 0
    for each in words:
        depths.append(max(0, depth - 1) if each[:1] == ("}",) else depth)
        if "{" in each or "}" in each:
            depth = max(0, depth + each.count("{") - each.count("}"))
    return depths if depth == 0 else [0] * len(words)  # unbalanced: depths would say nothing


def as_written(text: str) -> Side:
    """Every line is one word: its characters, and the line feed that ends it or doesn't."""
    texts = text.split("\n")
    words: list[Words] = [(line + "\n",) for line in texts[:-1]]
    if texts[-1]:
        words.append((texts[-1],))
    else:
        texts.pop()
    lines = [
        TokenLine(number, line, (line,), ("operator",), directive=False)
        for number, line in enumerate(texts, 1)
    ]
    nowhere = [-1] * len(lines)
    return Side(
        lines=lines, words=words, functions=[], function_of=nowhere, nesting=[0] * len(lines)
    )
