"""The NVRTC process's entry: ``python -I …/stagebench/assemble/nvrtc_main.py DESCRIPTOR``.

The descriptor is the control socket of `stagebench.assemble.nvrtc_process`.  Standard output and
error are a log file: neither carries messages, so whatever a library prints does no harm.
"""

from __future__ import annotations

import socket
import sys
from pathlib import Path


def main() -> int:
    """Load NVRTC and serve jobs until the control socket ends."""
    root = str(Path(__file__).resolve().parents[2])
    sys.path[:] = [entry for entry in sys.path if Path(entry) != Path(__file__).parent]
    if root not in sys.path:
        sys.path.append(root)

    from stagebench.worker.parent_death import die_with_parent

    die_with_parent()

    from stagebench.assemble.nvrtc_library import Nvrtc
    from stagebench.assemble.nvrtc_server import Server

    with socket.socket(fileno=int(sys.argv[1])) as control:
        Server(Nvrtc(), control).serve()
    return 0


if __name__ == "__main__":
    sys.exit(main())
