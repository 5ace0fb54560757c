"""How large is a kernel's machine code?  Section sizes of a cubin, which is an ELF64 file.

Source: System V ABI, "Object Files" (ELF header and section header tables).
"""

from __future__ import annotations

import struct

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")


def code_bytes(cubin: bytes, function: str) -> int | None:
    """The size of the section ``.text.FUNCTION``; ``None`` if the cubin has no such section."""
    return _sizes(cubin).get(f".text.{function}")


def _sizes(cubin: bytes) -> dict[str, int]:
    try:
        fields = _HEADER.unpack_from(cubin)
        if fields[0][:5] != b"\x7fELF\x02":
            return {}
        offset, entry_bytes, count, names_index = fields[6], fields[11], fields[12], fields[13]
        sections = [_SECTION.unpack_from(cubin, offset + i * entry_bytes) for i in range(count)]
        names = sections[names_index][4]
        return {
            cubin[names + section[0] : cubin.index(b"\0", names + section[0])].decode(): section[5]
            for section in sections
        }
    except (struct.error, IndexError, ValueError):  # cut short: as good as no cubin
        return {}
