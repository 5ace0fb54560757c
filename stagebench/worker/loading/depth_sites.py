"""Where does a pipelined loop get its depth from?  A parameter, a number, or we can't tell.

Reads the Python of the kernel's function, of the functions that it calls or names (in the user's
files), and of the functions nested in them, and follows the ``num_stages`` argument of every
``T.Pipelined`` back through assignments and calls to a parameter, to a number, or to an expression
that it can't follow.  It reads text because the depth must be known before the kernel is built.

Not handled: a loop behind an attribute of an object (``self.loop()``), ``exec``, and depths kept in
attributes or containers (``config.num_stages``), which are reported as unknown.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import FunctionType
from typing import Any, Literal

from stagebench.worker.loading.user_tree import Place

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_PIPELINED_POSITION = 2  # T.Pipelined(start, stop, num_stages, …), tilelang/language/loop.py
_SOURCES = ("orig_func", "__wrapped__", "func", "jit_impl", "prim_func", "__func__")


@dataclass(frozen=True)
class DepthSource:
    """One thing that the depth of the loop at ``place`` comes from.

    ``text`` is a parameter's name, a number as written, or an expression; empty where the loop has
    no ``num_stages`` at all.
    """

    place: Place
    kind: Literal["parameter", "literal", "unknown", "absent"]
    text: str


def python_functions(kernel: object) -> list[FunctionType]:
    """List the Python functions behind a kernel object: wrappers and the function itself."""
    found: list[FunctionType] = []
    pending: list[object] = [kernel]
    seen: set[int] = set()
    while pending:
        item = pending.pop(0)
        if id(item) in seen or item is None:
            continue
        seen.add(id(item))
        if inspect.isfunction(item):
            found.append(item)
        elif inspect.isclass(item):
            pending += [m for m in vars(item).values() if inspect.isfunction(m)]
            continue
        pending += [_attribute(item, name) for name in _SOURCES]
    return found


def _attribute(item: object, name: str) -> object:
    try:
        return getattr(item, name, None)
    except Exception:  # noqa: BLE001  (an object of the user's may raise anything)
        return None


@dataclass(frozen=True, eq=False)
class _Scope:
    """One function definition, with the definitions around it and the names of its module."""

    node: _Function
    parent: _Scope | None
    file: str
    namespace: Mapping[str, Any]
    closure: Mapping[str, Any]

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """The nodes of its own body, without those of the functions nested in it."""
        return tuple(_own_nodes(self.node))

    @cached_property
    def inner(self) -> Mapping[str, _Function]:
        """The functions that are nested in it, by name."""
        return {node.name: node for node in self.nodes if isinstance(node, _Function)}

    @cached_property
    def assigned(self) -> Mapping[str, list[ast.expr]]:
        """What its own body assigns to each name."""
        found: dict[str, list[ast.expr]] = {}
        for node in self.nodes:
            for name, value in _assignments(node):
                found.setdefault(name, []).append(value)
        return found

    def parameters(self) -> dict[str, ast.expr | None]:
        """Parameter names, each with its default."""
        args = self.node.args
        plain = [*args.posonlyargs, *args.args]
        defaults: list[ast.expr | None] = [None] * (len(plain) - len(args.defaults))
        defaults += args.defaults
        named = {a.arg: d for a, d in zip(plain, defaults, strict=True)}
        named.update({a.arg: d for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True)})
        return named


class DepthSites:
    """The pipelined loops that are reachable from some kernel objects."""

    def __init__(
        self,
        kernels: list[object],
        is_user_file: Callable[[str], bool],
        inner_names: Sequence[str] = (),
    ) -> None:
        self._is_user_file = is_user_file
        self._trees: dict[str, ast.Module | None] = {}
        self._scopes: dict[ast.AST, _Scope] = {}
        self._calls: dict[ast.AST, list[tuple[ast.Call, _Scope]]] = {}
        self._loops: list[tuple[ast.Call, _Scope]] = []
        self._entries: set[ast.AST] = set()
        self._pending: list[_Scope] = []
        for kernel in kernels:
            for function in python_functions(kernel):
                scope = self._enter(function)
                if scope is not None:
                    self._entries.add(scope.node)
        self._enter_inner(inner_names)
        visited: set[ast.AST] = set()
        while self._pending:
            scope = self._pending.pop(0)
            if scope.node not in visited:
                visited.add(scope.node)
                self._read(scope)

    def _enter_inner(self, names: Sequence[str]) -> None:
        """Make the local functions that the reference names (``factory.kernel``) entries, too."""
        for name in names:
            for scope in list(self._scopes.values()):
                if name in scope.inner:
                    self._entries.add(scope.inner[name])

    @property
    def own_parameters(self) -> tuple[str, ...]:
        """Parameters of functions that nothing in the file calls: those a user can give."""
        names: dict[str, None] = {}
        for scope in self._scopes.values():
            free = scope.node in self._entries or not self._calls.get(scope.node)
            if free and not _has_decorator(scope.node, {"prim_func", "macro"}):
                names.update(dict.fromkeys(scope.parameters()))
        return tuple(names)

    def sources(self) -> tuple[DepthSource, ...]:
        """Say what each loop's depth comes from, in the order of the loops."""
        found: dict[DepthSource, None] = {}
        for call, scope in self._loops:
            place = (scope.file, call.lineno)
            argument = _stages_argument(call)
            if argument is None:
                found[DepthSource(place, "absent", "")] = None
                continue
            for kind, text in self._follow(argument, scope, frozenset()):
                found[DepthSource(place, kind, text)] = None
        return tuple(found)

    # ── reading ─────────────────────────────────────────────────────────────────────────────────

    def _enter(self, function: FunctionType) -> _Scope | None:
        """Find a Python function's definition, and queue it to be read."""
        code = function.__code__
        if not self._is_user_file(code.co_filename):
            return None
        tree = self._tree(code.co_filename)
        chain = _definition(tree, function) if tree is not None else None
        if not chain:
            return None
        if chain[-1] in self._scopes:
            return self._scopes[chain[-1]]
        cells = zip(code.co_freevars, function.__closure__ or (), strict=False)
        closure = {name: _cell(cell) for name, cell in cells}
        scope: _Scope | None = None
        for node in chain:
            known = self._scopes.get(node)
            scope = known or _Scope(node, scope, code.co_filename, function.__globals__, closure)
        assert scope is not None  # noqa: S101  (chain is not empty)
        self._scopes[scope.node] = scope
        self._pending.append(scope)
        return scope

    def _tree(self, filename: str) -> ast.Module | None:
        if filename not in self._trees:
            try:
                with open(filename, "rb") as source:  # noqa: PTH123  (co_filename, as it is)
                    self._trees[filename] = ast.parse(source.read())
            except (OSError, SyntaxError, ValueError):
                self._trees[filename] = None
        return self._trees[filename]

    def _read(self, scope: _Scope) -> None:
        names = {n.id for n in scope.nodes if isinstance(n, ast.Name)}
        for name in sorted(names - set(scope.parameters()) - set(scope.assigned)):
            self._named_function(name, scope)
        for node in scope.nodes:
            if isinstance(node, _Function):
                inner = _Scope(node, scope, scope.file, scope.namespace, scope.closure)
                self._scopes.setdefault(node, inner)
                self._pending.append(self._scopes[node])
            elif isinstance(node, ast.Call):
                self._read_call(node, scope)

    def _read_call(self, call: ast.Call, scope: _Scope) -> None:
        name = call.func.attr if isinstance(call.func, ast.Attribute) else None
        name = call.func.id if isinstance(call.func, ast.Name) else name
        if name == "Pipelined":
            self._loops.append((call, scope))
            return
        callee = self._called(call.func, scope)
        if callee is not None:
            self._calls.setdefault(callee, []).append((call, scope))

    def _called(self, function: ast.expr, scope: _Scope) -> ast.AST | None:
        if isinstance(function, ast.Name):
            return self._named_function(function.id, scope)
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            owner = scope.namespace.get(function.value.id)
            found = self._enter_object(_attribute(owner, function.attr)) if owner else None
            # `kernel.get_tir(...)`, `kernel.compile(...)`: a call of the function itself.
            return found or self._named_function(function.value.id, scope)
        if isinstance(function, ast.Call):  # partial(f, …)(…), jit(f)(…)
            return next((node for arg in function.args if (node := self._called(arg, scope))), None)
        return None

    def _named_function(self, name: str, scope: _Scope) -> ast.AST | None:
        """Find the definition that ``name`` means in ``scope``."""
        around: _Scope | None = scope
        while around is not None:
            if name in around.inner:
                return around.inner[name]
            around = around.parent
        value = scope.closure.get(name, scope.namespace.get(name))
        return self._enter_object(value)

    def _enter_object(self, value: object) -> ast.AST | None:
        if value is None or inspect.ismodule(value) or inspect.isclass(value):
            return None
        scopes = [self._enter(function) for function in python_functions(value)]
        return next((scope.node for scope in scopes if scope is not None), None)

    # ── following ───────────────────────────────────────────────────────────────────────────────

    def _follow(
        self, expression: ast.expr, scope: _Scope, seen: frozenset[tuple[ast.AST, str]]
    ) -> Iterator[tuple[Literal["parameter", "literal", "unknown"], str]]:
        if isinstance(expression, ast.Constant):
            yield "literal", repr(expression.value)
        elif isinstance(expression, ast.Name):
            yield from self._follow_name(expression.id, scope, seen)
        elif (key := _keyword_lookup(expression, scope)) is not None:
            yield "parameter", key
        else:
            followed = [f for part in _values(expression) for f in self._follow(part, scope, seen)]
            parameters = [f for f in followed if f[0] == "parameter"]
            if parameters:
                yield from parameters
            elif followed and all(kind == "literal" for kind, _ in followed):
                yield "literal", ast.unparse(expression)
            else:
                yield "unknown", ast.unparse(expression)

    def _follow_name(
        self, name: str, scope: _Scope, seen: frozenset[tuple[ast.AST, str]]
    ) -> Iterator[tuple[Literal["parameter", "literal", "unknown"], str]]:
        if (scope.node, name) in seen:
            return
        seen |= {(scope.node, name)}
        around: _Scope | None = scope
        while around is not None:
            assigned = around.assigned.get(name, [])
            if assigned:
                for value in assigned:
                    yield from self._follow_assigned(name, value, around, seen)
            if name in around.parameters():
                if not assigned or any(_mentions(value, name) for value in assigned):
                    yield from self._follow_parameter(name, around, seen)
                return
            if assigned:
                return
            around = around.parent
        value = scope.closure.get(name, scope.namespace.get(name))
        is_number = isinstance(value, int) and not isinstance(value, bool)
        yield ("literal", f"{name} ({value})") if is_number else ("unknown", name)

    def _follow_assigned(
        self,
        name: str,
        value: ast.expr,
        scope: _Scope,
        seen: frozenset[tuple[ast.AST, str]],
    ) -> Iterator[tuple[Literal["parameter", "literal", "unknown"], str]]:
        if _is_const_declaration(value):
            yield "parameter", name
        else:
            yield from self._follow(value, scope, seen)

    def _follow_parameter(
        self, name: str, scope: _Scope, seen: frozenset[tuple[ast.AST, str]]
    ) -> Iterator[tuple[Literal["parameter", "literal", "unknown"], str]]:
        calls = self._calls.get(scope.node, [])
        if scope.node in self._entries or not calls:
            if name in scope.closure and scope.node not in self._entries:
                yield "literal", f"{name} ({scope.closure[name]!r})"
            else:
                yield "parameter", name
            return
        for call, caller in calls:
            argument = _argument(call, name, scope)
            default = scope.parameters()[name]
            if argument is not None:
                yield from self._follow(argument, caller, seen)
            elif _has_decorator(scope.node, {"autotune"}):
                yield "parameter", name  # a tuned function's call takes it from the user, too
            elif default is not None and not _spreads(call):
                yield from self._follow(default, scope.parent or scope, seen)
            else:
                yield "parameter", name


