"""How are the IR texts after each pass kept in a few kilobytes and still readable by hand?

One zstandard frame over all distinct texts of a variant, each under a header line
``==== <digest> <bytes>``; neighbouring texts are nearly equal, so 500 KB become 10.
``zstd -dc snapshots.txt.zst`` shows it.  ``passes.json`` says which pass left which digest.
"""

from __future__ import annotations

from collections.abc import Mapping

import zstandard

from stagebench.errors import DumpError

_LEVEL = 12
_MARK = b"==== "
_MAX_BYTES = 1 << 30


def pack(texts: Mapping[str, str]) -> bytes:
    """Compress texts by digest, in the order given.  Same texts, same bytes."""
    parts: list[bytes] = []
    for digest, text in texts.items():
        data = text.encode()
        parts += (_MARK, digest.encode(), b" %d\n" % len(data), data, b"\n")
    return zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True).compress(b"".join(parts))


def unpack(frame: bytes) -> dict[str, str]:
    """The texts by digest, in the order in which they were packed.

    Raises `DumpError` where the frame is damaged or not ours.
    """
    try:
        data = zstandard.ZstdDecompressor().decompress(frame, max_output_size=_MAX_BYTES)
    except zstandard.ZstdError as exc:
        raise DumpError(f"damaged pass snapshots: {exc}", hint="lower the variant again") from exc
    texts: dict[str, str] = {}
    position = 0
    while position < len(data):
        end = data.find(b"\n", position)
        header = data[position:end].split(b" ")
        if end < 0 or len(header) != 3 or header[0] + b" " != _MARK or not header[2].isdigit():
            raise DumpError(f"pass snapshots: no header at byte {position}")
        size = int(header[2])
        text = data[end + 1 : end + 1 + size]
        if len(text) != size:
            raise DumpError(f"pass snapshots: text {header[1].decode()} is cut short")
        texts[header[1].decode()] = text.decode()
        position = end + 2 + size
    return texts
