"""How does an error that speaks of the command's flags read to a caller of the Python API?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from stagebench.errors import StagebenchError

_ARGUMENTS = {
    "--num-stages": "num_stages",
    "--arch": "arch",
    "--set": "params",
    "--stage-param": "stage_param",
    "--pass-config": "pass_configs",
    "--pipeline": "pass_configs",
    "--compiler": "compilers",
    "--jobs": "jobs",
    "--timeout": "timeout",
    "--machine": "machine",
    "--assembler": "assembler",
    "--dump-dir": "dump_dir",
}
"""The command's flag → the argument of `stagebench.sweep` that it is."""
_COMMAND = re.compile(r"(`stagebench [^`]*`)")
_FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


@contextmanager
def speaking_of_arguments() -> Iterator[None]:
    """Let errors that pass through name arguments; a command that is quoted stays one."""
    try:
        yield
    except StagebenchError as exc:
        exc.message = _renamed(exc.message)
        exc.hint = None if exc.hint is None else _renamed(exc.hint)
        exc.args = (exc.message,)
        raise


def _renamed(text: str) -> str:
    parts = _COMMAND.split(text)
    parts[::2] = [_FLAG.sub(lambda flag: _ARGUMENTS.get(flag[0], flag[0]), p) for p in parts[::2]]
    return "".join(parts)
