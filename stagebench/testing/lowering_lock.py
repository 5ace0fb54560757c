"""How do several test processes lower each variant once?  By one lock for each, in the cache.

Whoever comes second waits until the first has put its result into the cache, and finds it there.
A cache that can't be written has no locks: then work is done twice, never wrongly.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path

import msgspec

from stagebench.worker.protocol import LowerRequest

FOLDER = "locks"


@contextlib.contextmanager
def one_at_a_time(cache_folder: Path, requests: Iterable[LowerRequest]) -> Iterator[None]:
    """Be the only process that lowers these; 256 locks, taken in order so that nobody deadlocks."""
    names = sorted({_name(request) for request in requests})
    with contextlib.ExitStack() as held:
        with contextlib.suppress(OSError):
            folder = cache_folder / FOLDER
            folder.mkdir(parents=True, exist_ok=True)
            for name in names:
                handle = os.open(folder / name, os.O_RDWR | os.O_CREAT, 0o644)
                held.callback(os.close, handle)
                fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _name(request: LowerRequest) -> str:
    return blake2b(msgspec.json.encode(request, order="sorted"), digest_size=1).hexdigest()
