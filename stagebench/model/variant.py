"""Which point of the experiment is this?  Identity only: nothing that was measured is in here."""

from __future__ import annotations

from stagebench.model.base import ParamValue, Record, Scalar


class Compiler(Record, frozen=True, kw_only=True):
    """The compiler under test, by distribution name and version (``tilelang`` ``0.1.15``)."""

    name: str
    version: str


class Variant(Record, frozen=True, kw_only=True):
    """One combination of the axes of a sweep.

    ``kernel`` is a built-in's name or ``file.py:function`` without its folder, so that the same
    kernel has the same identity on any machine.  ``params`` holds every parameter of the kernel
    after defaults and autotune configs were applied; the depth is always under ``num_stages``,
    whatever the kernel calls it (``stage_param`` says so).  ``num_stages`` is absent where the
    kernel has no such parameter.
    """

    kernel: str
    params: dict[str, ParamValue]
    stage_param: str | None = "num_stages"
    arch: str
    compiler: Compiler
    pass_configs: dict[str, Scalar]

    @property
    def num_stages(self) -> int | None:
        """The requested depth; ``None`` where the kernel has no parameter for it."""
        value = self.params.get("num_stages")
        return value if isinstance(value, int) else None
