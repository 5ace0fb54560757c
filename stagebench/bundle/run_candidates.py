"""Which variants do runs have to bundle, each of them once?"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from stagebench.bundle.build import Candidate
from stagebench.dump.files import Dump
from stagebench.dump.select import select_dumps
from stagebench.errors import UsageError


def run_candidates(texts: Sequence[str], warn: Callable[[str], None]) -> list[Candidate]:
    """The variants that runs and selectors name.

    One that is named twice is bundled once, with a note; `UsageError` where its code differs: two
    kernels of one name could not be told apart on the GPU host.
    """
    first: dict[bytes, tuple[str, Dump]] = {}
    again = 0
    for text in texts:
        for dump in select_dumps(text):
            variant = dump.result.variant
            key = msgspec.json.encode(variant, order="deterministic")
            other, same = first.setdefault(key, (text, dump))
            if same is dump:
                continue
            if _code(same) != _code(dump):
                said = f"{variant.kernel} {variant.arch} num_stages={variant.num_stages}"
                raise UsageError(
                    f"{other} and {text} have {said} both, with different code",
                    hint="bundle one of them, or each into a bundle of its own",
                )
            again += 1
    if again:
        which = "1 variant is" if again == 1 else f"{again} variants are"
        warn(f"{which} named twice, and bundled once")
    return [_candidate(dump) for _, dump in first.values()]


def _code(dump: Dump) -> tuple[str | None, object]:
    facts = dump.result.facts
    return dump.kernel_cu, None if facts is None else facts.launch


def _candidate(dump: Dump) -> Candidate:
    assembly = dump.assembly()
    return Candidate(
        result=dump.result,
        kernel_cu=dump.kernel_cu,
        ptx=None if assembly is None else assembly.ptx,
        cubin=None if assembly is None else assembly.cubin,
    )
