"""Where do the cubins come from that a run does not have yet?  From the assembler, several at once.

Code for a lower arch than the device's is compiled to PTX for its own arch and only assembled for
the device, as the driver would: compiled for the device it would be other code (``__CUDA_ARCH__``).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from stagebench.assemble.assembler import Assembler
from stagebench.assemble.records import NotAssembled
from stagebench.assemble.toolchain import find_toolchain
from stagebench.bundle.build import Candidate, Cubin
from stagebench.bundle.errors import BundleError
from stagebench.bundle.given_kernel import GivenKernel
from stagebench.bundle.template_headers import SWEEP, other_release
from stagebench.closing import Closing
from stagebench.lowering.cache_folder import default_cache_folder
from stagebench.machine.flags import flags


class Assembling(Closing):
    """A `stagebench.bundle.build.CubinSource`; raises `MachineError` without a toolchain."""

    def __init__(self, warn: Callable[[str], None], jobs: int | None = None) -> None:
        self.cache_folder = default_cache_folder()
        self.assembler = Assembler(
            find_toolchain(),
            jobs=jobs or os.cpu_count() or 1,
            cache_folder=self.cache_folder,
            warn=warn,
        )

    def close(self) -> None:
        """End the assembler."""
        self.assembler.close()

    def submit(self, candidate: Candidate, arch: str) -> Cubin:
        """Start assembling; what is returned waits for it."""
        if isinstance(candidate.result, GivenKernel):
            given = self.assembler.submit_ptx(
                candidate.ptx or "", arch, candidate.result.launch.function
            )
            return lambda: _cubin(given.result())
        variant, facts = candidate.result.variant, candidate.result.facts
        if facts is None:
            raise BundleError("it did not lower")
        function = facts.launch.function
        own = flags(candidate.result, nvcc=self.assembler.toolchain.nvcc is not None)
        if candidate.ptx is not None:
            from_ptx = self.assembler.submit_ptx(
                candidate.ptx, arch, function, ptxas_flags=own.ptxas
            )
            return lambda: _cubin(from_ptx.result())
        compiled = self.assembler.submit(
            candidate.kernel_cu or "", variant.arch, function,
            cuda_flags=own.cuda, ptxas_flags=own.ptxas,
        )  # fmt: skip
        hint = None if other_release(candidate) is None else SWEEP
        if arch == variant.arch:
            return lambda: _cubin(compiled.result(), hint)

        def for_the_device() -> bytes:
            made = compiled.result()
            if isinstance(made, NotAssembled):
                raise _not_assembled(made, hint)
            again = self.assembler.submit_ptx(made.ptx, arch, function, ptxas_flags=own.ptxas)
            return _cubin(again.result())

        return for_the_device

    def ptx(self, text: str, archs: Iterable[str]) -> dict[str, bytes]:
        """A PTX text as cubins for those of the archs that it assembles for."""
        waiting = {arch: self.assembler.submit_ptx(text, arch) for arch in sorted(set(archs))}
        done = {arch: future.result() for arch, future in waiting.items()}
        return {a: made.cubin for a, made in done.items() if not isinstance(made, NotAssembled)}


def _cubin(made: object, hint: str | None = None) -> bytes:
    if isinstance(made, NotAssembled):
        raise _not_assembled(made, hint)
    cubin = getattr(made, "cubin", None)
    if not isinstance(cubin, bytes):
        raise TypeError(f"{type(made).__name__} has no cubin")
    return cubin


def _not_assembled(made: NotAssembled, hint: str | None) -> BundleError:
    return BundleError(f"it does not assemble: {made.message}", hint=hint)
