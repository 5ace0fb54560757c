"""``stagebench explain``: one dump, or every dump of a run that a selector names, in full."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from stagebench.commands.json_output import STDOUT, write_json
from stagebench.commands.path_option import not_empty
from stagebench.errors import EXIT_OK, EXIT_VARIANT_FAILED, DumpError, UsageError

if TYPE_CHECKING:
    from stagebench.dump.files import Dump


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``explain``."""
    parser.add_argument(
        "dump",
        nargs="*",
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
    parser.add_argument(
        "--json",
        nargs="?",
        const=STDOUT,
        type=not_empty,
        metavar="FILE",
        help="write the dumps as JSON; without FILE, or -: print it instead",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print each dump; 3 if one of them is a failed variant."""
    from stagebench.dump.directory import read_timing
    from stagebench.dump.select import select_dump, select_dumps

    texts, file = list(arguments.dump), arguments.json
    if file is not None and (file.endswith("]") or Path(file).is_dir()):  # --json DUMP
        texts, file = [file, *texts], STDOUT
    if not texts:
        raise UsageError("explain what?", hint="stagebench explain DUMP [--json FILE]")
    if arguments.script is not None:
        if len(texts) > 1 or file is not None or arguments.levels:
            raise UsageError("--script prints one text of one dump, and nothing else")
        text = select_dump(texts[0]).script(arguments.script)
        if arguments.script != "cuda":  # a printed module has no last line feed
            text = text.rstrip("\n") + "\n"
        sys.stdout.write(text)
        return EXIT_OK
    dumps = [dump for text in texts for dump in select_dumps(text)]
    if file is not None:
        _write(dumps, file)
    if file != STDOUT:
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


def _write(dumps: Sequence[Dump], file: str) -> None:
    from stagebench.model import Run

    write_json(Run(variants=tuple(dump.result for dump in dumps)), file)
