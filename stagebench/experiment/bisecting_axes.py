"""Which points does a bisection have on its axis, and in which order?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from stagebench.errors import UsageError
from stagebench.lowering.tested_releases import tested_releases

Axis = Literal["compiler", "num_stages", "pass-config"]
AXES: tuple[Axis, ...] = ("compiler", "num_stages", "pass-config")
POINTS: Mapping[Axis, str] = {
    "compiler": "--compiler tilelang==A tilelang==B, or other --good and --bad",
    "num_stages": "--num-stages 1 2 3 4, or --good 1 --bad 4",
    "pass-config": "--pass-config KEY=VALUE: each is a step on the way from none to all",
}
"""How an axis gets its points."""
_DEEPEST = 1024
_ALONE = (("tilelang",), ("tvm",))


def axis_values(
    axis: Axis,
    *,
    compilers: Sequence[str] = (),
    depths: Sequence[int] | None = None,
    configs: Sequence[str] = (),
    good: str | None = None,
    bad: str | None = None,
) -> tuple[str, ...]:
    """The values of an axis from the good end to the bad one.

    Compilers: those given in their order, else the tested releases by age: of Apache TVM where it
    alone is given, or a release of it is an end.  Depths: those given, else every depth from good
    to bad.  Pass configs: those given, each added to the ones before.
    """
    if axis == "pass-config":
        if good is not None or bad is not None:
            raise UsageError(
                "--axis pass-config goes from none of the configs to all of them",
                hint="--pass-config KEY=VALUE names them; leave out --good and --bad",
            )
        return tuple(configs)
    if axis == "num_stages":
        if depths:
            return _cut([str(depth) for depth in depths], good, bad)
        first, last = _depth(good, "--good"), _depth(bad, "--bad")
        step = 1 if first <= last else -1
        return tuple(str(depth) for depth in range(first, last + step, step))
    if compilers and tuple(compilers) not in _ALONE:
        return _cut(list(compilers), good, bad)
    named = [*compilers, *(end for end in (good, bad) if end is not None)]
    name = "tvm" if any(text.partition("==")[0] == "tvm" for text in named) else "tilelang"
    return _cut([f"{name}=={release}" for release in tested_releases(name)], good, bad)


def _cut(values: list[str], good: str | None, bad: str | None) -> tuple[str, ...]:
    """The values from one end to the other, backwards where good comes after bad."""
    start = 0 if good is None else _index(values, good, "--good")
    end = len(values) - 1 if bad is None else _index(values, bad, "--bad")
    if start <= end:
        return tuple(values[start : end + 1])
    return tuple(reversed(values[end : start + 1]))


def _index(values: list[str], wanted: str, flag: str) -> int:
    for index, value in enumerate(values):
        if wanted in (value, value.rpartition("==")[2]):
            return index
    raise UsageError(f"{flag} {wanted} is no point of the axis", hint=f"it has {', '.join(values)}")


def _depth(text: str | None, flag: str) -> int:
    if text is None:
        raise UsageError("--axis num_stages needs its depths", hint="--num-stages 1 2 3 4")
    if not text.isdecimal() or int(text) > _DEEPEST:
        raise UsageError(f"{flag} {text}: a depth is 0 to {_DEEPEST}")
    return int(text)
