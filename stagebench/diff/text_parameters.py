"""Are a kernel's parameters the same ones in another order?

TileLang sorts device parameters by name, so that a renamed tensor moves.  Parameters are bound by
name; their order is put aside only where the two lists hold the same parameters, word for word
after renaming, and where the text itself doesn't call the kernel (a call binds by position).  Two
parameters of one type that are renamed and reordered, both, are not put aside: no name binds them.
Nor is one with a default argument: its place is what the default depends on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from stagebench.diff.text_functions import Function, Parameter, Words
from stagebench.diff.text_pair import Side, TextPair

PARAMETER_ORDER = "parameter-order"


def order_parameters(pair: TextPair) -> None:
    """Write the left's parameters in the right's order, where they are the same ones."""
    called = _called(pair.left) | _called(pair.right)
    others: dict[tuple[str, bool], list[Function]] = {}
    for other in pair.right.functions:
        if other.kernel and other.name not in called:
            key = other.name, _is_definition(pair.right, other)
            others.setdefault(key, []).append(other)
    for function in pair.left.functions:
        if function.kernel:
            for other in others.get((function.name, _is_definition(pair.left, function)), ()):
                _order(pair, function, other)


def _order(pair: TextPair, function: Function, other: Function) -> None:
    ours = [_words(pair.left, parameter) for parameter in function.parameters]
    theirs = [_words(pair.right, parameter) for parameter in other.parameters]
    if ours == theirs or sorted(ours) != sorted(theirs) or len(set(ours)) < len(ours):
        return
    if any("=" in words for words in ours) or _renamed_and_swapped(function, ours, theirs):
        return
    lines: dict[int, list[str]] = {}
    for parameter, words in reversed(list(zip(function.parameters, theirs, strict=True))):
        (line, start), (last, end) = parameter.start, parameter.end
        if line != last:
            return
        lines.setdefault(line, list(pair.left.words[line]))[start:end] = words
    for line, rewritten in lines.items():
        pair.left.rewrite(PARAMETER_ORDER, line, tuple(rewritten))


def _renamed_and_swapped(
    function: Function, ours: Sequence[Words], theirs: Sequence[Words]
) -> bool:
    """Are two parameters of one type both renamed and in another order?

    Then nothing but their uses says which is which, and whoever passes them by position passes
    each for the other.  ``ours`` are renamed already.
    """
    renamed: dict[Words, list[Words]] = {}
    for parameter, words in zip(function.parameters, ours, strict=True):
        if parameter.name not in words:
            renamed.setdefault(_type(words), []).append(words)
    return any(
        same_type != [words for words in theirs if words in same_type]
        for same_type in renamed.values()
    )


def _type(words: Words) -> Words:
    """The words but for the last name: ``const float * A`` is of the type ``const float *``."""
    names = [at for at, word in enumerate(words) if word[0].isalpha() or word[0] == "_"]
    return words[: names[-1]] + words[names[-1] + 1 :] if names else words


def _words(side: Side, parameter: Parameter) -> Words:
    (line, start), (last, end) = parameter.start, parameter.end
    if line == last:
        return side.words[line][start:end]
    found = side.words[line][start:]
    for between in range(line + 1, last):
        found += side.words[between]
    return found + side.words[last][:end]


def _is_definition(side: Side, function: Function) -> bool:
    return "{" in side.words[function.last - 1] or "}" in side.words[function.last - 1]


def _called(side: Side) -> set[str]:
    """The kernels that the text names outside of their own signatures; each word is read once."""
    names = {function.name for function in side.functions if function.kernel}
    signatures = Counter(function.name for function in side.functions)
    named = Counter(word for words in side.words for word in words if word in names)
    return {name for name in names if named[name] > signatures[name]}
