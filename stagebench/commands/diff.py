"""``stagebench diff``: facts first, then the pass since which they differ, then noise-free text."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from stagebench.commands import diff_compilers as compilers
from stagebench.commands.json_output import STDOUT, write_json
from stagebench.diff.text_rule_names import MARKS, MOVED, SUMMARIES
from stagebench.errors import EXIT_DIFFERENT, EXIT_OK, EXIT_USAGE, UsageError

if TYPE_CHECKING:
    from stagebench.diff.comparison import Comparison
    from stagebench.diff.fact_change import FactChange
    from stagebench.diff.text_input import Input
    from stagebench.dump.files import Dump

_SPELLING = """\
Facts that two compilers or releases only spell otherwise (an intrinsic's name, TVM's dialect) are
no difference: they are one line, each is a row with --all, and is marked "spelling" in --json."""
_EXIT_CODES = """\
exit codes: 0 equal (or equal apart from the rules) · 1 different · 2 error, or both sides failed
            to lower, so that nothing was compared"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``diff``."""
    named = "a dump folder, a selector such as RUN[num_stages=2,arch=sm_90a], or a .cu file"
    parser.add_argument("left", metavar="LEFT", help=f"{named}; with --compiler a kernel")
    parser.add_argument("right", metavar="RIGHT", nargs="?", help=named)
    compilers.add_arguments(parser)
    layout = parser.add_mutually_exclusive_group()
    layout.add_argument(
        "--unified", action="store_true", help="one column (default below 140 columns)"
    )
    layout.add_argument("--side-by-side", action="store_true", help="two columns, at any width")
    parser.add_argument(
        "--context", metavar="N", type=int, default=3, help="equal lines around a difference (3)"
    )
    parser.add_argument(
        "--raw",
        action="store_true",
        help="the plain diff of the text, no rules; facts without the pass since which they differ",
    )
    parser.add_argument("--all", action="store_true", help="show every changed fact, none folded")
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print the comparison as JSON instead")
    output.add_argument("--markdown", action="store_true", help="print it for a pull request")
    parser.epilog = _epilog()


def _epilog() -> str:
    rules = "\n".join(f"  {name:16} {summary}" for name, summary in SUMMARIES.items())
    marks = "\n".join(f"  {name:16} {summary}" for name, summary in MARKS.items())
    return (
        "rules (differences of the text that are put aside, each counted in the output):\n"
        f"{rules}\n\nmarks (changed lines that are shown, and what is known about them):\n"
        f"{marks}\n\n{MOVED}\n\n{_SPELLING}\n\n{_EXIT_CODES}\n"
    )


def run(arguments: argparse.Namespace) -> int:
    """Compare and print; 0 equal, 1 different, 2 where both failed: nothing was compared."""
    from stagebench.diff.text_input import read_input

    if arguments.context < 0:
        raise UsageError(f"--context {arguments.context}: a number of lines is 0 or more")
    with compilers.dumps_of_two(arguments) as two:
        if two is not None:
            left, right = two
        elif arguments.right is not None:
            left, right = read_input(arguments.left), read_input(arguments.right)
        else:
            raise UsageError(
                f"diff {arguments.left}: with what?",
                hint="name another dump or .cu file, or a kernel and --compiler A B",
            )
        return _compare(arguments, left, right)


def _compare(arguments: argparse.Namespace, left: Input, right: Input) -> int:
    from stagebench.diff.comparison import Comparison, failure_of
    from stagebench.diff.text_compare import ALL_RULES, compare_texts

    for side, other in ((left, right), (right, left)):
        if side.text is None and other.dump is None:
            raise UsageError(
                f"{side.name} is a variant that failed: it has no CUDA to compare",
                hint=f"`stagebench explain {side.name}` says why",
            )
    facts = text = no_since = None
    both_failed = failure_of(left) is not None and failure_of(right) is not None
    if left.dump is not None and right.dump is not None and not both_failed:
        no_since = _no_since(arguments, left.dump, right.dump)
        facts = _facts(left.dump, right.dump, since=no_since is None)
    if left.text is not None and right.text is not None:
        rules = () if arguments.raw else ALL_RULES
        text = compare_texts(left.text, right.text, "cuda", rules)
    compared = Comparison(left, right, facts, no_since, text)
    _print(arguments, compared)
    return {True: EXIT_OK, False: EXIT_DIFFERENT, None: EXIT_USAGE}[compared.equal]


def _facts(left: Dump, right: Dump, *, since: bool) -> tuple[FactChange, ...]:
    from stagebench.diff.fact_changes import fact_changes
    from stagebench.diff.pass_compare import changes_with_since

    return changes_with_since(left, right) if since else fact_changes(left, right)


def _no_since(arguments: argparse.Namespace, left: Dump, right: Dump) -> str | None:
    """Why no fact can have a pass since which it differs, if so; a damaged dump is an error."""
    from stagebench.dump.files import SNAPSHOTS

    if arguments.raw:
        return "not asked for: --raw"
    without = [
        dump.folder
        for dump in (left, right)
        if dump.result.facts is not None
        and dump.result.facts.lowering.passes
        and not (Path(dump.folder) / SNAPSHOTS).exists()
    ]
    if not without:
        return None
    return f"not recorded: {' and '.join(without)} has no {SNAPSHOTS}"


def _print(arguments: argparse.Namespace, compared: Comparison) -> None:
    if arguments.json:
        from stagebench.diff.text_document import document

        write_json(document(compared, context=arguments.context), STDOUT)
        return
    if arguments.markdown:
        from stagebench.report.diff_markdown import diff_markdown

        sys.stdout.buffer.write(diff_markdown(compared, context=arguments.context).encode())
        return
    from stagebench.report.console import open_console
    from stagebench.report.diff_view import choose_layout, print_sides, print_text_diff
    from stagebench.report.fact_change_view import print_fact_changes

    console = open_console()
    print_sides(console, compared)
    if compared.facts is not None:
        print_fact_changes(
            compared.facts, console, show_all=arguments.all, no_since=compared.no_since
        )
        console.print()
    if compared.text is not None:
        layout = choose_layout(
            console, unified=arguments.unified, side_by_side=arguments.side_by_side
        )
        print_text_diff(console, compared.text, layout=layout, context=arguments.context)
