"""``stagebench passes``: one lowering pass by pass, two side by side, or a whole run."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from stagebench.commands.json_output import STDOUT, write_json
from stagebench.errors import EXIT_DIFFERENT, EXIT_OK, UsageError

if TYPE_CHECKING:
    from stagebench.dump.files import Dump

EPILOG = """\
exit codes: 0 no pass diverges, or only one side was given · 1 a pass diverges (with --pass too:
            any pass, not only the one shown) · 2 wrong usage or input
"""

_NOTES = """\
A pass DIVERGES if what it did to LEFT is not what it did to RIGHT; it follows if its lines differ
only because what it was given differed already.  An edit of one side that the other side has no
counterpart of diverges even where the two differed before.  Not counted as a divergence:
  requested   numbers that were asked for: n and n' where the variants ask for these depths, the
              same multiple of both, n-1 and n'-1 in a stage list
  inherited   lines that differed before the pass, what the pass made of them, tokens that differed
  names       the printer's numbering (A_shared_1, A_shared_2), a tensor that is renamed throughout
Passes are aligned by sequence and nesting.  Runs of one name are told apart by #2, #3, …
tir.X, tirx.X and s_tir.X are one pass: TVM has renamed the namespace.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``passes``."""
    parser.description = f"{parser.description}\n\n{_NOTES}"
    parser.epilog = EPILOG
    parser.add_argument(
        "left",
        metavar="LEFT",
        help="a dump folder, a selector such as RUN[num_stages=2,arch=sm_90a], or a whole run",
    )
    parser.add_argument(
        "right",
        nargs="?",
        metavar="RIGHT",
        help="a dump to compare LEFT with; without it: the timeline of LEFT, or of a run a matrix",
    )
    parser.add_argument(
        "--pass",
        dest="pass_name",
        metavar="NAME[#k]",
        help="only this pass: its lines before and after, and what is new at it (two sides)",
    )
    parser.add_argument(
        "--context", type=int, metavar="N", help="lines around a change (3; two sides: 1)"
    )
    parser.add_argument("--all", action="store_true", help="unfold: every pass, every line")
    parser.add_argument("--json", action="store_true", help="print the records as JSON instead")


def run(arguments: argparse.Namespace) -> int:
    """Print what was asked for; 1 if a pass diverges between two sides that were named."""
    from stagebench.dump.select import select_dump, select_dumps

    if arguments.context is not None and arguments.context < 0:
        raise UsageError(f"--context {arguments.context}: not a number of lines")
    if arguments.right is not None:
        return _two(select_dump(arguments.left), select_dump(arguments.right), arguments)
    dumps = select_dumps(arguments.left)
    if len(dumps) == 1:
        return _one(dumps[0], arguments)
    return _run(dumps, arguments)


def _two(left: Dump, right: Dump, arguments: argparse.Namespace) -> int:
    from stagebench.diff.pass_compare import compare_passes
    from stagebench.diff.pass_selection import select_passes

    context = 1 if arguments.context is None else arguments.context
    diff = compare_passes(left, right, context=context, edits_of=arguments.pass_name)
    chosen: Sequence[int] = ()
    if arguments.pass_name:
        chosen = select_passes(diff.passes, arguments.pass_name)
    if arguments.json:
        write_json(diff, STDOUT)
    else:
        from stagebench.report.console import open_console
        from stagebench.report.passes_view import print_passes

        print_passes(diff, open_console(), selected=chosen, show_all=arguments.all, context=context)
    return EXIT_OK if diff.first is None else EXIT_DIFFERENT


def _one(dump: Dump, arguments: argparse.Namespace) -> int:
    from stagebench.diff.pass_compare import pass_timeline
    from stagebench.diff.pass_selection import select_passes
    from stagebench.dump.directory import read_timing

    timing = read_timing(dump.folder)
    timeline = pass_timeline(dump, None if timing is None else timing.pass_seconds)
    chosen: Sequence[int] = ()
    if arguments.pass_name:
        chosen = select_passes(timeline.passes, arguments.pass_name)
    if arguments.json:
        write_json(timeline, STDOUT)
        return EXIT_OK
    from stagebench.report.console import open_console
    from stagebench.report.passes_view import print_before_after, print_timeline

    console = open_console()
    if not chosen:
        print_timeline(timeline, console, show_all=arguments.all)
        return EXIT_OK
    from stagebench.diff.text_compare import compare_texts

    texts = dump.snapshots()
    for index in chosen:
        entry = timeline.passes[index]
        known = entry.before is not None and entry.after is not None
        found = (
            compare_texts(texts[entry.before or ""], texts[entry.after or ""], "tvmscript")
            if known
            else None
        )
        context = 3 if arguments.context is None else arguments.context
        print_before_after(entry, found, console, context=context, show_all=arguments.all)
    return EXIT_OK


def _run(dumps: Sequence[Dump], arguments: argparse.Namespace) -> int:
    if arguments.pass_name:
        raise UsageError(
            f"--pass {arguments.pass_name} is about one variant or two, {arguments.left} names "
            f"{len(dumps)}",
            hint="choose with a selector: RUN[num_stages=2,arch=sm_90a]",
        )
    from stagebench.diff.pass_compare import pass_matrices

    matrices = pass_matrices(dumps)
    if arguments.json:
        write_json({"schema_version": 1, "matrices": matrices}, STDOUT)
        return EXIT_OK
    from stagebench.report.console import open_console
    from stagebench.report.passes_view import print_matrix

    console = open_console()
    for number, matrix in enumerate(matrices):
        if number:
            console.print()
        print_matrix(matrix, console, show_all=arguments.all, among=matrices)
    return EXIT_OK