def _cell(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a name that the factory has not assigned yet
        return None


def _definition(tree: ast.Module, function: FunctionType) -> list[_Function] | None:
    """Find the definition of ``function`` and those around it, outermost first."""
    code = function.__code__

    def search(node: ast.AST, chain: list[_Function]) -> list[_Function] | None:
        for child in ast.iter_child_nodes(node):
            inner = chain
            if isinstance(child, _Function):
                inner = [*chain, child]
                first = min([child.lineno, *(d.lineno for d in child.decorator_list)])
                lines = (first, child.lineno)
                if child.name == code.co_name and lines[0] <= code.co_firstlineno <= lines[1]:
                    return inner
            found = search(child, inner)
            if found:
                return found
        return None

    return search(tree, [])


def _own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """Walk a function's body, but not the functions nested in it."""
    pending = list(ast.iter_child_nodes(function))
    while pending:
        node = pending.pop(0)
        yield node
        if isinstance(node, _Function):
            pending[:0] = node.decorator_list
        else:
            pending[:0] = list(ast.iter_child_nodes(node))


def _stages_argument(call: ast.Call) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == "num_stages":
            return keyword.value
    if len(call.args) > _PIPELINED_POSITION:
        return call.args[_PIPELINED_POSITION]
    spread = [k.value for k in call.keywords if k.arg is None]
    return spread[0] if spread else None


def _argument(call: ast.Call, name: str, callee: _Scope) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    args = callee.node.args
    positions = [a.arg for a in (*args.posonlyargs, *args.args)]
    if name in positions and not any(isinstance(a, ast.Starred) for a in call.args):
        index = positions.index(name)
        if index < len(call.args):
            return call.args[index]
    return None


def _spreads(call: ast.Call) -> bool:
    """Whether a call passes ``*args`` or ``**kwargs``: any parameter may be among them."""
    starred = any(isinstance(a, ast.Starred) for a in call.args)
    return starred or any(k.arg is None for k in call.keywords)


def _assignments(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """List the names that a statement assigns, each with what it is assigned."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _assigned(target, node.value)
    elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
        yield from _assigned(node.target, node.value)


def _assigned(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple | ast.List):
        values = [value] * len(target.elts)
        if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(values):
            values = value.elts
        for inner, its_value in zip(target.elts, values, strict=True):
            if isinstance(inner, ast.Name):
                yield inner.id, its_value


def _is_const_declaration(value: ast.expr) -> bool:
    """``T.const("M N")``: the names are declared there, and given by name."""
    if not isinstance(value, ast.Call):
        return False
    function = value.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", None)
    return name == "const"


def _keyword_lookup(expression: ast.expr, scope: _Scope) -> str | None:
    """Read the key of ``options["key"]`` or ``options.get("key")``, of a ``**options``."""
    owner: ast.expr | None = None
    key: ast.expr | None = None
    if isinstance(expression, ast.Subscript):
        owner, key = expression.value, expression.slice
    elif isinstance(expression, ast.Call) and expression.args:
        called = expression.func
        if isinstance(called, ast.Attribute) and called.attr in {"get", "pop"}:
            owner, key = called.value, expression.args[0]
    star = scope.node.args.kwarg
    if star is None or not isinstance(owner, ast.Name) or owner.id != star.arg:
        return None
    return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else None


def _values(expression: ast.expr) -> Iterator[ast.expr]:
    """List the parts that an expression's value is made of (a condition is not one)."""
    if isinstance(expression, ast.IfExp):
        yield from (expression.body, expression.orelse)
    elif isinstance(expression, ast.Call):
        yield from expression.args
        yield from (k.value for k in expression.keywords)
    elif isinstance(expression, ast.BoolOp):
        yield from expression.values
    elif isinstance(expression, ast.BinOp):
        yield from (expression.left, expression.right)
    elif isinstance(expression, ast.UnaryOp):
        yield expression.operand


def _mentions(expression: ast.expr, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(expression))


def _has_decorator(function: _Function, names: set[str]) -> bool:
    """Whether a definition is decorated with one of ``names``, called or not, from any module."""
    for decorator in function.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if isinstance(called, ast.Attribute) and called.attr in names:
            return True
        if isinstance(called, ast.Name) and called.id in names:
            return True
    return False
