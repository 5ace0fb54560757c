"""How do we hear of each pass?  Through the compiler's own seam; before 0.1.14 through TVM's.

TileLang 0.1.14 and later report passes and code generation to the tools of a session
(``tilelang.instrumentation``).  0.1.9 to 0.1.13 have no such package: there a plain TVM pass
instrument (`stagebench.worker.tir.pass_events`) reports the same events, except that passes carry
no ``pass_phase`` and that code generation is not announced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from stagebench.worker.tir.pass_events import PassEvent, PassListener, plain_instruments

try:
    from tilelang import instrumentation as _seam
except ImportError:
    _seam = None


@contextmanager
def pass_instruments(listener: PassListener | None) -> Iterator[list[Any]]:
    """The instruments for a PassContext that make ``listener`` hear of its passes."""
    if _seam is not None:
        tools = () if listener is None else (_tool(listener),)
        with _seam.compile_pass_instrumentation(
            tools=tools, include_default_tools=False
        ) as session:
            yield session.create_pass_instruments()
    else:
        with plain_instruments(listener) as instruments:
            yield instruments


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
