"""Which parameters does a callable take, and what fills them?  Values by name, then defaults."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from stagebench.model import ParamValue
from stagebench.worker.tilelang.argument import annotation_text, as_argument

_Parameter = inspect.Parameter


@dataclass(frozen=True)
class Signature:
    """The parameters of one callable on the way to a kernel.

    ``tensors`` are those that stand for tensors or run-time scalars: they are never given.
    """

    name: str
    parameters: tuple[inspect.Parameter, ...]
    hints: Mapping[str, object]
    tensors: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names that can be given, ``*args`` and ``**kwargs`` not among them."""
        starred = (_Parameter.VAR_KEYWORD, _Parameter.VAR_POSITIONAL)
        return tuple(p.name for p in self.parameters if p.kind not in starred)

    @property
    def takes_any(self) -> bool:
        """Whether it has ``**kwargs``."""
        return any(p.kind is _Parameter.VAR_KEYWORD for p in self.parameters)

    def __str__(self) -> str:
        return f"{self.name}({', '.join(_parameter_text(p) for p in self.parameters)})"


@dataclass
class Binding:
    """Arguments for one call.  ``values`` are all of them by name, defaults included."""

    positional: list[Any] = field(default_factory=list)
    keywords: dict[str, Any] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    missing: list[str] = field(default_factory=list)


def signature_of(name: str, function: Any, tensors: tuple[str, ...] = ()) -> Signature:
    """Read the signature of a function, class, partial or wrapper (``__wrapped__`` is followed)."""
    inner = _wrapped_kernel(function)
    known = getattr(inner, "signature", None)
    if isinstance(known, inspect.Signature):
        tensors = tensors or tensor_names(inner)
        function = getattr(getattr(inner, "func", None), "orig_func", function)
        signature = known
    else:
        signature = inspect.signature(function)
    parameters = tuple(p for p in signature.parameters.values() if p.name not in tensors)
    return Signature(name, parameters, _hints(function), tensors)


def tensor_names(jit_impl: Any) -> tuple[str, ...]:
    """List the parameters of an eager kernel that are tensors or run-time scalars."""
    return tuple(getattr(getattr(jit_impl, "func", None), "tensor_args", None) or ())


def _wrapped_kernel(function: Any) -> Any:
    """Follow a chain of ``__wrapped__`` to its end, or to a TileLang JIT object."""
    seen = 0
    while not isinstance(getattr(function, "signature", None), inspect.Signature):
        inner = getattr(function, "jit_impl", None) or getattr(function, "__wrapped__", None)
        if inner is None or seen > 32:
            break
        function, seen = inner, seen + 1
    return function


def _hints(function: Callable[..., Any]) -> dict[str, object]:
    target = function.__init__ if inspect.isclass(function) else inspect.unwrap(function)
    hints = dict(getattr(target, "__annotations__", {}))
    for name, hint in hints.items():
        if isinstance(hint, str):
            hints[name] = _evaluated(hint, getattr(target, "__globals__", {}))
    return hints


def _evaluated(hint: str, namespace: dict[str, Any]) -> object:
    """Evaluate one string annotation; a neighbour that can't be evaluated doesn't matter."""

    def stub() -> None: ...

    stub.__annotations__ = {"hint": hint}
    try:
        return typing.get_type_hints(stub, globalns=namespace)["hint"]
    except Exception:  # noqa: BLE001  (the file's own annotation may raise anything)
        return hint


def bind(
    signature: Signature, offered: Mapping[str, ParamValue], extra: Mapping[str, Any]
) -> Binding:
    """Bind what is ``offered`` (given by the user) and ``extra`` (from a config) by name.

    What is offered wins.  Defaults fill the rest; ``missing`` names what nothing fills.
    """
    bound = Binding()
    for parameter in signature.parameters:
        name = parameter.name
        if parameter.kind is _Parameter.VAR_KEYWORD:
            continue
        if name in offered:
            hint = signature.hints.get(name, parameter.annotation)
            value = as_argument(signature.name, parameter, hint, offered[name])
            bound.used.add(name)
        elif name in extra:
            value = extra[name]
        elif parameter.kind is _Parameter.VAR_POSITIONAL:
            continue
        elif parameter.default is not _Parameter.empty:
            bound.values[name] = parameter.default
            if parameter.kind is _Parameter.POSITIONAL_ONLY:
                bound.positional.append(parameter.default)
            continue
        else:
            bound.missing.append(name)
            continue
        bound.values[name] = value
        _place(bound, parameter, value)
    return bound


def _place(bound: Binding, parameter: inspect.Parameter, value: Any) -> None:
    if parameter.kind is _Parameter.POSITIONAL_ONLY:
        bound.positional.append(value)
    elif parameter.kind is _Parameter.VAR_POSITIONAL:
        # `--set args=1,2` for `*args`: what stands before it must become positional, too.
        before = [v for name, v in bound.values.items() if name != parameter.name]
        bound.keywords.clear()
        bound.positional = [*before, *(value if isinstance(value, tuple) else (value,))]
    else:
        bound.keywords[parameter.name] = value


def _parameter_text(parameter: inspect.Parameter) -> str:
    stars = {int(_Parameter.VAR_POSITIONAL): "*", int(_Parameter.VAR_KEYWORD): "**"}
    text = stars.get(int(parameter.kind), "") + parameter.name
    if parameter.annotation is not parameter.empty:
        text += f": {annotation_text(parameter)}"
    if parameter.default is not parameter.empty:
        shown = _default_text(parameter.default)
        text += f" = {shown}" if ":" in text else f"={shown}"
    return text


def _default_text(value: object) -> str:
    if isinstance(value, str):
        return repr(str(value))
    text = repr(value)
    if " at 0x" in text:
        return str(getattr(value, "__qualname__", type(value).__qualname__))
    return text
