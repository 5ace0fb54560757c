"""Do two variants that failed fail alike?"""

from __future__ import annotations

from stagebench.diff.spelling import same_but_for_dialect
from stagebench.model import Failure


def fail_alike(left: Failure, right: Failure) -> bool:
    """Whether two failures are of one kind and message, in the same pass if in one.

    What else was printed is not compared: places in a compiler's source are of its release.
    """
    same_pass = left.pass_name == right.pass_name or same_but_for_dialect(
        left.pass_name, right.pass_name
    )
    return same_pass and (left.kind, left.message) == (right.kind, right.message)
