"""Which passes ran, what did each change, and what did the IR look like after it?

Observes the real lowering through a pass instrument (``tvm.ir.instrument``).  A pass's IR is
printed and looked at only where its structural hash is new.  TVM announces no code generation: it
is given what the last pass left (``tir_to_runtime`` in ``tvm/tirx/build.py``).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from tvm_ffi import structural_hash

from stagebench.model import PassRun
from stagebench.worker.protocol import PassTime
from stagebench.worker.tir import nodes as ir
from stagebench.worker.tir.nodes import tirx, tvm
from stagebench.worker.tvm.pipeline_history import PipelineHistory

_DIGEST_CHARS = 16


@dataclass
class _Open:
    """A pass that has started."""

    sequence: int
    name: str
    before: int
    started: float


class PassRecorder:
    """Records every pass of one lowering; `passes`, `times` and `snapshots` are its findings."""

    def __init__(self, report_pass: Callable[[str], None]) -> None:
        self.history = PipelineHistory()
        self.times: list[PassTime] = []
        self.snapshots: dict[str, str] = {}
        self.observe_seconds = 0.0
        self.device_module: Any = None
        self.first_module: Any = None
        self._report_pass = report_pass
        self._runs: dict[int, PassRun] = {}
        self._open: list[_Open] = []
        self._digests: dict[int, tuple[str, int]] = {}
        self._last: tuple[Any, int] | None = None

    @property
    def passes(self) -> list[PassRun]:
        """Every run, in the order in which they started."""
        return [self._runs[sequence] for sequence in sorted(self._runs)]

    @property
    def open_passes(self) -> list[str]:
        """The names of the passes that have not ended, innermost last."""
        return [run.name for run in self._open]

    def instrument(self) -> Any:
        """The instrument for a PassContext."""
        recorder = self

        @tvm.ir.instrument.pass_instrument
        class Instrument:
            def run_before_pass(self, mod: Any, info: Any) -> None:
                recorder.begin(mod, str(info.name))

            def run_after_pass(self, mod: Any, info: Any) -> None:
                recorder.end(mod, str(info.name))

        return Instrument()

    def begin(self, mod: Any, name: str) -> None:
        """Note the IR before a pass."""
        begun = time.perf_counter()
        self._report_pass(name)
        before = self._hash(mod)
        if self.first_module is None:
            self.first_module = mod
            self.history.start(mod)
            self._snapshot(mod, before)
        sequence = len(self._runs)
        self._runs[sequence] = _run(sequence, name, len(self._open))
        now = time.perf_counter()
        self.observe_seconds += now - begun
        self._open.append(_Open(sequence, name, before, now))

    def end(self, mod: Any, name: str) -> None:
        """Note what the pass left, in full where it is new."""
        ended = time.perf_counter()
        state = self._open.pop()
        while state.name != name and self._open:  # an inner pass that raised has no end of its own
            state = self._open.pop()
        seconds = ended - state.started
        self.times.append(PassTime(sequence=state.sequence, name=name, seconds=seconds))
        after = self._hash(mod)
        digest, size = self._snapshot(mod, after)
        if after != state.before:
            self.history.see(mod, name)
        self._runs[state.sequence] = _run(
            state.sequence, name, len(self._open), after != state.before, digest, size
        )
        if _is_device(mod):
            self.device_module = mod
        self.observe_seconds += time.perf_counter() - ended

    def _hash(self, mod: Any) -> int:
        if self._last is None or not mod.same_as(self._last[0]):
            self._last = mod, int(structural_hash(mod, map_free_vars=True))
        return self._last[1]

    def _snapshot(self, mod: Any, key: int) -> tuple[str, int]:
        if key not in self._digests:
            text = ir.text_of(mod.script())
            data = text.encode()
            digest = sha256(data).hexdigest()[:_DIGEST_CHARS]
            self.snapshots.setdefault(digest, text)
            self._digests[key] = (digest, len(data))
        return self._digests[key]


def _run(
    sequence: int,
    name: str,
    depth: int,
    changed: bool = False,
    snapshot: str | None = None,
    ir_bytes: int | None = None,
) -> PassRun:
    return PassRun(
        sequence=sequence,
        name=name,
        depth=depth,
        pass_phase=None,
        changed=changed,
        snapshot=snapshot,
        ir_bytes=ir_bytes,
    )


def _is_device(mod: Any) -> bool:
    """Whether every function of a module is one that the host launches."""
    functions = [f for f in mod.functions.values() if isinstance(f, tirx.PrimFunc)]
    return bool(functions) and all(
        f.attrs is not None and "tirx.kernel_launch_params" in f.attrs for f in functions
    )
