"""What does an expectation see of a variant?  Its facts by name, and a record of what it read.

Every value that is read is noted as it is written (``buffers['A_shared'].num_versions``), so that
a failing expectation can show what it saw.  Names that are not there raise, but for a total of the
taxonomy: it was looked for and not found, which is zero.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from stagebench.gate.record_views import MapView, Notes, RecordView, SequenceView, nearest
from stagebench.model import Facts, ParamValue, SyncTotal, VariantResult
from stagebench.model.facts import SYNC_OPS

_T = TypeVar("_T")


class VariantView:
    """One variant: ``v`` in ``lambda v: …``.

    ``v.buffers["A_shared"].num_versions``, ``v.loops[0].pass_name``, ``v.totals["wgmma"].static``
    (zero where the op is not there), ``v.launch.block``, ``v.shared_memory.fits``, ``v.barriers``,
    ``v.sync_ops``, ``v.diagnostics``, ``v.machine``; ``v.kernel_cu`` is the generated CUDA.
    ``v.at(num_stages=1)`` is the variant beside this one that differs in that alone; axes are
    ``case``, ``arch``, ``num_stages`` and parameters.
    """

    def __init__(
        self,
        result: VariantResult,
        kernel_cu: str | None,
        case: str,
        notes: Notes,
        beside: Callable[[Mapping[str, ParamValue]], VariantView],
        prefix: str = "",
    ) -> None:
        self._result = result
        self._kernel_cu = kernel_cu
        self._case = case
        self._notes = notes
        self._beside = beside
        self._prefix = prefix

    @property
    def case(self) -> str:
        """The case's name."""
        return self._note("case", self._case)

    @property
    def kernel(self) -> str:
        """The kernel's name."""
        return self._note("kernel", self._result.variant.kernel)

    @property
    def arch(self) -> str:
        """The architecture, such as ``sm_90a``."""
        return self._note("arch", self._result.variant.arch)

    @property
    def num_stages(self) -> int | None:
        """The depth that was requested; ``None`` where the kernel has no parameter for it."""
        return self._note("num_stages", self._result.variant.num_stages)

    @property
    def params(self) -> MapView:
        """Every parameter of the kernel, defaults included."""
        return MapView(self._result.variant.params, self._at("params"), self._notes)

    @property
    def pass_configs(self) -> MapView:
        """The pass configs that were asked for."""
        return MapView(self._result.variant.pass_configs, self._at("pass_configs"), self._notes)

    @property
    def outcome(self) -> str:
        """``lowered`` or ``failed``."""
        return self._note("outcome", self._result.outcome)

    @property
    def failure(self) -> RecordView | None:
        """Why it has no facts; ``None`` where it lowered."""
        failure = self._result.failure
        if failure is None:
            return self._note("failure", None)
        return RecordView(failure, self._at("failure"), self._notes)

    @property
    def facts(self) -> RecordView:
        """All facts as the schema has them."""
        return RecordView(self._facts(), self._at("facts"), self._notes)

    @property
    def buffers(self) -> SequenceView:
        """Shared buffers, by name or in order."""
        return SequenceView(self._facts().shared_buffers, self._at("buffers"), self._notes)

    @property
    def loops(self) -> SequenceView:
        """Loops for which a depth was requested, by loop variable or in order."""
        return SequenceView(self._facts().pipeline_loops, self._at("loops"), self._notes)

    @property
    def barriers(self) -> SequenceView:
        """Runs of mbarriers, by array name or in order."""
        return SequenceView(self._facts().barriers, self._at("barriers"), self._notes)

    @property
    def sync_ops(self) -> SequenceView:
        """Every synchronising call site, in the kernel's order."""
        return SequenceView(self._facts().sync_ops, self._at("sync_ops"), self._notes)

    @property
    def diagnostics(self) -> SequenceView:
        """Warnings and notes, by code or in order."""
        return SequenceView(self._facts().diagnostics, self._at("diagnostics"), self._notes)

    @property
    def totals(self) -> MapView:
        """Totals by op: ``static`` call sites and ``dynamic`` executions."""
        totals: Mapping[str, object] = self._facts().sync_totals
        return MapView(totals, self._at("totals"), self._notes, _no_sites)

    @property
    def shared_memory(self) -> RecordView:
        """Shared memory of one CTA, in bytes."""
        return RecordView(self._facts().shared_memory, self._at("shared_memory"), self._notes)

    @property
    def launch(self) -> RecordView:
        """How the kernel is launched."""
        return RecordView(self._facts().launch, self._at("launch"), self._notes)

    @property
    def machine(self) -> RecordView:
        """Facts of the machine code; raises where nobody asked for them, or it did not assemble."""
        machine = self._facts().machine
        if machine is None:
            raise LookupError(
                f"{self._at('machine')} is not known: Case(…, machine=True) asks for it"
            )
        return RecordView(machine, self._at("machine"), self._notes)

    @property
    def kernel_cu(self) -> str:
        """The generated CUDA."""
        self._facts()
        text = self._kernel_cu or ""
        self._notes.add(self._at("kernel_cu"), f"{text.count(chr(10))} lines of CUDA")
        return text

    def at(self, **axes: ParamValue) -> VariantView:
        """The variant beside this one that has these values and is the same otherwise."""
        return self._beside(axes)

    def _facts(self) -> Facts:
        facts = self._result.facts
        if facts is None:
            failure = self._result.failure
            said = f": {failure.message.splitlines()[0]}" if failure else ""
            raise LookupError(f"the variant has no facts, it failed{said}")
        return facts

    def _at(self, name: str) -> str:
        return f"{self._prefix}{name}"

    def _note(self, name: str, value: _T) -> _T:
        self._notes.add(self._at(name), value)
        return value


def _no_sites(op: str) -> SyncTotal:
    """The total of an op that was looked for and not found; a misspelt op raises."""
    if op in SYNC_OPS or op.startswith("unknown:"):
        return SyncTotal(static=0, dynamic=0)
    raise LookupError(f"no op is called {op!r}" + nearest(op, SYNC_OPS))
