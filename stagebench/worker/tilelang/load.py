"""How does "this function of this file, with these parameters" become a PrimFunc?  Here.

Runs in a worker's forked child, which has imported TileLang.  Nothing is compiled or launched and
no GPU is asked: the arch answers in its place (``gpu_probe``), and the file's own compiles stop at
the PrimFunc (``uncompiled``).  Everything that is patched for that is put back before this returns.

Raises `UsageError` for the caller's mistakes.  What the kernel's own Python raises comes through as
it is, with a note of what was being built.
"""

from __future__ import annotations

import ast
import difflib
import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from stagebench.errors import UsageError
from stagebench.facts.arch import capability_of
from stagebench.kernels import BUILTINS, TVM_BUILTINS
from stagebench.model import Diagnostic, ParamValue, Record
from stagebench.worker.loading.depth_sites import DepthSites
from stagebench.worker.loading.kernel_file import check_file, imported_file
from stagebench.worker.loading.notes import Notes
from stagebench.worker.loading.stage_param import (
    LiteralDepthError,
    infer_stage_param,
    no_stage_param,
)
from stagebench.worker.loading.user_tree import UserTree
from stagebench.worker.tilelang import kernel_kinds as kinds
from stagebench.worker.tilelang.argument import as_recorded
from stagebench.worker.tilelang.chosen_target import targets_are
from stagebench.worker.tilelang.gpu_needed import failed_for_gpu
from stagebench.worker.tilelang.gpu_probe import answered_probes
from stagebench.worker.tilelang.offer import Offer
from stagebench.worker.tilelang.pass_config import normal_pass_configs
from stagebench.worker.tilelang.prim_func_route import Route
from stagebench.worker.tilelang.signature import signature_of
from stagebench.worker.tilelang.uncompiled import compiling_nothing

__all__ = ["KernelRequest", "LiteralDepthError", "LoadedKernel", "load_kernel"]

DEPTH = "num_stages"
"""The key of the depth among a loaded kernel's parameters, whatever the kernel calls it."""

_SHADOWED_DEPTH = "num_stages (parameter)"
"""The key of the kernel's own ``num_stages`` where ``--stage-param`` names another one."""


class KernelEndedError(Exception):
    """The kernel's own Python called ``sys.exit`` while it was built."""


class KernelRequest(Record, frozen=True, kw_only=True):
    """What to build.

    ``path`` is the user's file, absolute (``None``: ``function`` is a built-in's name); dots in
    ``function`` go inwards (``Class.method``, ``factory.kernel``).  ``num_stages`` is ``None``
    where the kernel is to be built as it is written.
    """

    path: str | None
    function: str
    params: dict[str, ParamValue]
    num_stages: int | None
    stage_param: str | None
    arch: str


@dataclass(frozen=True)
class LoadedKernel:
    """A kernel, ready to be lowered.

    ``params`` are all parameters with their final values; the depth is under ``num_stages`` in
    place of its own name, which is ``stage_param``.  ``module_files`` are the user's files that
    were imported (for a built-in: its own), absolute and sorted.
    """

    prim_func: Any
    pass_configs: dict[str, object]
    params: dict[str, ParamValue]
    stage_param: str | None
    diagnostics: tuple[Diagnostic, ...]
    module_files: tuple[str, ...]


def load_kernel(
    request: KernelRequest, *, on_files: Callable[[tuple[str, ...]], None] | None = None
) -> LoadedKernel:
    """Build the PrimFunc of a request.

    ``on_files`` is told the module files as they are when the load ends, also when it fails.
    """
    capability_of(request.arch)
    path = None if request.path is None else Path(request.path)
    parsed = None if path is None else check_file(path)
    tree = UserTree(None if path is None else path.resolve())
    notes = Notes(tree)
    offer = Offer()
    try:
        with (
            answered_probes(request.arch, tree, notes),
            compiling_nothing(tree, notes, offer),
            targets_are(request.arch, notes),
            _noted(f"while building {_shown(request)}", tree),
        ):
            if path is None or parsed is None:
                return _build(request, _builtin_source(request.function, tree), notes, offer)
            with imported_file(path, parsed, tree) as module:
                source = _Source(module, request.function.split("."), parsed, tree)
                return _build(request, source, notes, offer)
    finally:
        if on_files is not None:
            on_files(tree.imported())


