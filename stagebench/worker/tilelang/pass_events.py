"""How do we hear of each pass?  Through the compiler's own seam; before 0.1.14 through TVM's.

TileLang 0.1.14 and later report passes and code generation to the tools of a session
(``tilelang.instrumentation``).  0.1.9 to 0.1.13 have no such package: there a plain TVM pass
instrument (``tvm.ir.instrument``) reports the same events, except that passes carry no
``pass_phase`` and that code generation is not announced.  It is given what the last pass left
(``device_codegen_without_compile`` in ``tilelang/engine/lower.py`` of these releases).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tilelang import tvm

try:
    from tilelang import instrumentation as _seam
except ImportError:
    _seam = None


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
def pass_instruments(listener: PassListener | None) -> Iterator[list[Any]]:
    """The instruments for a PassContext that make ``listener`` hear of its passes."""
    if _seam is not None:
        tools = () if listener is None else (_tool(listener),)
        with _seam.compile_pass_instrumentation(
            tools=tools, include_default_tools=False
        ) as session:
            yield session.create_pass_instruments()
    elif listener is None:
        yield []
    else:
        heard = _Plain(listener)
        try:
            yield [_instrument(heard)]
        finally:
            heard.end()


def _tool(listener: PassListener) -> Any:
    """A tool of TileLang's seam that passes on what it hears."""
    assert _seam is not None  # noqa: S101 - the caller has looked

    class Observer(_seam.PassEventObserver):  # type: ignore[misc]
        def pass_started(self, mod: Any, event: Any) -> Any:
            return listener.pass_started(mod, _event(event))

        def pass_finished(self, mod: Any, event: Any, state: Any) -> None:
            listener.pass_finished(mod, _event(event), state)

    class Tool(_seam.PassInstrumentationTool):  # type: ignore[misc]
        def __init__(self) -> None:
            self._count = 0

        def create_pass_instrument(self) -> object:
            """One instrument per PassContext; numbering goes on over all of them."""
            return _seam.StackedPassInstrument(Observer(), sequence_allocator=self._next)

        def _next(self) -> int:
            self._count += 1
            return self._count - 1

        def run_codegen(self, event: Any, next_call: Callable[[], Any]) -> Any:
            return listener.codegen(str(event.name), event.mod, next_call)

        def finish(self, error: BaseException | None) -> None:
            del error
            listener.finished()

    return Tool()


def _event(event: Any) -> PassEvent:
    phase = None if event.phase is None else str(event.phase)
    return PassEvent(str(event.name), event.sequence, event.depth, phase)


class _Plain:
    """Pairs the callbacks of a TVM pass instrument, and notes what the last pass left."""

    def __init__(self, listener: PassListener) -> None:
        self._listener = listener
        self._open: list[tuple[PassEvent, Any]] = []
        self._count = 0
        self._last: Any = None

    def before(self, mod: Any, name: str) -> None:
        event = PassEvent(name, self._count, len(self._open), None)
        self._count += 1
        self._open.append((event, self._listener.pass_started(mod, event)))

    def after(self, mod: Any, name: str) -> None:
        while self._open:  # an inner pass that raised has no end of its own
            event, state = self._open.pop()
            if event.name == name:
                self._listener.pass_finished(mod, event, state)
                break
        self._last = mod

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
