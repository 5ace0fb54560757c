"""Which kernel does the user mean: a built-in's name or ``path/to/file.py:function``?

Finds what is wrong with a reference without importing a compiler: a missing file, a syntax error,
a name that no built-in has.  Which built-ins a compiler has, whether a function exists and what it
takes is the worker's to say, since a module may make its kernels at import.
"""

from __future__ import annotations

import ast
import difflib
import tokenize
from pathlib import Path

from stagebench.errors import UsageError
from stagebench.kernels import BUILTINS, TVM_BUILTINS
from stagebench.model import Record

_ALL = (*BUILTINS, *(name for name in TVM_BUILTINS if name not in BUILTINS))
_KERNEL_DECORATORS = ("jit", "autotune", "prim_func")


class KernelReference(Record, frozen=True, kw_only=True):
    """A kernel by absolute ``path`` (``None``: a built-in) and ``function``."""

    path: str | None
    function: str

    @property
    def name(self) -> str:
        """The kernel's name wherever its file lies: ``gemm``, ``attention.py:forward``."""
        return self.function if self.path is None else f"{Path(self.path).name}:{self.function}"


def parse_kernel(text: str) -> KernelReference:
    """Parse a reference; `UsageError` says what is wrong with it and what to type instead."""
    path_text, colon, function = text.rpartition(":")
    if not colon:
        if text in _ALL:
            return KernelReference(path=None, function=text)
        path_text, function = text, ""
    path = Path(path_text).expanduser()
    if not colon and path.suffix != ".py":
        raise _unknown_builtin(text)
    if not path.is_file():
        raise UsageError(
            f"no file {path_text}",
            hint="a kernel is a built-in's name or path/to/file.py:function",
        )
    tree = _parse(path)
    if not function:
        raise _missing_function(path_text, tree)
    return KernelReference(path=str(path.resolve()), function=function)


def _unknown_builtin(text: str) -> UsageError:
    near = difflib.get_close_matches(text, _ALL, n=1)
    built_in = ", ".join(_ALL)
    return UsageError(
        f"no built-in kernel {text!r} (there are: {built_in})",
        hint=f"did you mean {near[0]}?" if near else "or name your own: path/to/file.py:function",
    )


def _parse(path: Path) -> ast.Module:
    try:
        with tokenize.open(path) as stream:
            source = stream.read()
        return ast.parse(source, filename=str(path))
    except SyntaxError as exc:
        place = f"{path}:{exc.lineno}" if exc.lineno else str(path)
        raise UsageError(f"{place}: {exc.msg}") from exc
    except (ValueError, UnicodeDecodeError) as exc:
        raise UsageError(f"{path} is not Python source: {exc}") from exc
    except OSError as exc:
        raise UsageError(f"{path}: {exc.strerror}") from exc


def _missing_function(path_text: str, tree: ast.Module) -> UsageError:
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    kernels = [node.name for node in functions if _looks_like_kernel(node)]
    names = kernels or [node.name for node in functions]
    if not names:
        return UsageError(
            f"{path_text} defines no function, so it has no kernel",
            hint="a kernel is a @tilelang.jit or @T.prim_func function, or Python that returns a "
            "PrimFunc or, for Apache TVM, a module or a schedule",
        )
    listed = ", ".join(names[:12])
    return UsageError(
        f"which kernel of {path_text}?", hint=f"{path_text}:{names[0]} (it has: {listed})"
    )


def _looks_like_kernel(node: ast.FunctionDef) -> bool:
    words = {
        part.attr if isinstance(part, ast.Attribute) else part.id
        for decorator in node.decorator_list
        for part in ast.walk(decorator)
        if isinstance(part, ast.Attribute | ast.Name)
    }
    return not words.isdisjoint(_KERNEL_DECORATORS)
