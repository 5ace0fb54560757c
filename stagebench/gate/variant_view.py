"""What does an expectation see of a variant?  Its facts by name, and a record of what it read.

Every value that is read is noted as it is written (``buffers['A_shared'].num_versions``), so that
a failing expectation can show what it saw.  Names that are not there raise, with what is: nothing
reads as zero by mistake, but for a total of the taxonomy, which was looked for and not found.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar, overload

from stagebench.model import Facts, ParamValue, Record, SyncTotal, VariantResult
from stagebench.model.facts import SYNC_OPS

_T = TypeVar("_T")
_MAX_SEEN = 40


class Notes:
    """The values that one evaluation read, in order, each once."""

    def __init__(self) -> None:
        self.seen: dict[str, str] = {}

    def add(self, expression: str, value: object) -> None:
        """Note a value; a long one in short."""
        if len(self.seen) < _MAX_SEEN:
            said = repr(value)
            self.seen[expression] = said if len(said) <= 120 else f"{said[:117]}..."


class RecordView:
    """A record whose fields are read as they are; tuples of records and maps are views too."""

    def __init__(self, record: Record, path: str, notes: Notes) -> None:
        self._record = record
        self._path = path
        self._notes = notes

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        fields = self._record.__struct_fields__
        if name not in fields:
            raise AttributeError(f"{self._path} has no {name!r}" + _nearest(name, [*fields]))
        return _seen(getattr(self._record, name), _joined(self._path, name), self._notes)

    def __repr__(self) -> str:
        return repr(self._record)

    def __eq__(self, other: object) -> bool:
        return self._record == (other._record if isinstance(other, RecordView) else other)

    def __hash__(self) -> int:
        return hash(repr(self._record))


class SequenceView(Sequence[RecordView]):
    """Records in order; by name too, where they have one."""

    def __init__(self, records: Sequence[Record], path: str, notes: Notes) -> None:
        self._records = records
        self._path = path
        self._notes = notes

    def __len__(self) -> int:
        self._notes.add(f"len({self._path})", len(self._records))
        return len(self._records)

    def __iter__(self) -> Iterator[RecordView]:
        return (self._view(index) for index in range(len(self._records)))

    @overload
    def __getitem__(self, key: int | str) -> RecordView: ...
    @overload
    def __getitem__(self, key: slice) -> Sequence[RecordView]: ...
    def __getitem__(self, key: int | str | slice) -> RecordView | Sequence[RecordView]:
        if isinstance(key, slice):
            return [self._view(index) for index in range(*key.indices(len(self._records)))]
        if isinstance(key, str):
            names = [_name(record) for record in self._records]
            if key not in names:
                raise LookupError(f"{self._path} has no {key!r}" + _has(names))
            return self._view(names.index(key), repr(key))
        if not -len(self._records) <= key < len(self._records):
            raise LookupError(f"{self._path} has {len(self._records)} of them, not {key}")
        return self._view(key % len(self._records))

    def names(self) -> list[str]:
        """What the records are called."""
        found = [_name(record) for record in self._records]
        self._notes.add(f"{self._path}.names()", found)
        return found

    def _view(self, index: int, said: str | None = None) -> RecordView:
        path = f"{self._path}[{said or index}]"
        return RecordView(self._records[index], path, self._notes)


class MapView:
    """A map whose values are read by key; a missing key raises with the nearest."""

    def __init__(
        self,
        values: Mapping[str, object],
        path: str,
        notes: Notes,
        absent: Callable[[str], object] | None = None,
    ) -> None:
        self._values = values
        self._path = path
        self._notes = notes
        self._absent = absent

    def __getitem__(self, key: str) -> object:
        if key in self._values:
            value = self._values[key]
        elif self._absent is not None:
            value = self._absent(key)
        else:
            raise LookupError(f"{self._path} has no {key!r}" + _has([*self._values]))
        return _seen(value, f"{self._path}[{key!r}]", self._notes)

    def __contains__(self, key: str) -> bool:
        self._notes.add(f"{key!r} in {self._path}", key in self._values)
        return key in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: str, default: object = None) -> object:
        """The value, or ``default`` where there is none."""
        return self[key] if key in self._values else default


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


def _seen(value: object, path: str, notes: Notes) -> object:
    if isinstance(value, Record):
        return RecordView(value, path, notes)
    if isinstance(value, tuple) and value and isinstance(value[0], Record):
        return SequenceView(value, path, notes)
    if isinstance(value, dict):
        return MapView(value, path, notes)
    notes.add(path, value)
    return value


def _no_sites(op: str) -> SyncTotal:
    """The total of an op that was looked for and not found; a misspelt op raises."""
    if op in SYNC_OPS or op.startswith("unknown:"):
        return SyncTotal(static=0, dynamic=0)
    raise LookupError(f"no op is called {op!r}" + _nearest(op, SYNC_OPS))


def _name(record: Record) -> str:
    for field in ("loop_var", "name", "code", "op"):
        if hasattr(record, field):
            return str(getattr(record, field))
    return type(record).__name__


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _nearest(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def _has(names: Sequence[str]) -> str:
    return f" (there are: {', '.join(dict.fromkeys(names))})" if names else " (there is none)"
