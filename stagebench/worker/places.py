"""How is a compiler's text kept from telling where on this machine things lie?

Messages quote absolute paths of the kernel and of the compiler.  What is kept must be the same on
any machine, so folders are cut off: the kernel's, then those of the environment.
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

import stagebench

_STDLIB = sysconfig.get_path("stdlib")
_PACKAGES = str(Path(stagebench.__file__).parent.parent)


def without_places(text: str, kernel_path: str | None, files: Iterable[str] = ()) -> str:
    """Return ``text`` with the folders of the kernel, of ``files`` and of Python cut off."""
    folders = {str(Path(path).parent) for path in (kernel_path, *files) if path}
    site = {str(Path(path)) for path in sys.path if path.endswith("site-packages")}
    for folder in sorted({*folders, *site, _PACKAGES, sys.prefix, _STDLIB}, key=len, reverse=True):
        text = text.replace(folder + "/", "")
    return text
