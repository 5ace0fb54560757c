"""How does "this function of this file, with these parameters" become a module of Apache TVM?

The reference is a ``T.prim_func``, an ``I.ir_module``, or Python that returns one; dots go inwards
(``Class.method``), the last one also into the module, to one of its kernels (``Module.kernel``).
The values are given by name.  A module asks for pass configs of its own by an attribute:
``mod.with_attr("stagebench.pass_configs", {"tirx.use_async_copy": True})``.

Raises `UsageError` for the caller's mistakes.  What the kernel's own Python raises comes through.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from stagebench.errors import UsageError
from stagebench.kernels import TVM_BUILTINS
from stagebench.model import ParamValue, Scalar
from stagebench.worker.loading.kernel_file import check_file, imported_file
from stagebench.worker.loading.nearest import nearest
from stagebench.worker.loading.plain_values import NO_VALUE, converted_to
from stagebench.worker.loading.stage_param import infer_stage_param, no_stage_param
from stagebench.worker.loading.user_tree import UserTree
from stagebench.worker.protocol import LowerRequest
from stagebench.worker.tir.nodes import tirx, tvm
from stagebench.worker.tvm.chosen_kernel import check_kernel, functions_of, symbol_of

CONFIGS_ATTRIBUTE = "stagebench.pass_configs"
_MOST_LEVELS = 8


@dataclass(frozen=True)
class LoadedModule:
    """A module, ready to be lowered; ``params`` hold the depth under ``num_stages``.

    ``kernel`` is the one of several that was named (`stagebench.worker.tvm.chosen_kernel`),
    ``other_reference`` how another one is.
    """

    module: Any
    kernel: str | None
    other_reference: str | None
    pass_configs: dict[str, object]
    params: dict[str, ParamValue]
    stage_param: str | None
    module_files: tuple[str, ...]


def load_module(
    request: LowerRequest, *, on_files: Callable[[tuple[str, ...]], None]
) -> LoadedModule:
    """Build the module of a request; ``on_files`` is told the user's files that were imported."""
    tree = UserTree(None if request.path is None else Path(request.path).resolve())
    try:
        with _reference(request, tree) as reference:
            built = _Build(request, tree)
            module = built.module(reference.value)
            if reference.kernel is not None:
                check_kernel(module, reference.kernel, request.function)
            files = tree.imported() if reference.own_file is None else (reference.own_file,)
            return LoadedModule(
                module=module,
                kernel=reference.kernel,
                other_reference=_other_reference(request, reference.kernel),
                pass_configs=_pass_configs(module),
                params=built.params,
                stage_param=built.stage_param,
                module_files=files,
            )
    finally:
        on_files(tree.imported())


@dataclass(frozen=True)
class _Reference:
    """What is referred to: an object, a kernel of the module in it, the file of a built-in."""

    value: Any
    kernel: str | None = None
    own_file: str | None = None


@contextmanager
def _reference(request: LowerRequest, tree: UserTree) -> Iterator[_Reference]:
    """The object that is referred to, for as long as its file is imported."""
    if request.path is None:
        yield _builtin(request.function)
        return
    path = Path(request.path)
    with imported_file(path, check_file(path), tree) as module:
        found: Any = module
        names = request.function.split(".")
        while names and not _is_module(found) and hasattr(found, names[0]):
            found = getattr(found, names.pop(0))
        leads_on = found is not module and _may_give_module(found)
        if len(names) > 1 or (names and not leads_on):
            raise _no_such_reference(path, module, request.function)
        yield _Reference(found, kernel=names[0] if names else None)


def _other_reference(request: LowerRequest, kernel: str | None) -> str | None:
    """How another kernel of the same module is named; a built-in has no other."""
    if request.path is None:
        return None
    return f"{request.kernel.removesuffix(f'.{kernel}')}.NAME"


def _builtin(name: str) -> _Reference:
    if name not in TVM_BUILTINS:
        near = difflib.get_close_matches(name, list(TVM_BUILTINS), n=1)
        raise UsageError(
            f"Apache TVM has no built-in kernel `{name}`",
            hint=(f"did you mean `{near[0]}`? " if near else "")
            + f"its built-ins: {', '.join(TVM_BUILTINS)}; yours is FILE.py:FUNCTION",
        )
    module_name, _, function = TVM_BUILTINS[name].partition(":")
    module = importlib.import_module(module_name)
    return _Reference(getattr(module, function), own_file=str(module.__file__))


def _no_such_reference(path: Path, module: ModuleType, wanted: str) -> UsageError:
    kernels = [key for key, value in vars(module).items() if _is_module(value)]
    own = [
        key
        for key, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__
    ]
    return UsageError(
        f"{path.name} has no `{wanted}`",
        hint=f"in it are: {', '.join([*kernels, *own]) or 'no functions'}",
    )


