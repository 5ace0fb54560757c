"""How does a reference to a function become a PrimFunc?  Level by level, values by name.

A reference may need several calls: a factory returns a builder, the builder a ``@tilelang.jit``
function, that one the PrimFunc.  The given values are offered by name at every level; what no
level takes is unknown, what a level lacks is missing, and both are said with the signatures.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from stagebench.errors import UsageError
from stagebench.worker.loading.nearest import nearest
from stagebench.worker.loading.notes import Notes
from stagebench.worker.tilelang import kernel_kinds as kinds
from stagebench.worker.tilelang.autotune import RESERVED_KEY, first_config
from stagebench.worker.tilelang.offer import Offer
from stagebench.worker.tilelang.signature import Binding, Signature, bind, signature_of

_MOST_LEVELS = 8


@dataclass
class Route:
    """The way from a reference to its PrimFunc, and what was used on it."""

    kernel: str
    offer: Offer
    notes: Notes
    pass_configs: dict[Any, Any] = field(default_factory=dict)
    compile_flags: list[str] = field(default_factory=list)
    signatures: list[Signature] = field(default_factory=list)
    consts: tuple[str, ...] = ()

    def prim_func(self, reference: Any) -> Any:
        """Build; raises `UsageError` for the caller's mistakes, else whatever the kernel raises."""
        value = reference
        for _ in range(_MOST_LEVELS):
            if kinds.is_prim_func(value):
                break
            value = self._step(value)
        else:
            raise UsageError(
                f"`{self.kernel}` returned a function {_MOST_LEVELS} times over and no kernel"
            )
        unknown = self.offer.untaken()
        if unknown:
            raise self._unknown(unknown)
        return value

    def _step(self, value: Any) -> Any:
        if kinds.is_compiled(value):
            self.pass_configs.update(value.pass_configs or {})
            self._keep_flags(value.compile_flags)
            self.notes.add(
                "compile-intercepted",
                "the file compiles the kernel itself; its PrimFunc was taken",
                value.uncompiled_place,
            )
            return value.prim_func
        if kinds.is_autotuned(value):
            return self._build(value.jit_impl, value.configs)
        if kinds.is_jit(value):
            return self._build(value, None)
        if callable(value):
            return self.call(value)
        return self._only_kernel(value)

    def call(self, function: Any) -> Any:
        """Call one level that is plain Python."""
        signature = self._signature(function)
        bound = self._bind(signature, {})
        keywords = dict(bound.keywords)
        if signature.takes_any:
            rest = self.offer.rest(bound.used)
            keywords.update(rest)
            self.offer.record(rest, set(rest))
        return function(*bound.positional, **keywords)

    def _build(self, impl: Any, configs: object) -> Any:
        """Build a ``@tilelang.jit`` function, lazy or eager."""
        signature = self._signature(impl)
        config: Mapping[str, Any] = {}
        if configs is not None:
            config = self._config(signature, configs)
        bound = self._bind(signature, config)
        rest = self.offer.rest(bound.used)
        if bound.positional:
            tir = impl.get_tir(*bound.positional, **bound.keywords)
        else:
            tir = self._get_tir(impl, signature, bound, rest)
        self.pass_configs.update(impl.pass_configs or {})
        self.pass_configs.update(config.get(RESERVED_KEY) or {})
        self._keep_flags(impl.compile_flags)
        return tir

    def _get_tir(
        self,
        impl: Any,
        signature: Signature,
        bound: Binding,
        rest: dict[str, Any],
    ) -> Any:
        # An eager kernel takes the sizes that it declares with T.const as further keywords; a lazy
        # one takes none, so they are given only once the mode is known.
        mode = impl.initialize_jit_mode(**bound.keywords)
        extra = rest if mode == "eager" or signature.takes_any else {}
        try:
            tir = impl.get_tir(**bound.keywords, **extra)
        except ValueError:
            self._check_consts(impl, signature, extra)
            raise
        if mode == "eager":
            self.consts = _const_names(impl)
            taken = {name: extra[name] for name in self.consts if name in extra}
        else:
            taken = extra
        self.offer.record(taken, set(taken))
        return tir

    def _check_consts(self, impl: Any, signature: Signature, extra: Mapping[str, Any]) -> None:
        """Name every ``T.const`` size that is not given (the compiler names the first)."""
        consts = _const_names(impl)
        missing = [name for name in consts if name not in extra]
        if missing:
            raise UsageError(
                f"`{self.kernel}` needs the size{'s' if missing[1:] else ''} "
                f"{_listed(missing)} (its T.const names: {', '.join(consts)})"
                + self._unknown_text([n for n in extra if n not in consts], consts),
                hint=f"give --set {_settings(missing)}; signature: {signature}",
            )

    def _config(self, signature: Signature, configs: object) -> Mapping[str, Any]:
        known = bind(signature, self.offer.given, {})
        config = first_config(configs, known.values, signature.names)
        lacking = {
            name: value
            for name, value in config.items()
            if name != RESERVED_KEY and name not in known.used
        }
        if lacking:
            shown = ", ".join(f"{name}={value!r}" for name, value in lacking.items())
            self.notes.add(
                "autotune-config-used",
                f"`{signature.name}` was not tuned: its first autotune config gave {shown}",
            )
        return config

    def _signature(self, function: Any) -> Signature:
        name = kinds.kernel_name(function) or self.kernel
        try:
            signature = signature_of(name, function)
        except ValueError as error:
            raise UsageError(f"`{self.kernel}` has no signature that Python can read") from error
        self.signatures.append(signature)
        return signature

    def _bind(self, signature: Signature, config: Mapping[str, Any]) -> Binding:
        bound = bind(signature, self.offer.given, config)
        if bound.missing:
            known = {name for s in self.signatures for name in s.names}
            stray = [n for n in self.offer.given if n not in known]
            raise UsageError(
                f"`{signature.name}` needs {_listed(bound.missing)}"
                + self._unknown_text(stray, bound.missing),
                hint=f"give --set {_settings(bound.missing)}; signature: {signature}",
            )
        self.offer.record(bound.values, bound.used)
        return bound

    def _unknown_text(self, names: list[str], candidates: Any) -> str:
        """Say of given names that they fit nowhere, beside another complaint."""
        if not names:
            return ""
        near = [nearest(name, candidates) for name in names]
        shown = [
            f"`{name}` is no parameter of it" + (f" (did you mean `{match[0]}`?)" if match else "")
            for name, match in zip(names, near, strict=True)
        ]
        return "; " + "; ".join(shown)

    def _unknown(self, names: list[str]) -> UsageError:
        known = [name for s in self.signatures for name in s.names] + list(self.consts)
        tensors = [name for s in self.signatures for name in s.tensors]
        name = names[0]
        if name in tensors:
            return UsageError(
                f"`{name}` is a tensor of `{self.kernel}`, and no tensors are given",
                hint=f"give its sizes by name: {', '.join(self.consts) or 'it has none'}",
            )
        near = nearest(name, known)
        meant = f"did you mean `{near[0]}`? " if near else ""
        consts = f"; sizes: {', '.join(self.consts)}" if self.consts else ""
        shown = ", then ".join(str(s) for s in self.signatures) or "it takes no parameters"
        return UsageError(
            f"`{self.kernel}` has no parameter {_listed(names)}",
            hint=f"{meant}signature: {shown}{consts}",
        )

    def _only_kernel(self, value: object) -> Any:
        """Find the one kernel in a builder's tuple, list or dictionary, or in a tuner's result."""
        held = getattr(value, "kernel", None)
        if kinds.is_kernel(held):
            return held
        items = list(_items(value))
        found = [item for _, item in items if kinds.is_kernel(item)]
        if len(found) == 1:
            return found[0]
        if found:
            names = [str(name) for name, item in items if kinds.is_kernel(item)]
            raise UsageError(
                f"`{self.kernel}` returns {len(found)} kernels: {', '.join(names)}",
                hint=f"name one of them: {self.kernel}.{names[0]}",
            )
        returned = "nothing" if value is None else f"a {type(value).__qualname__}"
        raise UsageError(
            f"`{self.kernel}` returned {returned}, not a kernel",
            hint="name a function that returns a T.prim_func or a @tilelang.jit kernel",
        )

    def _keep_flags(self, flags: object) -> None:
        if isinstance(flags, str):
            self.compile_flags.append(flags)
        elif flags:
            self.compile_flags += [str(flag) for flag in flags]  # type: ignore[attr-defined]

    # ── inner functions ─────────────────────────────────────────────────────────────────────────

    def inner(self, owner: Any, name: str) -> Any:
        """Find ``name`` inside ``owner``: an attribute, a method, a result, or a local function.

        A function is called (with the parameters that it takes) and its result searched; where
        the result does not hold the name, the function's local variable is taken as it was when
        the call ended, even if it ended by launching something.
        """
        if inspect.isclass(owner):
            member = inspect.getattr_static(owner, name, None)
            if inspect.isfunction(member) and "self" in inspect.signature(member).parameters:
                return getattr(self.call(owner), name)
        found = getattr(owner, name, None)
        if found is not None:
            return found
        if not callable(owner):
            return None
        return self._from_call(owner, name)

    def _from_call(self, function: Any, name: str) -> Any:
        code = getattr(inspect.unwrap(function), "__code__", None)
        local: list[Any] = []

        def watch(frame: FrameType, event: str, _argument: object) -> None:
            if event == "return" and frame.f_code is code and name in frame.f_locals:
                local[:] = [frame.f_locals[name]]

        before = sys.getprofile()
        sys.setprofile(watch)
        try:
            result = self.call(function)
        except UsageError:
            if not local:
                raise
            result = None
        finally:
            sys.setprofile(before)
        for key, item in _items(result):
            if key == name or kinds.kernel_name(item) == name:
                return item
        return local[0] if local else getattr(result, name, None)


def _items(value: object) -> list[tuple[object, Any]]:
    if isinstance(value, Mapping):
        return list(value.items())
    if isinstance(value, (list, tuple)):
        return [(kinds.kernel_name(item) or index, item) for index, item in enumerate(value)]
    return []


def _const_names(impl: Any) -> tuple[str, ...]:
    """List the names that an eager kernel declares with ``T.const``, sorted.

    Source: tilelang 0.1.15, ``TirTemplate.matcher`` of ``JITFunc.p1_cache``, filled by phase 1.
    """
    names: dict[str, None] = {}
    for template in getattr(impl.func, "p1_cache", {}).values():
        for _, _, _, name in (template.matcher or {}).values():
            names[name] = None
    return tuple(sorted(names))


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _settings(names: list[str]) -> str:
    return " ".join(f"{name}=VALUE" for name in names)
