"""What is the CUDA compiler's first error, and on which line of ``kernel.cu`` is it?

Source: the formats of NVRTC 13.0 and nvcc 13.0 (EDG's: ``file(line): error: text`` and, for an
error inside a header, a chain of ``detected during … at line N of file`` below it).
"""

from __future__ import annotations

import re

from stagebench.assemble.ptx_text import KERNEL_FILE

_ERROR = re.compile(
    r"(?P<file>.*?)\((?P<line>\d+)\): (?:catastrophic |internal )?error\b[^:]*: (?P<text>.*)"
)
_BARE = re.compile(r"(?:.*: )?(?:catastrophic |fatal )?error\b[^:]*:\s*(?P<text>.*)", re.IGNORECASE)
_DURING = re.compile(r"\bat line (\d+)(?: of (?P<file>\S+))?")
_OF_KERNEL = re.compile(r"(?:.*/)?" + re.escape(KERNEL_FILE))


def first_error(log: str) -> tuple[str, int | None]:
    """The first error's text and its 1-based line of ``kernel.cu``, ``None`` where none is named.

    The text of an error in a header starts with the header's name and line.
    """
    lines = log.splitlines()
    for number, line in enumerate(lines):
        found = _ERROR.fullmatch(line.strip())
        if not found:
            continue
        file = found["file"].strip('"')
        if _OF_KERNEL.fullmatch(file):
            return found["text"], int(found["line"])
        name = file.rpartition("/")[2]
        return f"{name}({found['line']}): {found['text']}", _kernel_line(lines[number + 1 :])
    for line in lines:
        bare = _BARE.fullmatch(line.strip())
        if bare:
            return bare["text"], None
    return "", None


def _kernel_line(following: list[str]) -> int | None:
    """The line of ``kernel.cu`` in an error's instantiation chain, which ends at the next error."""
    for line in following:
        if _ERROR.fullmatch(line.strip()):
            return None
        during = _DURING.search(line)
        if during and _OF_KERNEL.fullmatch((during["file"] or "").strip('"')):
            return int(during[1])
    return None
