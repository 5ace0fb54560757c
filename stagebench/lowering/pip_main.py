"""The entry of a pip that ends with who started it: ``python -I …/pip_main.py PARENT install …``.

Started by `stagebench.lowering.overlays`, whose lock falls when it is killed: a pip that went on
would write beside the next one.
"""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path


def main() -> None:
    """Be pip, for as long as the process ``PARENT`` lives."""
    parent = int(sys.argv.pop(1))
    root = str(Path(__file__).resolve().parents[2])
    if root not in sys.path:
        sys.path.append(root)

    from stagebench.worker.parent_death import die_with_parent

    die_with_parent()
    if os.getppid() == parent:  # it may have ended before we could ask
        runpy.run_module("pip", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
