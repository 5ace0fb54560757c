"""What is wrong with a bundle, and what to do about it?"""

from __future__ import annotations

from stagebench.errors import StagebenchError


class BundleError(StagebenchError):
    """A bundle is missing, damaged, of another schema, or can't be made."""
