"""Which experiments does the user mean, and what does each file say?

A file is run as Python, with its folder importable, in a process that has no compiler: importing
one there is an error.  Does not handle: lowering, baselines.
"""

from __future__ import annotations

import difflib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from stagebench.errors import StagebenchError, UsageError
from stagebench.experiment.definition import Experiment
from stagebench.experiment.project import Project, find_project

NAME = "EXPERIMENT"
_COMPILERS = ("tilelang", "tvm", "torch", "triton")


@dataclass(frozen=True)
class ExperimentFile:
    """An experiment with the file that defines it."""

    path: Path
    project: Project
    experiment: Experiment

    @property
    def name(self) -> str:
        """The file's stem, which is the name of its folder of baselines too."""
        return self.path.stem

    @property
    def shown(self) -> str:
        """The file as people are told it: relative to the project."""
        return shown(self.path, self.project)


def shown(path: Path, project: Project) -> str:
    """A path relative to the project where it lies below it."""
    try:
        return path.resolve().relative_to(project.root).as_posix()
    except ValueError:
        return path.as_posix()


def find_experiments(texts: Sequence[str]) -> tuple[ExperimentFile, ...]:
    """Those that are named (a file, a folder, or a file's stem), else all of the project here.

    Raises `UsageError` where there is none, or one can't be loaded.
    """
    here = find_project(Path.cwd())
    if texts:
        paths = [path for text in texts for path in _named(text, here)]
    else:
        paths = _folder(here.experiments, deep=True)
        if not paths:
            raise UsageError(
                f"no experiment in {here.experiments}",
                hint="`stagebench new experiment NAME --kernel gemm` writes a first one",
            )
    files = [load_experiment(path) for path in dict.fromkeys(path.resolve() for path in paths)]
    by_place: dict[tuple[Path, str], Path] = {}
    for file in files:
        other = by_place.setdefault((file.project.dumps, file.name), file.path)
        if other != file.path:
            raise UsageError(
                f"{file.path} and {other} would share the baselines {file.name}: rename one"
            )
    return tuple(files)


def _named(text: str, here: Project) -> list[Path]:
    path = Path(text)
    if path.is_dir():
        inside = path.resolve().is_relative_to(here.experiments.resolve())
        found = _folder(path, deep=inside)
        if not found:
            raise UsageError(f"no file in {text} defines {NAME}")
        return found
    if path.is_file():
        return [path]
    stem = here.experiments / f"{text}.py"
    if "/" not in text and not text.endswith(".py") and stem.is_file():
        return [stem]
    below = _folder(here.experiments, deep=True)
    if "/" not in text and (found := [each for each in below if each.stem == text]):
        return found
    known = [each.stem for each in below]
    near = difflib.get_close_matches(Path(text).stem, known, n=1)
    raise UsageError(
        f"no experiment {text}",
        hint=f"did you mean {near[0]}?" if near
        else f"there are: {', '.join(known)}" if known
        else "`stagebench new experiment NAME --kernel gemm` writes one",
    )  # fmt: skip


def names_all(texts: Sequence[str]) -> bool:
    """Whether this asks for every experiment of the project here: nothing, or their folder."""
    home = find_project(Path.cwd()).experiments.resolve()
    return not texts or any(Path(text).is_dir() and Path(text).resolve() == home for text in texts)


def _folder(folder: Path, *, deep: bool = False) -> list[Path]:
    """The Python files of a folder that speak of an experiment; ``deep``: below it too."""
    try:
        files = sorted(folder.rglob("*.py") if deep else folder.glob("*.py"))
        return [
            path for path in files
            if not any(part.startswith(".") for part in path.relative_to(folder).parts)
            and NAME.encode() in path.read_bytes()
        ]  # fmt: skip
    except OSError as exc:
        raise UsageError(f"{exc.filename}: {exc.strerror}") from exc


def load_experiment(path: Path) -> ExperimentFile:
    """Run an experiment file; `UsageError` names the file and line of what is wrong with it."""
    module = _run(path)
    experiment = getattr(module, NAME, None)
    if not isinstance(experiment, Experiment):
        raise UsageError(
            f"{path} defines no experiment"
            if experiment is None
            else f"{path}: {NAME} is a {type(experiment).__name__}, not an Experiment",
            hint=f"{NAME} = Experiment(question=…, cases=[Case(…)])",
        )
    return ExperimentFile(path.resolve(), find_project(path), experiment)


class _NoCompiler(importlib.abc.MetaPathFinder):
    """Refuses to import a compiler while an experiment file runs."""

    def find_spec(
        self, fullname: str, path: object, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        """``None`` for all other modules."""
        del path, target
        if fullname.partition(".")[0] in _COMPILERS:
            raise UsageError(
                f"an experiment imports no compiler, and this one imports {fullname}",
                hint="name the kernel instead: Case(kernel='path/to/file.py:function')",
            )
        return None


def _run(path: Path) -> ModuleType:
    try:
        code = compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
    except SyntaxError as exc:
        raise UsageError(f"{path}:{exc.lineno}: {exc.msg}") from exc
    except ValueError as exc:
        raise UsageError(f"{path} is not Python source: {exc}") from exc
    except OSError as exc:
        raise UsageError(f"{path}: {exc.strerror}") from exc
    module = ModuleType(f"stagebench_experiment_{path.stem}")
    module.__file__ = str(path)
    guard = _NoCompiler()
    sys.path.insert(0, str(path.parent))
    sys.meta_path.insert(0, guard)
    sys.modules[module.__name__] = module  # what it defines can be found by its module's name
    try:
        exec(code, module.__dict__)  # noqa: S102 - the user's own file, run as they asked
    except StagebenchError as exc:
        exc.message = f"{_place(exc, path)}: {exc.message}"
        raise
    except KeyboardInterrupt:
        raise
    except BaseException as exc:  # SystemExit too: it would end the whole check with its own code
        raise UsageError(f"{_place(exc, path)}: {type(exc).__name__}: {exc}") from exc
    finally:
        sys.meta_path.remove(guard)
        sys.path.remove(str(path.parent))
        del sys.modules[module.__name__]
    return module


def _place(exc: BaseException, path: Path) -> str:
    """The innermost line of the experiment file itself that an exception went through."""
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(exc.__traceback__)
        if frame.filename == str(path)
    ]
    return f"{path}:{lines[-1]}" if lines else str(path)
