"""Is what a variant computed right?  Held against the best there is to hold it against.

What the experiment expects, or for a built-in what float64 makes of the same inputs; and the same
kernel at another depth.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stagebench.bundle.read import OpenBundle
from stagebench.bundle.records import BundledVariant
from stagebench.gpu.builtin_reference import Doubles, builtin_reference
from stagebench.gpu.correctness import compare, compare_with_expected, verdict_of
from stagebench.gpu.dtypes import Raw, as_doubles, dtype_of
from stagebench.gpu.outputs import OutputStore
from stagebench.gpu.records import Correctness, TensorComparison
from stagebench.gpu.run_request import RunRequest
from stagebench.gpu.tensors import HostTensor


@dataclass(frozen=True)
class Judge:
    """Of one variant; ``smem_poisoned``: shared memory held NaN before each of its runs."""

    opened: OpenBundle
    store: OutputStore
    request: RunRequest
    variant: BundledVariant
    tensors: list[HostTensor]
    smem_poisoned: bool

    def judge(self, first: dict[str, Raw], differing: int) -> Correctness:
        """The verdict on the first run's outputs; ``differing`` runs had other bits."""
        reference, compared = self._compared(first)
        return Correctness(
            verdict=verdict_of(differing, compared),
            reference=reference,
            runs=self.request.options.repeats,
            differing_runs=differing,
            smem_poisoned=self.smem_poisoned,
            tensors=compared,
        )

    def _compared(self, first: dict[str, Raw]) -> tuple[str | None, tuple[TensorComparison, ...]]:
        """Against everything that there is: names of the references, and each tensor with each."""
        dtypes = {one.tensor.name: dtype_of(one.tensor.dtype) for one in self.tensors}
        names: list[str] = []
        compared: list[TensorComparison] = []
        expected = self._expected()
        if expected:
            names.append("expected")
            compared += [
                compare_with_expected(name, dtypes[name], values, first[name])
                for name, values in expected.items()
            ]
        for reference in self.request.references:
            kept = self.store.load(reference, list(first))
            if kept is not None:
                names.append(reference)
                compared += [compare(name, dtypes[name], kept[name], first[name]) for name in first]
                break
        meant = None if expected else self._meant(list(first))
        if meant is not None:
            names.append("float64")
            compared += [
                compare_with_expected(name, dtypes[name], meant[name], first[name])
                for name in first
            ]
        return " and ".join(names) or None, tuple(compared)

    def _expected(self) -> dict[str, Doubles]:
        """What the experiment says must come out, by output; it may leave some open."""
        return {
            one.tensor.name: np.frombuffer(self.opened.load(one.tensor.expected), np.float64)
            for one in self.tensors
            if one.tensor.expected is not None
        }

    def _meant(self, outputs: list[str]) -> dict[str, Doubles] | None:
        """What a built-in should compute, computed once for all its depths."""
        key = f"float64 of {self.variant.case} {self.request.options.seed}"
        kept = self.store.load(key, outputs)
        if kept is None:
            inputs = {
                one.tensor.name: as_doubles(one.contents, dtype_of(one.tensor.dtype))
                for one in self.tensors
                if one.contents is not None
            }
            found = builtin_reference(self.variant.variant, inputs)
            if found is None or set(found) != set(outputs):
                return None
            kept = {name: value.view(np.uint8) for name, value in found.items()}
            self.store.keep(key, kept)
        return {name: data.view(np.float64) for name, data in kept.items()}
