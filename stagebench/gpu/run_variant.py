"""The child process: opens the device once, then runs one variant for each line that it reads.

``python -m stagebench.gpu.run_variant BUNDLE OUTPUTS`` reads `RunRequest` lines from standard
input and writes `Answer` lines to standard output.  It ends after a build that lost the context;
`stagebench.gpu.watchdog` starts the next one.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

import msgspec

from stagebench.bundle.read import read_bundle
from stagebench.errors import StagebenchError, machine_error
from stagebench.gpu.announcer import Announcer
from stagebench.gpu.build_error import run_error
from stagebench.gpu.driver import Driver, DriverError, open_driver
from stagebench.gpu.execution import run_variant
from stagebench.gpu.outputs import OutputStore
from stagebench.gpu.run_request import Answer, Lost, Ran, Ready, RunRequest, Unusable
from stagebench.gpu.session import open_session
from stagebench.worker.parent_death import die_with_parent


def serve(
    bundle: Path,
    outputs: Path,
    requests: Iterable[bytes],
    answers: BinaryIO,
    driver: Driver | None = None,
) -> None:
    """Answer requests until they end or the context is lost; ``driver`` is the tests' own."""
    try:
        opened = read_bundle(bundle)
        session = open_session(driver or open_driver(), opened)
    except StagebenchError as exc:
        _say(answers, Unusable(message=exc.message, hint=exc.hint))
        return
    except DriverError as exc:
        _say(answers, Unusable(message=f"the device can't be opened: {exc}", hint="nvidia-smi"))
        return
    store = OutputStore(outputs)
    _say(answers, Ready(device=session.device, notes=session.notes))
    for line in requests:
        request = msgspec.json.decode(line, type=RunRequest)
        announcer = Announcer(lambda told: _say(answers, told))
        try:
            result = run_variant(session, opened, store, request, announcer)
        except DriverError as exc:
            _say(answers, Lost(error=run_error(exc)))
            return
        except OSError as exc:  # what it computed can't be kept: nor will another variant's
            error = machine_error(exc)
            _say(answers, Unusable(message=error.message, hint=error.hint))
            return
        _say(answers, Ran(result=result))


def _say(stream: BinaryIO, answer: Answer) -> None:
    stream.write(msgspec.json.encode(answer) + b"\n")
    stream.flush()


def _private_answers() -> BinaryIO:
    """Standard output, kept for answers alone: a kernel's own ``printf`` goes to standard error."""
    kept = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(kept, "wb")


def main(bundle: str, outputs: str, *, driver: Driver | None = None) -> None:
    """The whole process: a launch that hangs must not outlive who would end it."""
    die_with_parent()
    serve(Path(bundle), Path(outputs), sys.stdin.buffer, _private_answers(), driver)


if __name__ == "__main__":
    main(*sys.argv[1:])
