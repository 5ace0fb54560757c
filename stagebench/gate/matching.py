"""Which baseline belongs to which variant?  By its place, else by what it is.

A kernel whose file or function was renamed keeps its baselines, and a run that was not made by an
experiment has its variants found: each further way to match counts only where exactly one variant
and one baseline are left that match so.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import msgspec

from stagebench.gate.baselines import Baseline
from stagebench.model import Variant, VariantResult

_Key = Callable[[str, Variant], Hashable]


def match_baselines(
    names: Sequence[str], results: Sequence[VariantResult], baselines: Sequence[Baseline]
) -> list[Baseline | None]:
    """The baseline of each variant; ``names`` are the folders where they should be."""
    by_name = {baseline.name: baseline for baseline in baselines}
    found: list[Baseline | None] = [by_name.get(name) for name in names]
    taken = {baseline.name for baseline in found if baseline is not None}
    free = [baseline for baseline in baselines if baseline.name not in taken]
    for key in (_same_function, _same_place, _same_kernel, _same_parameters):
        if free and None in found:
            free = _match(key, names, results, found, free)
    return found


def _match(
    key: _Key,
    names: Sequence[str],
    results: Sequence[VariantResult],
    found: list[Baseline | None],
    free: list[Baseline],
) -> list[Baseline]:
    """Pair what is unique on both sides; returns the baselines that are still free."""
    wanted: dict[Hashable, list[int]] = {}
    for index, (name, result) in enumerate(zip(names, results, strict=True)):
        if found[index] is None:
            wanted.setdefault(key(name, result.variant), []).append(index)
    offered: dict[Hashable, list[Baseline]] = {}
    for baseline in free:
        offered.setdefault(key(baseline.name, baseline.dump.result.variant), []).append(baseline)
    for value, indices in wanted.items():
        if len(indices) == len(offered.get(value, ())) == 1:
            found[indices[0]] = offered[value][0]
    taken = {baseline.name for baseline in found if baseline is not None}
    return [baseline for baseline in free if baseline.name not in taken]


def _same_function(name: str, variant: Variant) -> Hashable:
    """The kernel's file was renamed."""
    return _same_place(name, variant), variant.kernel.rpartition(":")[2]


def _same_place(name: str, variant: Variant) -> Hashable:
    """The function was renamed too: case, arch and axes are the same."""
    *case, _, arch, axes = ("", "", *name.split("/"))
    return tuple(case), arch, axes, variant.arch


def _same_kernel(_: str, variant: Variant) -> Hashable:
    """The same variant in another folder: a run that was swept."""
    return variant.kernel, _same_parameters("", variant)


def _same_parameters(_: str, variant: Variant) -> Hashable:
    """The same but for the kernel's name."""
    return (
        variant.arch,
        msgspec.json.encode(variant.params, order="sorted"),
        msgspec.json.encode(variant.pass_configs, order="sorted"),
        variant.stage_param,
    )
