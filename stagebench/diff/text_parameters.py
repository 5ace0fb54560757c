"""Are a kernel's parameters the same ones in another order?

TileLang sorts device parameters by name, so that a renamed tensor moves.  Parameters are bound by
name; their order is put aside only where the two lists hold the same parameters, word for word
after renaming, and where the text itself doesn't call the kernel (a call binds by position).
"""

from __future__ import annotations

from stagebench.diff.text_functions import Function, Parameter, Words
from stagebench.diff.text_pair import Side, TextPair

PARAMETER_ORDER = "parameter-order"


def order_parameters(pair: TextPair) -> None:
    """Write the left's parameters in the right's order, where they are the same ones."""
    for function in pair.left.functions:
        if not function.kernel:
            continue
        for other in pair.right.functions:
            same = other.kernel and other.name == function.name
            if same and _is_definition(pair.left, function) == _is_definition(pair.right, other):
                _order(pair, function, other)


def _order(pair: TextPair, function: Function, other: Function) -> None:
    if _calls(pair.left, function) or _calls(pair.right, other):
        return
    ours = [_words(pair.left, parameter) for parameter in function.parameters]
    theirs = [_words(pair.right, parameter) for parameter in other.parameters]
    if ours == theirs or sorted(ours) != sorted(theirs) or len(set(ours)) < len(ours):
        return
    lines: dict[int, list[str]] = {}
    for parameter, words in reversed(list(zip(function.parameters, theirs, strict=True))):
        (line, start), (last, end) = parameter.start, parameter.end
        if line != last:
            return
        lines.setdefault(line, list(pair.left.words[line]))[start:end] = words
    for line, rewritten in lines.items():
        pair.left.rewrite(PARAMETER_ORDER, line, tuple(rewritten))


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


def _calls(side: Side, function: Function) -> bool:
    """Does the text name the kernel outside of its own signatures?"""
    signatures = sum(each.name == function.name for each in side.functions)
    return sum(words.count(function.name) for words in side.words) > signatures
