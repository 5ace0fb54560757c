"""The command line: one verb, one module of `stagebench.commands`, imported only when it runs.

Parsing here must stay cheap: no compiler, no rich, no records.  Only `main` turns errors into exit
codes.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from stagebench import __version__
from stagebench.errors import (
    EXIT_INTERRUPTED,
    EXIT_PIPE,
    StagebenchError,
    Terminated,
    machine_error,
)
from stagebench.visible_text import visible

VERBS = {
    "sweep": "lower a kernel over depths, architectures and parameters; say what changed",
    "explain": "one dump in full: schedule, buffers, barriers, every sync site, passes",
    "diff": "two dumps or .cu files: changed facts, since which pass, text without noise",
    "passes": "pass by pass: one dump, two side by side with what is new at each, or a run",
    "bisect": "which release, depth or switch first changed a fact, and in which pass",
    "check": "lower every experiment and compare with its baselines: is each change allowed?",
    "accept": "make what the compiler does now the baseline, with a reason; the only writer",
    "bundle": "pack the variants of a run, or any .cu or .ptx by a launch plan, for a GPU host",
    "profile": "on a GPU: is each depth correct, how long does it take, who waits for what?",
    "decode": "read a profiler's buffer: durations of regions, damage, Perfetto, SVG",
    "new": "write a commented starting point: new experiment NAME --kernel KERNEL, new plan SOURCE",
    "compilers": "compiler releases at hand: list, add, remove",
    "doctor": "what works on this machine, what is missing, what to install",
}
"""Verb → what it is for.  ``stagebench.commands.<verb>`` has ``add_arguments`` and ``run``."""

_REQUESTS = (signal.SIGTERM, signal.SIGHUP)

_EPILOG = """\
exit codes: 0 done · 1 a difference was found · 2 wrong usage, environment or input
            3 a variant failed (the others are complete) · 4 not comparable (check)
            130 interrupted · 143 terminated (128 + the signal)
"""


def build_parser(verb: str | None) -> argparse.ArgumentParser:
    """The parser; only the arguments of ``verb`` are filled in, the others keep their one line."""
    parser = argparse.ArgumentParser(
        prog="stagebench",
        description="What does num_stages do to a pipelined GPU kernel?  No GPU needed.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"stagebench {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for name, purpose in VERBS.items():
        child = verbs.add_parser(
            name,
            help=purpose,
            description=_sentence(purpose),
            epilog=_EPILOG,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if name == verb:
            importlib.import_module(f"stagebench.commands.{name}").add_arguments(child)
    return parser


def _sentence(purpose: str) -> str:
    """The purpose with a capital, and a full stop unless it ends a question."""
    return purpose[0].upper() + purpose[1:] + ("" if purpose.endswith("?") else ".")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if sys.stdout is None:  # closed by the caller: what is printed goes nowhere
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115 - lives as long as the program
    verb = next((word for word in arguments if not word.startswith("-")), None)
    try:
        parsed = build_parser(verb).parse_args(arguments)
        command = importlib.import_module(f"stagebench.commands.{parsed.verb}")
        with _ending_on_request():
            code = int(command.run(parsed))
        sys.stdout.flush()
    except StagebenchError as exc:
        return _told(exc)
    except Terminated as exc:
        print("stagebench: terminated", file=sys.stderr)  # noqa: T201 - the one place
        return exc.exit_code
    except KeyboardInterrupt:
        print("stagebench: interrupted", file=sys.stderr)  # noqa: T201 - the one place
        return EXIT_INTERRUPTED
    except BrokenPipeError:  # the reader of our output went away (head, a pager)
        _abandon_output()
        return EXIT_PIPE
    except OSError as exc:
        if exc.filename is None and _output_fails():
            exc.filename = "standard output"
        _abandon_output()
        return _told(machine_error(exc))
    return code


def _told(exc: StagebenchError) -> int:
    message, hint = (visible(text or "", keep="\n\t") for text in (exc.message, exc.hint))
    print(f"stagebench: {message}", file=sys.stderr)  # noqa: T201 - the one place
    if hint:
        print(f"  hint: {hint}", file=sys.stderr)  # noqa: T201 - the one place
    return exc.exit_code


def _output_fails() -> bool:
    """Is what is left in standard output's buffer refused, as on a full disk?"""
    try:
        sys.stdout.flush()
    except OSError:
        return True
    return False


@contextlib.contextmanager
def _ending_on_request() -> Iterator[None]:
    """SIGTERM and SIGHUP (a job scheduler's, a closed terminal's) unwind as Ctrl-C does.

    Where they are ignored (``nohup``) or handled already, and in another thread, nothing changes.
    """
    taken = []
    if threading.current_thread() is threading.main_thread():
        taken = [one for one in _REQUESTS if signal.getsignal(one) is signal.SIG_DFL]
    for one in taken:
        signal.signal(one, _terminated)
    try:
        yield
    finally:
        for one in taken:
            signal.signal(one, signal.SIG_DFL)


def _terminated(number: int, _: object) -> None:
    for one in _REQUESTS:
        signal.signal(one, signal.SIG_IGN)  # once is enough: what is ended now is ended whole
    raise Terminated(number)


def _abandon_output() -> None:
    """What is left in standard output's buffer goes nowhere, and quietly."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
