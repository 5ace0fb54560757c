"""How is a probed build kept to as many registers as leave the kernel its occupancy?

By ``.maxnreg`` before the body, on the line of its brace, so that no line of the text moves
(``--maxrregcount`` has no effect on a kernel that has ``.maxntid``).
Source: PTX ISA 9.0, "Performance-Tuning Directives", ".maxnreg".
"""

from __future__ import annotations

from stagebench.probe.insert import entry_of
from stagebench.ptx.read import read_module

_OWN = ("maxnreg", "minnctapersm")


def with_register_bound(ptx: str, kernel: str, registers: int) -> str | None:
    """The text with its kernel bound; ``None`` where the kernel has a bound of its own."""
    module = read_module(ptx)
    function = entry_of(module, kernel)
    if any(name.lstrip(".") in _OWN for name in function.directives):
        return None
    lines = list(module.lines)
    at = (function.body_line or 0) - 1
    lines[at] = lines[at].replace("{", f".maxnreg {registers} {{", 1)
    return "\n".join(lines)
