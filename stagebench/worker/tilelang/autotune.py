"""Which values does an ``@autotune`` kernel get where the call gives none?  Its first config's.

Configs come as a list of dictionaries, as one dictionary, or from a function of the kernel's
arguments.  Nothing is tuned: a sweep wants one known point, and the note says which.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from stagebench.errors import UsageError

Config = Mapping[str, Any]
RESERVED_KEY = "pass_configs"
"""The key of a config that is no parameter (``_RESERVED_CONFIG_KEYS`` of the tuner, 0.1.15)."""


def first_config(configs: object, given: Mapping[str, Any], parameters: Sequence[str]) -> Config:
    """Return the first config of ``configs``.

    ``given`` are the kernel's arguments as far as they are known, by name; ``parameters`` the
    kernel's parameter names in order.  A function of the arguments is called by name where its
    parameters have the kernel's names, else with the given arguments in the kernel's order.
    """
    if callable(configs):
        configs = _call(configs, given, parameters)
    if isinstance(configs, Mapping):
        return configs
    first = next(iter(configs), None) if isinstance(configs, Iterable) else None
    if first is None:
        raise UsageError(
            "@autotune has no configs", hint="give every parameter that it tunes with --set"
        )
    if not isinstance(first, Mapping):
        raise UsageError(
            f"the first @autotune config is {first!r}, not a dictionary",
            hint="give every parameter that it tunes with --set",
        )
    return first


def _call(
    function: Callable[..., object], given: Mapping[str, Any], parameters: Sequence[str]
) -> object:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return function(*given.values())
    named = [
        p
        for p in signature.parameters.values()
        if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
    ]
    kinds = {p.kind for p in signature.parameters.values()}
    if all(p.name in given or p.default is not p.empty for p in named):
        keywords = {p.name: given[p.name] for p in named if p.name in given}
        if inspect.Parameter.VAR_KEYWORD in kinds:
            keywords = dict(given)
        elif inspect.Parameter.VAR_POSITIONAL in kinds and not named:
            return function(*_in_order(given, parameters))
        return function(**keywords)
    if any(p.name in parameters for p in named):
        missing = [p.name for p in named if p.name not in given and p.default is p.empty]
        raise UsageError(
            f"the @autotune configs depend on {', '.join(missing)}",
            hint=f"give --set {' '.join(f'{name}=VALUE' for name in missing)}",
        )
    return function(*_in_order(given, parameters)[: len(named)])


def _in_order(given: Mapping[str, Any], parameters: Sequence[str]) -> list[Any]:
    return [given[name] for name in parameters if name in given]
