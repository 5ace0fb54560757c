"""Is this file exactly what was written?  A mark, a checksum and a payload in one."""

from __future__ import annotations

from hashlib import blake2b

_DIGEST_BYTES = 16


def seal(mark: bytes, payload: bytes) -> bytes:
    """The payload behind a line that marks its format and a line that is its checksum."""
    return b"\n".join((mark, _digest(payload), payload))


def unseal(mark: bytes, data: bytes) -> bytes:
    """The payload.  Raises `ValueError` if the mark is another one or the payload is damaged."""
    found, digest, payload = data.split(b"\n", 2)
    if found != mark or digest != _digest(payload):
        raise ValueError("checksum")
    return payload


def _digest(payload: bytes) -> bytes:
    return blake2b(payload, digest_size=_DIGEST_BYTES).hexdigest().encode()
