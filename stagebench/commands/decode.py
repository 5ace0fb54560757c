"""``stagebench decode``: a CudaProfiler buffer as durations of its regions, a trace, a drawing."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from stagebench.errors import EXIT_OK, EXIT_USAGE, UsageError

if TYPE_CHECKING:
    from stagebench.dump.profiler_sidecar import ProfilerSidecar
    from stagebench.trace.cuda_profiler import ProfilerTrace

_EPILOG = """\
exit codes: 0 the buffer is whole · 2 it is damaged (what could be read is shown), or wrong usage
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``decode``."""
    parser.add_argument(
        "buffer", metavar="BUFFER", type=Path, help="a .npy file, or the raw words (.bin)"
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
    parser.epilog = _EPILOG


def run(arguments: argparse.Namespace) -> int:
    """Decode, write what was asked for, print; 2 where something is damaged."""
    from stagebench.trace.cuda_profiler import decode
    from stagebench.trace.profiler_problems import HARMLESS
    from stagebench.trace.profiler_words import read_words

    words, trailing = read_words(arguments.buffer)
    given = _reading(arguments)
    trace = decode(
        words,
        given.format,
        events=given.event_names,
        blocks=given.blocks,
        groups=given.groups,
        stride=given.stride,
        trailing_bytes=trailing,
    )
    names = given.group_names
    _write_timeline(trace, arguments, given.source or arguments.buffer.name, names)
    if arguments.json is not None:
        _write_json(trace, arguments.json)
    if arguments.json != "-":
        from stagebench.report.region_view import print_regions

        print_regions(
            trace,
            title=given.source,
            group_names=names,
            by_block=arguments.by_block,
            show_all=arguments.all,
        )
    damaged = any(problem.kind not in HARMLESS for problem in trace.problems)
    return EXIT_USAGE if damaged else EXIT_OK


def _reading(arguments: argparse.Namespace) -> ProfilerSidecar:
    """How to read the buffer: as the file beside it says, where no option says otherwise."""
    import msgspec

    from stagebench.dump.profiler_sidecar import ProfilerSidecar, read_sidecar, sidecar_path

    beside = read_sidecar(arguments.buffer)
    wire = arguments.format if beside is None else arguments.format or beside.format
    if wire is None:
        raise UsageError(
            f"{arguments.buffer}: who wrote it? There is no {sidecar_path(arguments.buffer).name}",
            hint="--format tvm or --format flashinfer: their words can't be told apart by looking",
        )
    if beside is not None and wire != beside.format:
        raise UsageError(
            f"{sidecar_path(arguments.buffer)} says {beside.format}, not {wire}",
            hint=f"leave --format out, or move {sidecar_path(arguments.buffer).name} away",
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
        return
    from stagebench.trace.region_stats import region_timeline

    timeline = region_timeline(trace, title=title, group_names=names)
    if arguments.perfetto is not None:
        from stagebench.trace.perfetto_trace import perfetto_bytes

        _write(arguments.perfetto, perfetto_bytes(timeline), "--perfetto")
    if arguments.svg is not None:
        from stagebench.trace.timeline_svg import timeline_svg

        _write(arguments.svg, timeline_svg(timeline), "--svg")


def _write_json(trace: ProfilerTrace, target: str) -> None:
    from stagebench.model.codec import encode_pretty
    from stagebench.trace.region_stats import document

    data = encode_pretty(document(trace))
    if target == "-":
        sys.stdout.buffer.write(data)
    else:
        _write(Path(target), data, "--json")


def _write(path: Path, data: bytes, option: str) -> None:
    from stagebench.dump.atomic_file import write_file

    try:
        write_file(path, data)
    except OSError as exc:
        raise UsageError(f"can't write {option} {path}: {exc.strerror or exc}") from exc


def _names(option: str, text: str) -> tuple[str, ...]:
    if not text:
        return ()
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise UsageError(f"{option} {text}: a name is empty", hint=f"{option} load,compute,store")
    return names


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 1 << 32):
        raise argparse.ArgumentTypeError(f"{text}: not a number from 1 to 2³² - 1")
    return int(text)
