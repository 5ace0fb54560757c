"""``stagebench explain``: one dump, or every dump of a run that a selector names, in full."""

from __future__ import annotations

import argparse
import sys

from stagebench.errors import EXIT_OK, EXIT_VARIANT_FAILED, DumpError, UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``explain``."""
    parser.add_argument(
        "dump",
        nargs="+",
        metavar="DUMP",
        help="a dump folder, or a selector such as RUN[num_stages=2,arch=sm_90a]",
    )
    parser.add_argument("--all", action="store_true", help="show unchanged passes too")
    parser.add_argument(
        "--levels",
        action="store_true",
        help="only the four levels: device IR, CUDA, PTX and SASS side by side",
    )
    parser.add_argument(
        "--script",
        choices=("before", "after", "cuda"),
        help="only a text: the module before the first pass, after the last one, or the CUDA",
    )
    parser.add_argument("--json", action="store_true", help="print the dumps as JSON instead")


def run(arguments: argparse.Namespace) -> int:
    """Print each dump; 3 if one of them is a failed variant."""
    from stagebench.dump.directory import read_timing
    from stagebench.dump.select import select_dumps

    dumps = [dump for text in arguments.dump for dump in select_dumps(text)]
    if arguments.script is not None:
        if len(dumps) > 1 or arguments.json or arguments.levels:
            raise UsageError("--script prints one text of one dump, and nothing else")
        from stagebench.dump.scripts import script

        text = script(dumps[0], arguments.script)
        if arguments.script != "cuda":  # a printed module has no last line feed
            text = text.rstrip("\n") + "\n"
        sys.stdout.write(text)
        return EXIT_OK
    if arguments.json:
        from stagebench.model import Run
        from stagebench.model.codec import encode_pretty

        run = Run(variants=tuple(dump.result for dump in dumps))
        sys.stdout.buffer.write(encode_pretty(run))
    else:
        from stagebench.report.explain_view import print_explanation

        for dump in dumps:
            try:
                timing = read_timing(dump.folder)
            except DumpError as exc:  # times are beside the dump: it is whole without them
                sys.stderr.write(f"stagebench: no times shown: {exc.message}\n")
                timing = None
            print_explanation(dump, timing, show_all=arguments.all, levels_only=arguments.levels)
    failed = any(dump.result.outcome == "failed" for dump in dumps)
    return EXIT_VARIANT_FAILED if failed else EXIT_OK
