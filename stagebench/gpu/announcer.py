"""What is told while a variant runs, so that a hang or a death loses nothing that was found?

Whoever watches (`stagebench.gpu.watchdog`) knows of every launch that is waited for, and of which
build it is; everything else, the float64 reference and the rests say, is no launch.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator

from stagebench.bundle.records import CubinKind
from stagebench.gpu.build_error import of_build
from stagebench.gpu.records import ProfiledVariant
from stagebench.gpu.run_request import Back, Found, Launching, Told


def _unheard(told: Told) -> None:
    del told


class Announcer:
    """For one variant; ``latest`` is what was found last."""

    def __init__(self, say: Callable[[Told], None] = _unheard) -> None:
        self._say = say
        self._longest: dict[CubinKind, float] = {}
        self.latest: ProfiledVariant | None = None

    @contextlib.contextmanager
    def launches(self, build: CubinKind, count: int = 1) -> Iterator[None]:
        """So many launches of a build, made and waited for inside; its errors are that build's."""
        self._say(Launching(build=build, seconds=count * self._longest.get(build, 0.0)))
        start = time.monotonic()
        try:
            with of_build(build):
                yield
        finally:
            each = (time.monotonic() - start) / max(1, count)
            self._longest[build] = max(each, self._longest.get(build, 0.0))
            self._say(Back())

    def found(self, result: ProfiledVariant) -> None:
        """Tell all that is known by now."""
        self.latest = result
        self._say(Found(result=result))