@dataclass(frozen=True)
class _Source:
    """Where the referenced function is: a module and the names that lead to it."""

    module: ModuleType
    names: list[str]
    parsed: ast.Module | None
    tree: UserTree


def _builtin_source(name: str, tree: UserTree) -> _Source:
    if name not in BUILTINS:
        near = difflib.get_close_matches(name, list(BUILTINS), n=1)
        if name in TVM_BUILTINS:
            raise UsageError(
                f"the built-in kernel `{name}` is Apache TVM's, not TileLang's",
                hint="--compiler tvm lowers it",
            )
        raise UsageError(
            f"there is no built-in kernel `{name}`",
            hint=(f"did you mean `{near[0]}`? " if near else "")
            + f"built-ins: {', '.join(BUILTINS)}; a kernel of yours is FILE.py:FUNCTION",
        )
    module, _, function = BUILTINS[name].partition(":")
    return _Source(importlib.import_module(module), [function], None, tree)


def _build(request: KernelRequest, source: _Source, notes: Notes, offer: Offer) -> LoadedKernel:
    owners = _owners(source)
    stage_param = _stage_param(request, source, owners, notes)
    offer.given = _given(request, stage_param)
    route = Route(request.function, offer, notes)
    reference = owners[-1]
    for name in source.names[len(owners) :]:
        reference = route.inner(reference, name)
        if reference is None:
            raise UsageError(
                f"`{request.function}`: there is no `{name}` in it",
                hint="a dotted name goes into a class, or into what a function returns or defines",
            )
    prim_func = route.prim_func(reference)
    pass_configs, flags = normal_pass_configs(prim_func, route.pass_configs)
    flags = [*route.compile_flags, *flags]
    if flags:
        said = f"the kernel asks for compiler flags {' '.join(flags)}"
        notes.add("compile-flags-kept", said, texts=flags)
    return LoadedKernel(
        prim_func=prim_func,
        pass_configs=pass_configs,
        params=_recorded(offer.values, stage_param),
        stage_param=stage_param if stage_param in offer.values else None,
        diagnostics=notes.all(),
        module_files=_module_files(source),
    )


def _module_files(source: _Source) -> tuple[str, ...]:
    """List the user's files; for a built-in its own, so that a cache sees it change."""
    if source.parsed is None:
        return (str(source.module.__file__),)
    return source.tree.imported()


def _owners(source: _Source) -> list[Any]:
    """Follow the dotted name as far as plain attributes lead."""
    first = source.names[0]
    if not hasattr(source.module, first) or not first:
        raise _no_such_function(source)
    owners = [getattr(source.module, first)]
    for name in source.names[1:]:
        found = getattr(owners[-1], name, None)
        if found is None or callable(owners[-1]):
            break
        owners.append(found)
    return owners


def _no_such_function(source: _Source) -> UsageError:
    assert source.parsed is not None  # noqa: S101  (a built-in's function exists)
    wanted = source.names[0]
    found = kinds.kernel_names(source.module, source.parsed, source.tree)
    file = Path(str(source.module.__file__)).name
    if not found:
        functions = [n.name for n in source.parsed.body if isinstance(n, ast.FunctionDef)]
        seen = f"its functions are {', '.join(functions)}" if functions else "it has no functions"
        return UsageError(
            f"{file} has no `{wanted}`, and nothing in it looks like a kernel ({seen})",
            hint="a kernel is a T.prim_func, a @tilelang.jit function, or a function returning one",
        )
    near = difflib.get_close_matches(wanted, found, n=1)
    meant = f"did you mean {file}:{near[0]}? " if near else ""
    return UsageError(
        f"{file} has no function `{wanted}`" if wanted else f"no function of {file} is named",
        hint=f"{meant}kernels in it: {', '.join(found)}",
    )


