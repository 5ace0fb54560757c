"""Which archs can the assembler of this environment assemble for?  As ``ptxas --help`` lists them.

A release forgets old ones: ptxas 13.0 begins at sm_75.
"""

from __future__ import annotations

import functools
import re
import subprocess
from dataclasses import dataclass

from stagebench.assemble.toolchain import said_by
from stagebench.assemble.wheels import PTXAS, find_wheel

_OPTION = re.compile(r"^--gpu-name\b(.*?)^--", re.MULTILINE | re.DOTALL)
_TARGET = re.compile(r"'(sm_\d+[af]?)'")
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, kw_only=True)
class TargetArchs:
    """The archs, oldest first, that ``assembler`` (ptxas 13.0.88) assembles for."""

    assembler: str
    archs: tuple[str, ...]

    def cannot(self, arch: str) -> str:
        """What to tell of an arch that is none of them."""
        return f"{self.assembler} does not assemble for {arch} (it does for {' '.join(self.archs)})"


@functools.cache
def target_archs() -> TargetArchs | None:
    """Of the ptxas that comes from a wheel; ``None`` where there is none, or it does not say."""
    wheel = find_wheel(PTXAS)
    if wheel is None:
        return None
    try:
        said = said_by(wheel.root / str(PTXAS.holds), "--help")
    except (OSError, subprocess.SubprocessError):
        return None
    archs = listed_archs(said)
    return TargetArchs(assembler=f"ptxas {wheel.version}", archs=archs) if archs else None


def listed_archs(said: str) -> tuple[str, ...]:
    """What a help text has among the values of ``--gpu-name``; none where it has no such option."""
    option = _OPTION.search(said)
    return tuple(sorted(set(_TARGET.findall(option[1]) if option else ()), key=_age))


def _age(arch: str) -> tuple[int, str]:
    number = _NUMBER.search(arch)
    return int(number[0]) if number else 0, arch
