"""Is ``--until EXPRESSION`` so of a variant?  A small part of Python, walked node by node.

The names are those of an expectation (`stagebench.gate.variant_view.VariantView`).  Only what such
a question needs is allowed: comparisons, ``and``, ``or``, ``not``, sums and products of numbers,
attributes, subscripts, comprehensions, and the functions and methods listed here.  Powers, shifts
and repeated sequences are not, integers and steps are bounded: no expression runs for long.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from stagebench.errors import UsageError
from stagebench.gate.record_views import Notes
from stagebench.gate.variant_view import VariantView
from stagebench.model import ParamValue, VariantResult

FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    one.__name__: one
    for one in (abs, all, any, bool, float, int, len, max, min, round, set, sorted, str, sum)
}
METHODS = frozenset(
    {
        "count", "endswith", "find", "get", "index", "lower", "names", "split", "splitlines",
        "startswith", "strip", "upper",
    }
)  # fmt: skip
_ARITHMETIC: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.BitAnd: operator.and_, ast.BitOr: operator.or_,
}  # fmt: skip
_COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.In: lambda one, many: one in many, ast.NotIn: lambda one, many: one not in many,
}  # fmt: skip
_SIGNS: Mapping[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.Not: operator.not_, ast.USub: operator.neg, ast.UAdd: operator.pos,
}  # fmt: skip
_NODES: tuple[type[ast.AST], ...] = (
    ast.Expression, ast.BoolOp, ast.boolop, ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Compare,
    ast.Call, ast.Constant, ast.Attribute, ast.Subscript, ast.Slice, ast.Name, ast.expr_context,
    ast.Tuple, ast.List, ast.Set, ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.comprehension,
    *_ARITHMETIC, *_COMPARISONS, *_SIGNS,
)  # fmt: skip
_KNOWN = ("v", *(name for name in vars(VariantView) if not name.startswith("_") and name != "at"))
"""Names of a variant."""
_MAX_CHARACTERS = 2000
_MAX_BITS = 256
_SHOWN = 40
_MAX_STEPS = 1_000_000
_A_STEP = 32
_SIZED = (str, bytes, list, tuple, set)
_HINT = (
    "such as 'shared_memory.dynamic_bytes > 65536', 'outcome == \"failed\"', "
    "'totals[\"wgmma\"].static == 0'"
)


class Expression:
    """An expression that was read; `UsageError` where it is none, or not of the allowed part."""

    def __init__(self, text: str) -> None:
        self.text = text
        if len(text) > _MAX_CHARACTERS:
            raise UsageError(f"--until: longer than {_MAX_CHARACTERS} characters", hint=_HINT)
        try:
            self._body = ast.parse(text.strip(), "--until", "eval").body
            self._nodes = tuple(ast.walk(self._body))
        except (SyntaxError, ValueError, MemoryError, RecursionError) as exc:
            said = exc.msg if isinstance(exc, SyntaxError) else str(exc) or "nested too deeply"
            raise UsageError(
                f"--until {text!r} is no Python expression: {said}", hint=_HINT
            ) from exc
        for node in self._nodes:
            _check(node, text)
        bound = {n.id for n in self._nodes if isinstance(n, ast.Name) and _is_bound(n)}
        for node in self._nodes:
            if isinstance(node, ast.Name) and node.id not in (*bound, *_KNOWN, *FUNCTIONS):
                raise UsageError(
                    f"--until {text!r}: {node.id} is no name of a variant",
                    hint=f"there are: {', '.join(_KNOWN)}",
                )

    @property
    def reads_machine(self) -> bool:
        """Whether it is about machine code."""
        return any(
            (isinstance(node, ast.Name) and node.id == "machine")
            or (isinstance(node, ast.Attribute) and node.attr == "machine")
            for node in self._nodes
        )

    def answer(
        self, result: VariantResult, kernel_cu: str | None
    ) -> tuple[bool | None, str | None]:
        """Whether it is true of the variant; ``None`` with the reason where it has no answer.

        What is neither true nor false (a count, a list, a function) is no answer: every variant
        would have the same.
        """

        def beside(_: Mapping[str, ParamValue]) -> VariantView:
            raise LookupError("bisect looks at one variant: there is none beside it")

        view = VariantView(result, kernel_cu, result.variant.kernel, Notes(), beside)
        try:
            value = _Walk(view).value(self._body)
        except RecursionError:
            return None, "it is nested too deeply"
        except Exception as exc:  # noqa: BLE001 - whatever the expression does is its answer
            said = str(exc.args[0]) if isinstance(exc, LookupError) and exc.args else str(exc)
            return None, f"{type(exc).__name__}: {said}"
        if isinstance(value, bool):
            return value, None
        return None, f"it is {_said(value)}, neither true nor false"


def _said(value: object) -> str:
    """What an expression evaluated to: short data as they are, else what kind of thing it is."""
    if value is None or isinstance(value, int | float | str | tuple | list | set):
        shown = repr(value)
        if len(shown) <= _SHOWN:
            return shown
    if callable(value):
        return f"the function {getattr(value, '__name__', type(value).__name__)}"
    return f"a {type(value).__name__}"


def _is_bound(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _check(node: ast.AST, text: str) -> None:
    if not isinstance(node, _NODES):
        raise UsageError(
            f"--until {text!r}: {_NAMES.get(type(node), type(node).__name__)} is not allowed here",
            hint="comparisons, and, or, not, + - * / // %, names, [ ], comprehensions, "
            f"{', '.join(FUNCTIONS)}",
        )
    if isinstance(node, ast.Name | ast.Attribute):
        name = node.id if isinstance(node, ast.Name) else node.attr
        if name.startswith("_"):
            raise UsageError(f"--until {text!r}: {name} is no name of a variant", hint=_HINT)
    if isinstance(node, ast.Call):
        called = node.func
        known = (isinstance(called, ast.Name) and called.id in FUNCTIONS) or (
            isinstance(called, ast.Attribute) and called.attr in METHODS
        )
        if not known or node.keywords:
            raise UsageError(
                f"--until {text!r}: {ast.unparse(called)}(…) is not allowed here",
                hint=f"functions: {', '.join(FUNCTIONS)}; methods: {', '.join(sorted(METHODS))}",
            )
        if any(isinstance(argument, ast.Starred) for argument in node.args):
            raise UsageError(f"--until {text!r}: * is not allowed in a call", hint=_HINT)


_NAMES: Mapping[type[ast.AST], str] = {
    ast.Pow: "**", ast.LShift: "<<", ast.RShift: ">>", ast.Lambda: "lambda", ast.Starred: "*",
    ast.NamedExpr: ":=", ast.JoinedStr: "an f-string", ast.Dict: "a dictionary",
    ast.DictComp: "a dictionary", ast.Await: "await", ast.MatMult: "@", ast.Invert: "~",
    ast.BitXor: "^",
}  # fmt: skip


class _Walk:
    """One evaluation; ``local`` are the names of comprehensions."""

    def __init__(self, view: VariantView) -> None:
        self._view = view
        self._steps = 0
        self._local: dict[str, Any] = {}

    def value(self, node: ast.expr) -> Any:  # noqa: ANN401, C901, PLR0911, PLR0912 - one arm a node
        self._step()
        match node:
            case ast.Constant():
                return _bounded(node.value)
            case ast.Name():
                return self._name(node.id)
            case ast.Attribute():
                return getattr(self.value(node.value), node.attr)
            case ast.Subscript():
                return self.value(node.value)[self._index(node.slice)]
            case ast.BoolOp():
                wanted = isinstance(node.op, ast.Or)
                found: Any = not wanted
                for item in node.values:
                    found = self.value(item)
                    if bool(found) is wanted:
                        break
                return found
            case ast.UnaryOp():
                return _SIGNS[type(node.op)](self.value(node.operand))
            case ast.BinOp():
                return self._arithmetic(node)
            case ast.Compare():
                return self._compare(node)
            case ast.IfExp():
                return self.value(node.body if self.value(node.test) else node.orelse)
            case ast.Call():
                return self._call(node)
            case ast.Tuple():
                return tuple(self.value(item) for item in node.elts)
            case ast.List():
                return [self.value(item) for item in node.elts]
            case ast.Set():
                return {self.value(item) for item in node.elts}
            case ast.SetComp():
                return set(self._each(node.elt, node.generators))
            case ast.ListComp() | ast.GeneratorExp():
                return list(self._each(node.elt, node.generators))
        raise TypeError(f"{type(node).__name__} is not allowed here")

    def _step(self, *values: object) -> None:
        """Count one step, and those that reading or making these values takes."""
        sizes = (len(one) // _A_STEP for one in values if isinstance(one, _SIZED))
        self._steps += 1 + sum(sizes)
        if self._steps > _MAX_STEPS:
            raise ValueError(f"it takes more than {_MAX_STEPS:,} steps")

    def _name(self, name: str) -> Any:  # noqa: ANN401 - whatever the variant has
        if name in self._local:
            return self._local[name]
        if name == "v":
            return self._view
        if name in FUNCTIONS:
            return FUNCTIONS[name]
        if not hasattr(type(self._view), name):
            raise NameError(f"name {name!r} is not defined")
        return getattr(self._view, name)

    def _index(self, node: ast.expr) -> Any:  # noqa: ANN401 - an index, a name or a slice
        if isinstance(node, ast.Slice):
            return slice(
                *(part and self.value(part) for part in (node.lower, node.upper, node.step))
            )
        return self.value(node)

    def _arithmetic(self, node: ast.BinOp) -> Any:  # noqa: ANN401 - a number, or two joined
        left, right = self.value(node.left), self.value(node.right)
        numbers = isinstance(left, int | float) and isinstance(right, int | float)
        if not numbers and not isinstance(node.op, ast.Add | ast.Sub | ast.BitAnd | ast.BitOr):
            raise TypeError("* / // and % take two numbers")
        self._step(left, right)
        return _bounded(_ARITHMETIC[type(node.op)](left, right))

    def _compare(self, node: ast.Compare) -> Any:  # noqa: ANN401 - what a comparison returns
        left = self.value(node.left)
        found: Any = True
        for sign, item in zip(node.ops, node.comparators, strict=True):
            right = self.value(item)
            self._step(left, right)
            found = _COMPARISONS[type(sign)](left, right)
            if not found:
                break
            left = right
        return found

    def _call(self, node: ast.Call) -> Any:  # noqa: ANN401 - what it returns
        called = self.value(node.func)
        given = [self.value(argument) for argument in node.args]
        self._step(getattr(called, "__self__", None), *given)
        return _bounded(called(*given))

    def _each(self, element: ast.expr, loops: list[ast.comprehension]) -> Iterator[Any]:
        if not loops:
            yield self.value(element)
            return
        loop, *inner = loops
        outside = dict(self._local)
        for item in self.value(loop.iter):
            self._step()
            self._bind(loop.target, item)
            if all(self.value(test) for test in loop.ifs):
                yield from self._each(element, inner)
        self._local = outside

    def _bind(self, target: ast.expr, item: Any) -> None:  # noqa: ANN401 - an element
        if isinstance(target, ast.Name):
            self._local = {**self._local, target.id: item}
        elif isinstance(target, ast.Tuple | ast.List):
            for name, part in zip(target.elts, item, strict=True):
                self._bind(name, part)
        else:
            raise TypeError("a comprehension binds names")


def _bounded(value: Any) -> Any:  # noqa: ANN401 - any value
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        raise ValueError(f"a number of more than {_MAX_BITS} bits")
    return value
