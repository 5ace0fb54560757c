"""A sibling of a kernel in a package."""

BLOCK = 32
