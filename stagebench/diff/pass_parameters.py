"""How do two texts look alike whose kernel has the same parameters in another order?

The compiler sorts a device function's parameters by name, so that renaming a tensor reorders them.
Where tensors are renamed both texts are compared with parameters and arguments in name order, and
with the indices into them renumbered; what is passed, and as what, is still compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Tokens = tuple[str, ...]

_INDEX_LISTS = ('"tl.readonly_param_indices"', '"tl.non_restrict_params"')
_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")


def in_name_order(
    lines: Sequence[Tokens], known: Mapping[str, Sequence[int]] | None = None
) -> list[Tokens]:
    """The lines of a module with every function's parameters in name order.

    ``known`` are functions that other modules define: the places of their parameters by name.
    """
    orders: dict[str, Sequence[int]] = dict(known or {})
    found: list[Tokens] = []
    current: Sequence[int] = ()
    for tokens in lines:
        if len(tokens) > 3 and tokens[0] == "def":
            parameters, end = _arguments(tokens, 2)
            current = sorted(range(len(parameters)), key=parameters.__getitem__)
            orders[tokens[1]] = current
            found.append(
                _joined(tokens[:3], [parameters[index] for index in current], tokens[end:])
            )
            continue
        changed = _renumbered(tokens, current)
        found.append(changed)
    return [_sorted_call(tokens, orders) for tokens in found]


def _arguments(tokens: Tokens, opening: int) -> tuple[list[Tokens], int]:
    """The arguments of the bracket at ``opening``, and where its closing one is."""
    found: list[Tokens] = []
    depth = 0
    start = opening + 1
    for position in range(opening, len(tokens)):
        word = tokens[position]
        if word in _OPEN:
            depth += 1
        elif word in _CLOSE:
            depth -= 1
            if not depth:
                last = tokens[start:position]
                return ([*found, last] if last else found), position
        elif word == "," and depth == 1:
            found.append(tokens[start:position])
            start = position + 1
    return [], len(tokens)


def _joined(head: Tokens, arguments: Sequence[Tokens], tail: Tokens) -> Tokens:
    inside: list[str] = []
    for number, argument in enumerate(arguments):
        inside += [",", *argument] if number else argument
    return (*head, *inside, *tail)


def _renumbered(tokens: Tokens, order: Sequence[int]) -> Tokens:
    """Indices of parameters as indices into them in name order."""
    for name in _INDEX_LISTS:
        if name not in tokens:
            continue
        opening = tokens.index(name) + 2
        if tokens[opening : opening + 1] != ("[",):
            continue
        values, end = _arguments(tokens, opening)
        if all(len(value) == 1 and value[0].isdigit() for value in values):
            places = [int(value[0]) for value in values]
            if all(place < len(order) for place in places):
                ranks = sorted(order.index(place) for place in places)
                head, tail = tokens[: opening + 1], tokens[end:]
                tokens = _joined(head, [(str(rank),) for rank in ranks], tail)
    return tokens


def _sorted_call(tokens: Tokens, orders: Mapping[str, Sequence[int]]) -> Tokens:
    """A call of one of the functions, ``Module.f(…)`` or ``T.call_packed("f", …)``, in order."""
    for position, token in enumerate(tokens[:-1]):
        if token in orders and tokens[position + 1] == "(" and tokens[0] != "def":
            return _reordered(tokens, position + 1, 0, orders[token])
        name = token.strip("\"'")
        if token != name and name in orders and position and tokens[position - 1] == "(":
            return _reordered(tokens, position - 1, 1, orders[name])
    return tokens


def _reordered(tokens: Tokens, opening: int, skip: int, order: Sequence[int]) -> Tokens:
    arguments, end = _arguments(tokens, opening)
    head, passed = arguments[:skip], arguments[skip : skip + len(order)]
    if len(passed) != len(order):
        return tokens
    rest = arguments[skip + len(order) :]
    return _joined(
        tokens[: opening + 1], [*head, *(passed[index] for index in order), *rest], tokens[end:]
    )
