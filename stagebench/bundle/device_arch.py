"""Can code be assembled for an arch, and does it then run on the device that a bundle is for?

Source: PTX ISA, ``.target``: PTX for a plain target runs on that arch and on any later one, for an
``a`` target on that arch alone, for an ``f`` target on later ones of its family.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable

from stagebench.assemble.target_archs import target_archs
from stagebench.errors import UsageError
from stagebench.facts.arch import SHARED_MEMORY_LIMIT_BYTES

_ARCH = re.compile(r"sm_([1-9]\d{1,2})([af]?)")


def check_device_arch(device: str) -> None:
    """Raise `UsageError` where no GPU can be called so, or the assembler knows of none."""
    targets = target_archs()
    known = SHARED_MEMORY_LIMIT_BYTES if targets is None else targets.archs
    near = difflib.get_close_matches(device, known, n=1, cutoff=0.6)
    hint = f"did you mean {near[0]}?" if near else "such as --device-arch sm_90"
    if _ARCH.fullmatch(device) is None:
        raise UsageError(f"--device-arch {device}: no such arch", hint=hint)
    check_assembles(device, "--device-arch", hint)


def check_assembles(arch: str, where: str, hint: str | None = None) -> None:
    """Raise `UsageError` where the assembler is there and does not know ``arch``."""
    targets = target_archs()
    if targets is not None and arch not in targets.archs:
        oldest = f"the oldest is {targets.archs[0]}"
        raise UsageError(f"{where}: {targets.cannot(arch)}", hint=hint or oldest)


def device_notes(archs: Iterable[str], device: str) -> list[str]:
    """What to tell of code that is not assembled for the device and does not run on it."""
    notes = []
    for arch, count in sorted(Counter(archs).items()):
        why = _why_not(arch, device)
        if why is not None:
            which = "1 variant" if count == 1 else f"{count} variants"
            verb = "is" if count == 1 else "are"
            notes.append(
                f"{which} of {arch} {verb} not assembled for the device ({device}): {arch} {why}"
            )
    return notes


def _why_not(arch: str, device: str) -> str | None:
    code, target = _ARCH.fullmatch(arch), _ARCH.fullmatch(device)
    if code is None or target is None:
        return None
    mine, its = int(code[1]), int(target[1])
    if mine > its:
        return "is newer"
    if code[2] == "a" and mine != its:
        return f"is tied to its own arch, and runs on sm_{mine} alone"
    if code[2] == "f" and mine // 10 != its // 10:
        return f"is tied to the family of sm_{mine}"
    return None
