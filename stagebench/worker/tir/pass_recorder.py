"""Which passes ran, what did each change, and what did the IR look like after it?

Observes the real lowering (`stagebench.worker.tir.pass_events`).  A pass's IR is printed and looked
at only where its structural hash is new: most passes change nothing, and printing is the cost.

What reading raises never reaches the compiler, for which it would be an error of the pass: the
first is kept (`PassRecorder.unreadable`), and nothing is read after it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Generic, Protocol, TypeVar

from stagebench.model import PassRun
from stagebench.worker.protocol import PassTime
from stagebench.worker.tir import nodes as ir
from stagebench.worker.tir.pass_events import PassEvent, PassListener

_DIGEST_CHARS = 16


class History(Protocol):
    """What follows the loops and buffers of one lowering through its passes."""

    def start(self, module: Any) -> None:
        """Take the module before the first pass."""

    def see(self, module: Any, pass_name: str) -> None:
        """Take the module after a pass that changed it."""


_H = TypeVar("_H", bound=History)


@dataclass(frozen=True)
class Unreadable:
    """What reading the IR raised, and the pass before or after which that was."""

    error: Exception
    pass_name: str | None


@dataclass
class _Open:
    """A pass that has started: the hash of the IR before it and when it started."""

    before: int
    started: float


class PassRecorder(PassListener, Generic[_H]):
    """Records every pass of one lowering; `passes`, `times` and `snapshots` are its findings.

    ``history`` sees what those passes left that no other runs: inner ones see parts of the module.
    """

    def __init__(self, report_pass: Callable[[str], None], history: _H) -> None:
        self.history = history
        self.passes: list[PassRun] = []
        self.times: list[PassTime] = []
        self.snapshots: dict[str, str] = {}
        self.observe_seconds = 0.0
        self.device_module: Any = None
        self.open_passes: list[str] = []
        self.unreadable: Unreadable | None = None
        self._report_pass = report_pass
        self._digests: dict[int, tuple[str, int]] = {}
        self._last_module: Any = None
        self._last_hash = 0
        self._runs: dict[int, PassRun] = {}
        self._started = False

    def pass_started(self, mod: Any, event: PassEvent) -> _Open:
        """Note the IR before the pass."""
        begun = time.perf_counter()
        self._report_pass(event.name)
        self.open_passes.append(event.name)
        self._runs[event.sequence] = PassRun(
            sequence=event.sequence,
            name=event.name,
            depth=event.depth,
            pass_phase=event.phase,
            changed=False,
            snapshot=None,
            ir_bytes=None,
        )
        before = 0
        with self.reading(event.name):
            before = self._hash(mod)
            if not self._started:
                self._started = True
                ir.check_readable()
                self.history.start(mod)
                self._snapshot(mod, before)
        now = time.perf_counter()
        self.observe_seconds += now - begun
        return _Open(before, now)

    def pass_finished(self, mod: Any, event: PassEvent, state: _Open) -> None:
        """Note what the pass left, in full where it is new."""
        ended = time.perf_counter()
        self.times.append(
            PassTime(sequence=event.sequence, name=event.name, seconds=ended - state.started)
        )
        while self.open_passes and self.open_passes.pop() != event.name:
            pass  # an inner pass that raised has no end of its own
        with self.reading(event.name):
            after = self._hash(mod)
            digest, size = self._snapshot(mod, after)
            if after != state.before and event.depth == 0:
                self.history.see(mod, event.name)
            self._runs[event.sequence] = PassRun(
                sequence=event.sequence,
                name=event.name,
                depth=event.depth,
                pass_phase=event.phase,
                changed=after != state.before,
                snapshot=digest,
                ir_bytes=size,
            )
        self.observe_seconds += time.perf_counter() - ended

    def codegen(self, name: str, mod: Any, generate: Callable[[], Any]) -> Any:
        """Keep the module that code generation is given; the last one is the device's."""
        self.device_module = mod
        self.open_passes.append(name)
        self._report_pass(name)
        result = generate()
        self.open_passes.pop()
        return result

    def finished(self) -> None:
        """Order the findings; passes that never ended keep an empty snapshot."""
        self.passes = [self._runs[sequence] for sequence in sorted(self._runs)]

    @contextmanager
    def reading(self, pass_name: str | None = None) -> Iterator[None]:
        """Read IR; what that raises is kept.  After it, reading goes on in vain, and quietly."""
        try:
            yield
        except MemoryError:
            raise
        except Exception as exc:  # noqa: BLE001 - a node that is not as we know it may raise any
            if self.unreadable is None:
                self.unreadable = Unreadable(exc, pass_name)

    def _hash(self, mod: Any) -> int:
        if self._last_module is not None and mod.same_as(self._last_module):
            return self._last_hash
        self._last_module = mod
        self._last_hash = int(ir.structural_hash(mod, map_free_vars=True))
        return self._last_hash

    def _snapshot(self, mod: Any, key: int) -> tuple[str, int]:
        if key not in self._digests:
            text = ir.text_of(mod.script())
            data = text.encode()
            digest = sha256(data).hexdigest()[:_DIGEST_CHARS]
            self.snapshots.setdefault(digest, text)
            self._digests[key] = (digest, len(data))
        return self._digests[key]
