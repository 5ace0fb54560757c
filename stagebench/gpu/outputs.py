"""Where are the outputs of a variant kept until those that are compared with them have run?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np

from stagebench.dump.atomic_file import write_file
from stagebench.gpu.dtypes import Raw

_KEY_BYTES = 8


class OutputStore:
    """A folder with the outputs of each variant's first run."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, variant_id: str, outputs: Mapping[str, Raw]) -> None:
        """Keep the outputs of a variant."""
        for name, data in outputs.items():
            write_file(self._path(variant_id, name), data.tobytes())

    def load(self, variant_id: str, names: Sequence[str]) -> dict[str, Raw] | None:
        """The outputs of a variant; ``None`` where they are not all there."""
        found = {}
        for name in names:
            path = self._path(variant_id, name)
            if not path.exists():
                return None
            found[name] = np.fromfile(path, dtype=np.uint8)
        return found

    def _path(self, variant_id: str, tensor: str) -> Path:
        key = blake2b(f"{variant_id}\0{tensor}".encode(), digest_size=_KEY_BYTES).hexdigest()
        return self._folder / f"{key}.bin"
