"""How is an option read that is an integer?  What is none is told by argparse, with its flag."""

from __future__ import annotations

import argparse


def integer(text: str) -> int:
    """Any integer."""
    try:
        return int(text)
    except ValueError:
        extra = " (put the kernel before the options)" if ".py" in text else ""
        raise argparse.ArgumentTypeError(f"{text!r} is not an integer{extra}") from None


def positive(text: str) -> int:
    """An integer of at least one."""
    if not text.isdecimal() or int(text) < 1:  # isdigit has digits that are no numbers: ²
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of at least one")
    return int(text)
