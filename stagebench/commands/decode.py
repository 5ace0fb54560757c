"""``stagebench decode``: CudaProfiler buffers as durations of regions, a trace, a drawing."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from stagebench.commands.json_output import STDOUT, check_json, write_json
from stagebench.commands.output_place import check_file, write_output
from stagebench.errors import EXIT_OK, EXIT_USAGE, UsageError

if TYPE_CHECKING:
    from stagebench.dump.profiler_sidecar import ProfilerSidecar
    from stagebench.trace.cuda_profiler import ProfilerTrace

_EPILOG = """\
several buffers, one for each depth say, are shown side by side

exit codes: 0 every buffer is whole · 2 one is damaged (what could be read is shown), or wrong usage
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``decode``."""
    parser.add_argument(
        "buffers",
        metavar="BUFFER",
        type=Path,
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
    parser.add_argument("--json", metavar="FILE", help="write all as JSON; - for standard output")
    parser.add_argument("--perfetto", metavar="FILE", type=Path, help="write a Perfetto trace")
    parser.add_argument("--svg", metavar="FILE", type=Path, help="write a drawing")
    parser.add_argument(
        "--draw-blocks",
        metavar="BLOCKS",
        type=_block_numbers,
        help="the blocks in the trace and the drawing, from 0 on: 0,64 (default: all)",
    )
    parser.epilog = _EPILOG


def run(arguments: argparse.Namespace) -> int:
    """Decode, write what was asked for, print; 2 where something is damaged."""
    from stagebench.trace.profiler_problems import HARMLESS

    if len(arguments.buffers) > 1:
        _only_one(arguments)
    check_json(arguments.json)
    for option in ("perfetto", "svg"):
        if getattr(arguments, option) is not None:
            check_file(getattr(arguments, option), f"--{option}")
    read = [_decoded(path, arguments) for path in arguments.buffers]
    if len(read) == 1:
        _one(arguments.buffers[0], *read[0], arguments)
    else:
        _several(read, arguments)
    damaged = any(problem.kind not in HARMLESS for _, trace in read for problem in trace.problems)
    return EXIT_USAGE if damaged else EXIT_OK


def _one(
    path: Path, given: ProfilerSidecar, trace: ProfilerTrace, arguments: argparse.Namespace
) -> None:
    names = given.group_names
    _write_timeline(trace, arguments, given.source or path.name, names)
    if arguments.json is not None:
        from stagebench.trace.region_stats import document

        write_json(document(trace), arguments.json)
    if arguments.json != STDOUT:
        from stagebench.report.region_view import print_regions

        print_regions(
            trace,
            title=given.source,
            group_names=names,
            by_block=arguments.by_block,
            show_all=arguments.all,
        )


def _several(
    read: list[tuple[ProfilerSidecar, ProfilerTrace]], arguments: argparse.Namespace
) -> None:
    from stagebench.trace.region_comparison import compare

    comparison = compare(
        [str(path) for path in arguments.buffers],
        [given.source for given, _ in read],
        [given.group_names for given, _ in read],
        [trace for _, trace in read],
    )
    if arguments.json is not None:
        write_json(comparison, arguments.json)
    if arguments.json != STDOUT:
        from stagebench.report.region_view import print_comparison

        print_comparison(comparison, show_all=arguments.all)


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
    trace: ProfilerTrace, arguments: argparse.Namespace, title: str, names: tuple[str, ...]
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
    timeline = region_timeline(trace, title=title, group_names=names, blocks=wanted)
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