class _Build:
    """The way from a reference to its module; the given values are offered at every level."""

    def __init__(self, request: LowerRequest, tree: UserTree) -> None:
        self._request = request
        self._tree = tree
        self._taken: set[str] = set()
        self._signatures: list[str] = []
        self._known: list[str] = []
        self.params: dict[str, ParamValue] = {}
        self.stage_param: str | None = None

    def module(self, reference: Any) -> Any:
        """Call until there is a module."""
        value = reference
        for _ in range(_MOST_LEVELS):
            value = _held(value)
            if _is_module(value) or not callable(value):
                break
            value = self._call(value)
        if not _is_module(value):
            raise UsageError(
                f"`{self._request.function}` returned a value of type {_type_of(value)}, "
                "not a kernel",
                hint="name a T.prim_func, an I.ir_module, or a function that returns one (or a "
                "schedule, or another object whose `mod` is one)",
            )
        if self._request.num_stages is not None and self.stage_param is None:
            raise no_stage_param(self._request.function, (), self._tree)
        self._refuse_unknown()
        if isinstance(value, tirx.PrimFunc):
            value = tvm.IRModule({symbol_of(value) or "main": value})
        return _entered(value)

    def _call(self, function: Any) -> Any:
        signature = inspect.signature(function)
        self._signatures.append(f"{getattr(function, '__name__', 'kernel')}{signature}")
        names = list(signature.parameters)
        self._known += names
        if self.stage_param is None:
            self.stage_param = self._depth_name(names)
        given = dict(self._request.params)
        if self._request.num_stages is not None and self.stage_param is not None:
            given.pop("num_stages", None)
            given[self.stage_param] = self._request.num_stages
        arguments: dict[str, Any] = {}
        for name, parameter in signature.parameters.items():
            if name in given:
                value = converted_to(parameter.annotation, given[name])
                if value is NO_VALUE:
                    raise UsageError(
                        f"parameter `{name}` of `{self._request.function}` does not take "
                        f"{given[name]!r}",
                        hint=f"signature: {self._signatures[-1]}",
                    )
                arguments[name] = value
                self._taken.add(name)
            elif parameter.default is not parameter.empty:
                arguments[name] = parameter.default
            else:
                raise UsageError(
                    f"`{self._request.function}` needs `{name}`",
                    hint=f"give --set {name}=VALUE; signature: {self._signatures[-1]}",
                )
        for name, value in arguments.items():
            self.params["num_stages" if name == self.stage_param else name] = _recorded(value)
        return function(**arguments)

    def _depth_name(self, names: list[str]) -> str | None:
        if self._request.stage_param is not None:
            return self._request.stage_param if self._request.stage_param in names else None
        wanted = self._request.num_stages is not None
        return infer_stage_param(
            self._request.function, names, names, (), self._tree, wanted=wanted
        )

    def _refuse_unknown(self) -> None:
        for name in self._request.params:
            if name in self._taken or name == "num_stages":
                continue
            near = nearest(name, self._known)
            raise UsageError(
                f"`{self._request.function}` has no parameter `{name}`",
                hint=(f"did you mean `{near[0]}`? " if near else "")
                + f"signature: {', then '.join(self._signatures) or 'it takes no parameters'}",
            )


def _is_module(value: object) -> bool:
    return isinstance(value, tirx.PrimFunc | tvm.IRModule)


def _entered(module: Any) -> Any:
    """A module that has an entry: private functions alone would be passed by and not lowered."""
    functions = functions_of(module)
    if not any(map(symbol_of, functions.values())):
        for name, function in functions.items():
            module.update_func(
                module.get_global_var(name), function.with_attr("global_symbol", name)
            )
    return module


def _may_give_module(value: object) -> bool:
    """Whether a kernel of it can be named: it is or has a module, or is a function that makes one.

    What a plain class lacks is misspelt: its instance is no module.
    """
    is_function = callable(value) and not inspect.isclass(value)
    return is_function or _is_module(_held(value))


def _held(value: Any) -> Any:
    """The module of what holds one as ``mod``: a schedule, or a wrapper of somebody's own."""
    if _is_module(value) or inspect.isclass(value) or inspect.isfunction(value):
        return value
    module = getattr(value, "mod", None)
    return module if _is_module(module) else value


def _type_of(value: object) -> str:
    name = type(value)
    own = name.__module__ == "builtins"
    return name.__qualname__ if own else f"{name.__module__}.{name.__qualname__}"


def _pass_configs(module: Any) -> dict[str, object]:
    attrs = module.attrs
    declared = attrs[CONFIGS_ATTRIBUTE] if attrs is not None and CONFIGS_ATTRIBUTE in attrs else {}
    return {str(key): _plain(value) for key, value in declared.items()}


def _plain(value: object) -> object:
    """The Python value of one that the IR holds."""
    if isinstance(value, bool | int | float | str):
        return value
    constant = getattr(value, "value", None)
    is_bool = str(getattr(value, "dtype", "")) == "bool"
    return bool(constant) if is_bool else constant


def _recorded(value: object) -> ParamValue:
    if value is None or isinstance(value, bool | int | float | str):
        scalar: Scalar = value
        return scalar
    if isinstance(value, list | tuple):
        return tuple(item if isinstance(item, int | str) else str(item) for item in value)
    return str(value)
