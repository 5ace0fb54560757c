"""How is a failure told in one line?  Its kind, the pass, and the compiler's own first line."""

from __future__ import annotations

from stagebench.model import Failure
from stagebench.visible_text import visible

FAILURES = {
    "compile_error": "compile error",
    "crash": "crash",
    "timeout": "timeout",
    "out_of_memory": "out of memory",
    "no_compiler": "no compiler",
    "unreadable_ir": "IR not readable",
}


def failure_words(failure: Failure) -> str:
    """``compile error in tirx.MakePackedAPI: the message``."""
    where = f" in {failure.pass_name}" if failure.pass_name else ""
    said = next((line for line in failure.message.splitlines() if line.strip()), "").strip()
    if failure.kind == "no_compiler" and failure.detail is not None:  # what to do about it
        said += f"; {failure.detail}"
    return visible(f"{FAILURES[failure.kind]}{where}: {said}")
