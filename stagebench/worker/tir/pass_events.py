"""How does a TVM pass instrument report passes?  As events that are numbered and nested.

TVM (``tvm.ir.instrument``) announces no code generation: it is given what the last pass left
(``tir_to_runtime`` in ``tvm/tirx/build.py``; ``device_codegen_without_compile`` in
``tilelang/engine/lower.py`` before 0.1.14).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from stagebench.worker.tir.nodes import tvm


@dataclass(frozen=True)
class PassEvent:
    """One run of a pass; ``sequence`` counts over the whole lowering, ``depth`` the nesting."""

    name: str
    sequence: int
    depth: int
    phase: str | None


class PassListener:
    """What is told; a pass's module is given before and after it."""

    def pass_started(self, mod: Any, event: PassEvent) -> Any:
        """A pass begins; what this returns comes back when it ends."""

    def pass_finished(self, mod: Any, event: PassEvent, state: Any) -> None:
        """A pass has ended."""

    def codegen(self, name: str, mod: Any, generate: Callable[[], Any]) -> Any:
        """Code is generated from ``mod`` by calling ``generate`` once."""
        del name, mod
        return generate()

    def finished(self) -> None:
        """The lowering is over, or has failed."""


@contextmanager
def plain_instruments(
    listener: PassListener | None, wrappers: Collection[str] = ()
) -> Iterator[list[Any]]:
    """The instruments for a PassContext of TVM that make ``listener`` hear of its passes.

    ``wrappers`` are names of passes that only run others: the others are reported in their place.
    """
    if listener is None:
        yield []
        return
    heard = _Plain(listener, wrappers)
    try:
        yield [_instrument(heard)]
    finally:
        heard.end()


class _Plain:
    """Pairs the callbacks of a TVM pass instrument, and notes what the last pass left."""

    def __init__(self, listener: PassListener, wrappers: Collection[str]) -> None:
        self._listener = listener
        self._wrappers = wrappers
        self._open: list[tuple[PassEvent, Any]] = []
        self._count = 0
        self._last: Any = None

    def before(self, mod: Any, name: str) -> None:
        if name in self._wrappers:
            return
        event = PassEvent(name, self._count, len(self._open), None)
        self._count += 1
        self._open.append((event, self._listener.pass_started(mod, event)))

    def after(self, mod: Any, name: str) -> None:
        self._last = mod
        if name in self._wrappers:
            return
        while self._open:  # an inner pass that raised has no end of its own
            event, state = self._open.pop()
            if event.name == name:
                self._listener.pass_finished(mod, event, state)
                break

    def end(self) -> None:
        """The PassContext was left: what was last is what code was generated from."""
        if self._last is not None and not self._open:
            last = self._last
            self._listener.codegen("codegen", last, lambda: None)
        self._listener.finished()


def _instrument(heard: _Plain) -> Any:
    @tvm.ir.instrument.pass_instrument
    class Instrument:
        def run_before_pass(self, mod: Any, info: Any) -> None:
            heard.before(mod, str(info.name))

        def run_after_pass(self, mod: Any, info: Any) -> None:
            heard.after(mod, str(info.name))

    return Instrument()
