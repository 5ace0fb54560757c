"""Which of a module's kernels are the facts of?  The one that was named, else the first.

A name is that of a function as its author wrote it, or that of a device function that is made of
one: ``NAME_kernel``, and ``NAME_kernel_1`` where it launches another (``SplitHostDevice`` of 0.25
to 0.27).  The module is lowered whole either way.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from stagebench.errors import UsageError
from stagebench.worker.loading.nearest import nearest
from stagebench.worker.tir.classes import UnreadableIRError
from stagebench.worker.tir.nodes import tirx


@dataclass(frozen=True)
class ChosenKernel:
    """A device function, and the author's function that it is made of."""

    name: str
    function: Any
    author_name: str
    author_function: Any
    others: tuple[str, ...]


def functions_of(module: Any) -> dict[str, Any]:
    """The functions of a module that are TIR, by name."""
    return {
        str(var.name_hint): function
        for var, function in module.functions.items()
        if isinstance(function, tirx.PrimFunc)
    }


def symbol_of(function: Any) -> str | None:
    """What a function is called from outside; ``None`` of a private one."""
    attrs = function.attrs
    return str(attrs["global_symbol"]) if attrs is not None and "global_symbol" in attrs else None


def check_kernel(module: Any, wanted: str, reference: str) -> None:
    """Raise `UsageError` for a name that no kernel of the module can have."""
    functions = functions_of(module)
    if wanted in functions or _author_of(wanted, functions) is not None:
        return
    near = nearest(wanted, functions)
    raise UsageError(
        f"`{reference}`: there is no kernel `{wanted}` in the module",
        hint=(f"did you mean `{near[0]}`? " if near else "")
        + f"in it are: {', '.join(functions) or 'none'}",
    )


def choose_kernel(author: Any, device: Any, wanted: str | None) -> ChosenKernel:
    """The kernel in the module that is all device code; ``author`` is the one that was given.

    Raises `UsageError` where ``wanted`` names none on the device, and `UnreadableIRError` where
    its name does not say which of several functions it is made of.
    """
    written, made = functions_of(author), functions_of(device)
    name = device_name(author, device, wanted)
    author_name = _made_of(name, written)
    if author_name is None:
        raise UnreadableIRError(
            f"device function {name}, made of none of the author's "
            f"({', '.join(written) or 'there are none'})"
        )
    return ChosenKernel(
        name=name,
        function=made[name],
        author_name=author_name,
        author_function=written[author_name],
        others=tuple(other for other in made if other != name),
    )


def device_name(author: Any, device: Any, wanted: str | None) -> str:
    """What the kernel is called in the module that is all device code.

    Raises `UsageError` where ``wanted`` names none on the device.
    """
    written = functions_of(author)
    made = functions_of(device)
    meant = (name for name in made if wanted in (None, name, _made_of(name, written)))
    name = next(meant, None)
    if name is None:
        raise UsageError(
            f"there is no kernel `{wanted}` on the device",
            hint=f"of this module there are: {', '.join(made)}",
        )
    return name


def _author_of(device_name: str, written: dict[str, Any]) -> str | None:
    for name, function in written.items():
        own = re.escape(symbol_of(function) or name)
        if re.fullmatch(rf"{own}_kernel(_\d+)?", device_name):
            return name
    return None


def _made_of(device_name: str, written: dict[str, Any]) -> str | None:
    """The author's function by its name, or the one that there is."""
    only = next(iter(written)) if len(written) == 1 else None
    return _author_of(device_name, written) or only
