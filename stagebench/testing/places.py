"""Where are the baselines of a test's checks?  ``__stagebench__/<test module>/<check>/``.

The folder lies beside the test module.  A test's first check is called as the test is
(``TestGemm.test_tile.64``), its others ``…,2``, ``…,3`` or as ``name=`` says.  Names are made of
letters, digits and ``._=+-``; what had to be changed to get there is told apart by a digest.
"""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path

FOLDER = "__stagebench__"
_UNSAFE = re.compile(r"[^A-Za-z0-9._=+-]+")
_MAX_CHARS = 100
_DIGEST_CHARS = 8


def label_of_test(node_id: str) -> str:
    """The name of a test's baselines: its node id without the file."""
    inside = node_id.partition("::")[2] or node_id
    name, bracket, parameters = inside.partition("[")
    plain = name.replace("::", ".")
    if bracket:
        plain += f".{parameters.removesuffix(']')}"
    return safe_label(plain)


def check_label(test: str, number: int, name: str | None) -> str:
    """The name of one check of a test; ``number`` counts from 1."""
    if name is not None:
        return f"{test},{safe_label(name)}"
    return test if number == 1 else f"{test},{number}"


def safe_label(plain: str) -> str:
    """A folder's name, never that of another text."""
    clean = _UNSAFE.sub("_", plain).strip(".") or "_"
    if clean == plain and len(clean) <= _MAX_CHARS:
        return clean
    digest = sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_CHARS]
    return f"{clean[: _MAX_CHARS - _DIGEST_CHARS - 1]}-{digest}"


def module_folder(test_file: Path) -> Path:
    """Where the baselines of a test module are."""
    return test_file.parent / FOLDER / test_file.stem


def is_of_test(label: str, test: str) -> bool:
    """Whether a check's name is one that the test may have given."""
    return label == test or label.startswith(f"{test},")
