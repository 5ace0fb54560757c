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
    return _at_least(1, "one", text)


def not_negative(text: str) -> int:
    """An integer of at least zero."""
    return _at_least(0, "zero", text)


def _at_least(least: int, word: str, text: str) -> int:
    value = integer(text)
    if value < least:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of at least {word}")
    return value
