"""``stagebench decode``: CudaProfiler buffers as durations of regions, a trace, a drawing."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from stagebench.commands.json_output import STDOUT, write_json
from stagebench.commands.output_place import write_output
from stagebench.commands.path_option import a_path, not_empty
from stagebench.commands.several_outputs import check_outputs
from stagebench.errors import EXIT_OK, EXIT_USAGE, UsageError

if TYPE_CHECKING:
    from stagebench.dump.profiler_sidecar import ProfilerSidecar
    from stagebench.trace.cuda_profiler import ProfilerTrace
    from stagebench.trace.region_comparison import RegionComparison

_EPILOG = """\
several buffers, one for each depth say, are shown side by side; --json has the same of each,
under "buffers", be it one or several

exit codes: 0 every buffer is whole · 2 one is damaged (what could be read is shown), or wrong usage
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``decode``."""
    parser.add_argument(
        "buffers",
        metavar="BUFFER",
        type=a_path,
        nargs="+",
        help="a .npy file, or the raw words (.bin); .npy.xz, .bin.xz",
    )
    parser.add_argument(
        "--format",
        choices=("tvm", "flashinfer"),
        help="who wrote it: their words differ, and can't be told apart by looking (default: what "
        "the file .profiler.json beside it says, which `profile --save-outputs` writes)",
    )
    parser.add_argument(
        "--events", metavar="NAMES", default="", help="names of the event ids: load,compute,store"
    )
    parser.add_argument(
        "--group-names", metavar="NAMES", default="", help="names of the groups: producer,consumer"
    )
    for name, meaning in (
        ("--blocks", "blocks of the grid, where the header does not say"),
        ("--groups", "groups of a block, where the header does not say"),
        ("--stride", "words between two records of a lane (blocks × groups)"),
    ):
        parser.add_argument(name, metavar="N", type=_count, help=meaning)
    parser.add_argument("--by-block", action="store_true", help="a row for each block, too")
    parser.add_argument("--all", action="store_true", help="show every problem")
    parser.add_argument(
        "--json", type=not_empty, metavar="FILE", help="write all as JSON; - for standard output"
    )
    parser.add_argument("--perfetto", metavar="FILE", type=a_path, help="write a Perfetto trace")
    parser.add_argument("--svg", metavar="FILE", type=a_path, help="write a drawing")
    parser.add_argument(
        "--draw-blocks",
        metavar="BLOCKS",
        type=_block_numbers,
        help="the blocks in the trace and the drawing, from 0 on: 0,64 (default: all)",
    )
    parser.epilog = _EPILOG


def run(arguments: argparse.Namespace) -> int:
    """Decode, write what was asked for, print; 2 where something is damaged."""
    from stagebench.dump.profiler_sidecar import sidecar_path
    from stagebench.trace.profiler_problems import HARMLESS
    from stagebench.trace.profiler_words import uncompressed
    from stagebench.trace.region_comparison import compare

    if len(arguments.buffers) > 1:
        _only_one(arguments)
    files = {"--perfetto": arguments.perfetto, "--svg": arguments.svg}
    beside = [sidecar_path(uncompressed(path)) for path in arguments.buffers]
    check_outputs(arguments.json, files, (*arguments.buffers, *beside))
    read = [_decoded(path, arguments) for path in arguments.buffers]
    traces = [trace for _, trace in read]
    damaged = any(problem.kind not in HARMLESS for trace in traces for problem in trace.problems)
    if not damaged:
        _check_names(traces, arguments)
    if len(read) == 1:
        _write_timeline(arguments.buffers[0], *read[0], arguments)
    comparison = compare(
        [str(path) for path in arguments.buffers],
        [given.source for given, _ in read],
        [given.group_names for given, _ in read],
        traces,
    )
    if arguments.json is not None:
        from stagebench.trace.region_document import document

        write_json(document(comparison, traces), arguments.json)
    if arguments.json != STDOUT:
        _print(comparison, read, arguments)
    return EXIT_USAGE if damaged else EXIT_OK


def _print(
    comparison: RegionComparison,
    read: list[tuple[ProfilerSidecar, ProfilerTrace]],
    arguments: argparse.Namespace,
) -> None:
    from stagebench.report.region_view import print_comparison, print_regions

    if len(read) > 1:
        print_comparison(comparison, show_all=arguments.all)
        return
    given, trace = read[0]
    print_regions(
        trace,
        title=given.source,
        group_names=given.group_names,
        by_block=arguments.by_block,
        show_all=arguments.all,
    )


def _check_names(traces: list[ProfilerTrace], arguments: argparse.Namespace) -> None:
    """Refuse names typed for what no buffer has; `decode` finds what has none.

    Of whole buffers only: what a damaged one lacks it may have had.  Names of the file beside a
    buffer are all that its kernel knows, and it may not have come by each.
    """
    events = [one.event for trace in traces for one in (*trace.regions, *trace.instants)]
    groups = [trace.groups - 1 for trace in traces if trace.groups is not None]
    for option, typed, what, there in (
        ("--events", arguments.events, "event", events),
        ("--group-names", arguments.group_names, "group", groups),
    ):
        names, last = _names(option, typed), max(there, default=None)
        if last is not None and len(names) > last + 1:
            raise UsageError(
                f"{option} {typed}: {len(names)} names, and the last {what} is {last}",
                hint=f"a name for each {what} from 0 on",
            )


def _only_one(arguments: argparse.Namespace) -> None:
    """Refuse what is of one buffer alone."""
    asked = {
        "--by-block": arguments.by_block,
        "--perfetto": arguments.perfetto is not None,
        "--svg": arguments.svg is not None,
        "--draw-blocks": arguments.draw_blocks is not None,
    }
    for option, given in asked.items():
        if given:
            raise UsageError(
                f"{option} is of one buffer; there are {len(arguments.buffers)}",
                hint=f"stagebench decode {arguments.buffers[0]} {option} …",
            )


def _decoded(path: Path, arguments: argparse.Namespace) -> tuple[ProfilerSidecar, ProfilerTrace]:
    """How one buffer was read, and what is in it."""
    from stagebench.trace.cuda_profiler import decode
    from stagebench.trace.profiler_words import read_words, uncompressed

    words, trailing = read_words(path)
    given = _reading(uncompressed(path), arguments)
    trace = decode(
        words,
        given.format,
        events=given.event_names,
        blocks=given.blocks,
        groups=given.groups,
        stride=given.stride,
        group_names=given.group_names,
        trailing_bytes=trailing,
    )
    return given, trace


def _reading(path: Path, arguments: argparse.Namespace) -> ProfilerSidecar:
    """How to read the buffer: as the file beside it says, where no option says otherwise."""
    import msgspec

    from stagebench.dump.profiler_sidecar import ProfilerSidecar, read_sidecar, sidecar_path

    beside = read_sidecar(path)
    wire = arguments.format if beside is None else arguments.format or beside.format
    if wire is None:
        raise UsageError(
            f"{path}: who wrote it? There is no {sidecar_path(path).name}",
            hint="--format tvm or --format flashinfer: their words can't be told apart by looking",
        )
    if beside is not None and wire != beside.format:
        raise UsageError(
            f"{sidecar_path(path)} says {beside.format}, not {wire}",
            hint=f"leave --format out, or move {sidecar_path(path).name} away",
        )
    unknown = ProfilerSidecar(
        source="", tensor="", format=wire, blocks=None, groups=None, stride=None, event_names=(),
        group_names=(),
    )  # fmt: skip
    said = {
        "blocks": arguments.blocks,
        "groups": arguments.groups,
        "stride": arguments.stride,
        "event_names": _names("--events", arguments.events),
        "group_names": _names("--group-names", arguments.group_names),
    }
    return msgspec.structs.replace(
        beside or unknown, **{name: value for name, value in said.items() if value}
    )


def _write_timeline(
    path: Path, given: ProfilerSidecar, trace: ProfilerTrace, arguments: argparse.Namespace
) -> None:
    if arguments.perfetto is None and arguments.svg is None:
        if arguments.draw_blocks is not None:
            raise UsageError(
                "--draw-blocks is of a drawing", hint="add --svg FILE or --perfetto FILE"
            )
        return
    from stagebench.trace.region_stats import region_timeline

    wanted = arguments.draw_blocks
    absent = sorted(set(wanted or ()) - {lane.block for lane in trace.lanes})
    if absent:
        raise UsageError(f"--draw-blocks: there is no record of block {absent[0]}")
    timeline = region_timeline(
        trace, title=given.source or path.name, group_names=given.group_names, blocks=wanted
    )
    if arguments.perfetto is not None:
        from stagebench.trace.perfetto_trace import perfetto_bytes

        write_output(arguments.perfetto, perfetto_bytes(timeline), "--perfetto")
    if arguments.svg is not None:
        from stagebench.trace.timeline_svg import timeline_svg

        write_output(arguments.svg, timeline_svg(timeline), "--svg")


def _names(option: str, text: str) -> tuple[str, ...]:
    if not text:
        return ()
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise UsageError(f"{option} {text}: a name is empty", hint=f"{option} load,compute,store")
    return names


def _block_numbers(text: str) -> frozenset[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and len(part) < 11 for part in parts):
        raise argparse.ArgumentTypeError(f"{text}: not numbers of blocks, such as 0,64")
    return frozenset(int(part) for part in parts)


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 1 << 32):
        raise argparse.ArgumentTypeError(f"{text}: not a number from 1 to 2³² - 1")
    return int(text)
