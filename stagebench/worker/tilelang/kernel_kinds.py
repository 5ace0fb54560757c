"""Which objects of a user's module are kernels?  TileLang's own kinds, and what makes them."""

from __future__ import annotations

import ast
import inspect
from types import ModuleType
from typing import Any

from tilelang.autotuner.tuner import AutoTuneImpl
from tilelang.jit import JITImpl, PrimFunc
from tilelang.jit.kernel import JITKernel

from stagebench.worker.loading.user_tree import UserTree

_KERNELS = (PrimFunc, JITImpl, AutoTuneImpl, JITKernel)
_MARKS = {"prim_func", "jit", "autotune"}


def is_prim_func(value: object) -> bool:
    """Whether it is a function of TileLang's IR."""
    return isinstance(value, PrimFunc)


def is_jit(value: object) -> bool:
    """Whether it is a ``@tilelang.jit`` function."""
    return isinstance(value, JITImpl)


def is_autotuned(value: object) -> bool:
    """Whether it is an ``@autotune`` function."""
    return isinstance(value, AutoTuneImpl)


def is_compiled(value: object) -> bool:
    """Whether it is what ``tilelang.compile`` returns."""
    return isinstance(value, JITKernel)


def is_kernel(value: object) -> bool:
    """Whether it is one of TileLang's own kernel objects."""
    return isinstance(value, _KERNELS)


def kernel_name(value: Any) -> str | None:
    """Return the Python name that a kernel object was defined under."""
    if is_compiled(value):
        value = value.prim_func
    for holder in (value, getattr(value, "jit_impl", None), getattr(value, "func", None)):
        name = getattr(getattr(holder, "func", holder), "__name__", None)
        if isinstance(name, str):
            return name
    attributes = getattr(value, "attrs", None)
    if attributes is not None and "global_symbol" in attributes:
        return str(attributes["global_symbol"])
    return None


def kernel_names(module: ModuleType, parsed: ast.Module, tree: UserTree) -> tuple[str, ...]:
    """List the module's kernels, and functions that look as if they made one."""
    looks = {
        node.name
        for node in parsed.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and _looks_like_one(node)
    }
    found = [
        name
        for name, value in vars(module).items()
        if not name.startswith("__")
        and (is_kernel(value) or (name in looks and _is_own(value, tree)))
    ]
    return tuple(found)


def _is_own(value: object, tree: UserTree) -> bool:
    try:
        filename = inspect.getfile(value)  # type: ignore[arg-type]
    except TypeError:
        return callable(value)
    return tree.contains(filename)


def _looks_like_one(node: ast.AST) -> bool:
    """Whether a definition holds ``@T.prim_func``, ``@tilelang.jit``, or calls such a thing."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.FunctionDef):
            for decorator in inner.decorator_list:
                called = decorator.func if isinstance(decorator, ast.Call) else decorator
                name = (
                    called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
                )
                if name in _MARKS:
                    return True
    return False
