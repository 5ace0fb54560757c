"""Which characters of a text would be obeyed instead of shown?  They are spelt out.

Names and messages are anyone's: a kernel's exception may hold what colours a terminal, moves its
cursor or turns the reading direction of a log.  Data (JSON, dumps) keep their bytes.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_NOT_ASCII_TEXT = re.compile(r"[^ -~]")
_OBEYED = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Unicode's categories: controls, formats (bidi among them), surrogates, separators."""
_ORDINARY = "\u00ad\u200c\u200d"
"""Formats that are part of words: the soft hyphen, and what (un)joins letters."""


def visible(text: str, *, keep: str = "") -> str:
    """The text with what is not for the eye as its escape in Python, but for ``keep``."""
    return _NOT_ASCII_TEXT.sub(lambda found: _shown(found[0], keep), text)


@lru_cache(maxsize=1024)
def _shown(char: str, keep: str) -> str:
    if char in keep or char in _ORDINARY or unicodedata.category(char) not in _OBEYED:
        return char
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
