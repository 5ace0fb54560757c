"""Whose headers is a kernel compiled with?  Generated CUDA includes its own release's templates.

A run without ``--machine`` has no PTX: what is compiled here is compiled with the templates of the
TileLang that is installed here, and from another release's it may be another kernel.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from stagebench.assemble.cuda_text import uses_tilelang_templates
from stagebench.bundle.build import Candidate
from stagebench.bundle.given_kernel import GivenKernel
from stagebench.lowering.installed_packages import find_distribution

SWEEP = "sweep again with --machine: it assembles with the headers of the release that made it"


def other_release(candidate: Candidate) -> str | None:
    """The release whose headers it needs, where those here are another's."""
    if isinstance(candidate.result, GivenKernel) or candidate.ptx is not None:
        return None
    compiler = candidate.result.variant.compiler
    if compiler.name != "tilelang" or not uses_tilelang_templates(candidate.kernel_cu or ""):
        return None
    return None if compiler.version == _installed() else compiler.version


def header_notes(candidates: Iterable[Candidate]) -> list[str]:
    """What to tell before kernels of other releases are compiled here."""
    found = Counter(filter(None, map(other_release, candidates)))
    return [
        f"{count} variant{'' if count == 1 else 's'} of tilelang {version}: compiled here, with "
        f"the headers of {_installed() or 'no release'} ({SWEEP})"
        for version, count in sorted(found.items())
    ]


def _installed() -> str | None:
    distribution = find_distribution("tilelang", None)
    return None if distribution is None else distribution.version
