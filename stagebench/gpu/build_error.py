"""Which build of a variant did a driver call fail for?  The driver itself knows of no builds."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from stagebench.bundle.records import CubinKind
from stagebench.gpu.driver import DriverError
from stagebench.gpu.records import RunError


class BuildError(DriverError):
    """A driver call that did not succeed, and the build that was loaded or ran."""

    def __init__(self, build: CubinKind, cause: DriverError) -> None:
        super().__init__(cause.call, cause.name)
        self.build = build


@contextlib.contextmanager
def of_build(build: CubinKind) -> Iterator[None]:
    """What goes wrong inside is that build's: a `BuildError`."""
    try:
        yield
    except BuildError:
        raise
    except DriverError as exc:
        raise BuildError(build, exc) from exc


def run_error(error: DriverError) -> RunError:
    """As it is recorded."""
    build = error.build if isinstance(error, BuildError) else None
    return RunError(name=error.name, message=str(error), build=build)
