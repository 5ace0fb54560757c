"""Which variants must compute the same, and which of them is compared with?

Variants of several compilers share a case, and so their inputs, but are never compared with each
other: what one compiler makes is held against that compiler's own depth 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import msgspec

from stagebench.dump.folder_name import variant_folder
from stagebench.model import Compiler, Variant

_CASE_BYTES = 6


def case_of(variant: Variant) -> str:
    """The name that variants share which must agree: kernel and parameters but the depth."""
    params = {name: value for name, value in variant.params.items() if name != "num_stages"}
    data = msgspec.json.encode([variant.kernel, params], order="deterministic")
    name = variant.kernel.replace(".py:", ".").replace("/", "_")
    return f"{name}-{blake2b(data, digest_size=_CASE_BYTES).hexdigest()}"


def ids_of(variants: Sequence[Variant]) -> tuple[str, ...]:
    """A folder for each: short where that tells them apart, else with all that differs.

    Compilers have parameters of their own for one kernel: what differs is what differs within one.
    """
    alike: dict[tuple[str, Compiler], list[Variant]] = {}
    for variant in variants:
        alike.setdefault((variant.kernel, variant.compiler), []).append(variant)
    names = sorted({name for variant in variants for name in variant.params})
    differing = [
        name
        for name in names
        if any(len({repr(v.params.get(name)) for v in several}) > 1 for several in alike.values())
    ]
    several = len({variant.compiler for variant in variants}) > 1
    ids = [variant_folder(variant, differing, by_compiler=several) for variant in variants]
    seen: dict[str, int] = {}
    unique = []
    for one in ids:
        seen[one] = seen.get(one, 0) + 1
        unique.append(one if seen[one] == 1 else f"{one}-{seen[one]}")
    return tuple(unique)


def references_of(index: int, variants: Sequence[Variant], ids: Sequence[str]) -> tuple[str, ...]:
    """The ids to compare ``variants[index]`` with, the best first; empty for a depth 0.

    All of them are of the same compiler.
    """
    mine = variants[index]
    if mine.num_stages in (0, None):
        return ()
    case = case_of(mine)
    ranked = []
    for other, name in zip(variants, ids, strict=True):
        if name == ids[index] or case_of(other) != case or other.num_stages is None:
            continue
        if other.compiler != mine.compiler:
            continue
        same_code = (other.arch, other.pass_configs) == (mine.arch, mine.pass_configs)
        if other.num_stages == 0:
            ranked.append((0 if same_code else 1, other.num_stages, name))
        elif same_code and other.num_stages < mine.num_stages:
            ranked.append((2, other.num_stages, name))
    return tuple(name for _, _, name in sorted(ranked))
