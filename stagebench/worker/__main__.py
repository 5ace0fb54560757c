"""The worker's entry: ``python -I …/worker/__main__.py COMPILER JOBS [FRONT …] -- [BEHIND …]``.

Started by `stagebench.lowering.worker_process` with the interpreter of one compiler environment.
Standard output is the message channel; before anything else is imported it is moved to a private
descriptor, because compilers print to descriptor 1 as well.  The folders in
front win over the interpreter's own packages (another release of the compiler); those behind fill
in what it lacks.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
import time
from pathlib import Path

_ADAPTERS = {
    "tilelang": "stagebench.worker.tilelang.adapter",
    "tvm": "stagebench.worker.tvm.adapter",
}


def main() -> int:
    """Import the compiler named on the command line and serve jobs until standard input ends."""
    compiler, jobs = sys.argv[1], int(sys.argv[2])
    replies = os.dup(1)
    os.dup2(2, 1)
    divider = sys.argv.index("--")
    put_in_front(sys.argv[3:divider])
    sys.path.extend(sys.argv[divider + 1 :])
    root = str(Path(__file__).resolve().parents[2])
    if root not in sys.path:
        sys.path.append(root)

    from stagebench.worker import protocol
    from stagebench.worker.parent_death import die_with_parent
    from stagebench.worker.server import Server

    die_with_parent()  # an import that hangs must not outlive the CLI
    started = time.perf_counter()
    gc.disable()  # an import makes objects that stay: looking for garbage costs a quarter of it
    try:
        if compiler not in _ADAPTERS:
            raise ImportError(f"no adapter for the compiler {compiler!r}")
        adapter = importlib.import_module(_ADAPTERS[compiler])
    except BaseException as exc:  # noqa: BLE001 - whatever an import raises is the answer
        message = f"{type(exc).__name__}: {exc}"
        os.write(replies, protocol.encode_line(protocol.Refused(message=message)))
        return 1
    hello = protocol.Hello(compiler=adapter.COMPILER, import_seconds=time.perf_counter() - started)
    os.write(replies, protocol.encode_line(hello))
    die_with_parent(enabled=False)  # from here on the loop sees the end of standard input
    Server(adapter.lower, requests=0, replies=replies, jobs=jobs).serve()
    return 0


def put_in_front(folders: list[str]) -> None:
    """Let ``folders`` win over the installed packages, and the standard library over them."""
    installed = ("site-packages", "dist-packages")
    first = (at for at, place in enumerate(sys.path) if place.endswith(installed))
    at = next(first, len(sys.path))
    sys.path[at:at] = folders


if __name__ == "__main__":
    sys.exit(main())