def _stage_param(
    request: KernelRequest, source: _Source, owners: list[Any], notes: Notes
) -> str | None:
    """Find the kernel's name for its depth; raise where the requested one can't be set."""
    if request.stage_param is not None:
        return request.stage_param
    signature_names = [name for owner in owners for name in _parameter_names(owner)]
    sites = DepthSites(list(owners), _readable(source), source.names[len(owners) :])
    sources = sites.sources()
    found = infer_stage_param(
        request.function,
        signature_names,
        sites.own_parameters,
        sources,
        source.tree,
        wanted=request.num_stages is not None,
    )
    if request.num_stages is None:
        return found
    if found is None:
        raise no_stage_param(request.function, sources, source.tree)
    for site in sources:
        if site.kind in ("literal", "absent"):
            depth = f"num_stages={site.text}" if site.text else "no num_stages"
            notes.add("literal-depth-kept", f"this loop keeps {depth}", site.place)
    return found


def _readable(source: _Source) -> Callable[[str], bool]:
    """Say whose Python is read for depths: the user's files, or the built-in's own."""
    own = str(source.module.__file__)
    return lambda filename: filename == own or source.tree.contains(filename)


def _parameter_names(owner: Any) -> tuple[str, ...]:
    if kinds.is_prim_func(owner) or kinds.is_compiled(owner) or not callable(owner):
        return ()
    try:
        return signature_of("", owner).names
    except (TypeError, ValueError):
        return ()


def _given(request: KernelRequest, stage_param: str | None) -> dict[str, ParamValue]:
    """Put the given values under the kernel's own names, the depth among them."""
    given = dict(request.params)
    if stage_param is None:
        return given
    results_name = request.stage_param is None or _SHADOWED_DEPTH in given
    if stage_param != DEPTH and DEPTH in given and results_name:
        # Results name every kernel's depth `num_stages`; take that name back.
        given.setdefault(stage_param, given.pop(DEPTH))
    if _SHADOWED_DEPTH in given:
        given[DEPTH] = given.pop(_SHADOWED_DEPTH)
    if request.num_stages is not None:
        other = given.get(stage_param, request.num_stages)
        if other != request.num_stages:
            raise UsageError(
                f"the depth is given twice: num_stages={request.num_stages} and "
                f"{stage_param}={other}",
                hint=f"leave out --set {stage_param}={other}",
            )
        given[stage_param] = request.num_stages
    return given


def _recorded(values: dict[str, Any], stage_param: str | None) -> dict[str, ParamValue]:
    recorded: dict[str, ParamValue] = {}
    for name, value in values.items():
        if name == stage_param:
            recorded[DEPTH] = as_recorded(value)
        else:
            recorded[_SHADOWED_DEPTH if name == DEPTH else name] = as_recorded(value)
    return recorded


def _shown(request: KernelRequest) -> str:
    file = "" if request.path is None else f"{Path(request.path).name}:"
    given = {**request.params}
    if request.num_stages is not None:
        given[DEPTH] = request.num_stages
    values = ", ".join(f"{name}={value!r}" for name, value in given.items())
    return f"{file}{request.function} for {request.arch}" + (f" with {values}" if values else "")


@contextmanager
def _noted(text: str, tree: UserTree) -> Iterator[None]:
    """Add a note to what the kernel's own Python raises (Python 3.11 and newer have notes)."""
    try:
        yield
    except UsageError:
        raise
    except SystemExit as error:
        place = tree.raising_line(error.__traceback__)
        where = tree.show(place) if place else "the kernel"
        raise KernelEndedError(f"{where} ends the program while the kernel is built") from error
    except Exception as error:
        needed = failed_for_gpu(tree, error)
        if needed is not None:
            raise needed from error
        add_note = getattr(error, "add_note", None)
        if add_note is not None:
            add_note(text)
        raise
