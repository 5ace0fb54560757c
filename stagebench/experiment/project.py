"""Where does a project keep its experiments and baselines, and which policy holds for all of them?

``[tool.stagebench]`` in pyproject.toml: ``experiments`` and ``dumps`` (folders, relative to it)
and the table ``policy``.  Without it: ``experiments/`` and ``dumps/`` beside the nearest
pyproject.toml or ``.git`` above.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

from stagebench.errors import UsageError
from stagebench.gate.policy import check_pattern
from stagebench.model import Record

PYPROJECT = "pyproject.toml"


class Settings(Record, frozen=True, kw_only=True):
    """``[tool.stagebench]``."""

    experiments: str = "experiments"
    dumps: str = "dumps"
    policy: dict[str, str] = msgspec.field(default_factory=dict)


class _Tools(msgspec.Struct, frozen=True):
    stagebench: Settings = msgspec.field(default_factory=Settings)


class _Pyproject(msgspec.Struct, frozen=True):
    tool: _Tools = msgspec.field(default_factory=_Tools)


@dataclass(frozen=True)
class Project:
    """A root folder with its settings."""

    root: Path
    settings: Settings

    @property
    def experiments(self) -> Path:
        """Where its experiments are."""
        return self.root / self.settings.experiments

    @property
    def dumps(self) -> Path:
        """Where its baselines are."""
        return self.root / self.settings.dumps


def find_project(start: Path) -> Project:
    """The project that a file or folder is in; its own folder where there is none above it."""
    folder = start if start.is_dir() else start.parent
    folder = folder.resolve()
    for place in (folder, *folder.parents):
        if (place / PYPROJECT).is_file():
            return Project(place, _settings(place / PYPROJECT))
        if (place / ".git").exists():
            return Project(place, Settings())
    return Project(folder, Settings())


def _settings(path: Path) -> Settings:
    try:
        settings = msgspec.toml.decode(path.read_bytes(), type=_Pyproject).tool.stagebench
    except msgspec.ValidationError as exc:
        raise UsageError(f"{path}: {exc}", hint="see [tool.stagebench] in the README") from exc
    except (msgspec.DecodeError, UnicodeDecodeError) as exc:
        raise UsageError(f"{path} is not TOML: {exc}") from exc
    except OSError as exc:
        raise UsageError(f"{path}: {exc.strerror}") from exc
    for pattern in settings.policy:
        check_pattern(pattern, "[tool.stagebench.policy]")
    return settings
