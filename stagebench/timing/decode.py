"""What did each probed warp write, and which of it can't be right?

`stagebench.timing.probe_buffer` has the layout.  A lane's records are in program order and don't
overlap, so that the clock is unwrapped from record to record: between the end of one and the start
of the next less than 2³¹ cycles pass (1.1 s).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stagebench.model.timing import ProbeMetadata, ProblemKind, TimingProblem
from stagebench.probe.layout import MAGIC
from stagebench.timing.probe_buffer import HEADER, RECORD, check_metadata, ordinals
from stagebench.timing.problem_log import ProblemLog

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class ProbeRun:
    """The buffer of one launch as columns.

    Of the lanes that have an entry: ``cta``, ``warp``, ``sm``, the header's timers and clocks
    (``timer_exit``, ``clock_exit`` mean nothing where not ``finished``), and ``complete``: every
    record that the warp attempted is here and right.  Of the waits: ``lane`` is an index into
    these columns, ``site`` into the metadata's sites, ``start`` the cycles since the lane's entry,
    ``cycles`` how long the wait took.  ``calibration`` are the cycles of the back-to-back reads.
    """

    cta: Ints
    warp: Ints
    sm: Ints
    timer_entry: Ints
    timer_exit: Ints
    clock_entry: Ints
    clock_exit: Ints
    finished: Flags
    complete: Flags
    lane: Ints
    site: Ints
    start: Ints
    cycles: Ints
    calibration: Ints
    problems: tuple[TimingProblem, ...]


def decode(data: bytes, metadata: ProbeMetadata) -> ProbeRun:
    """Decode a buffer; whatever it holds, damage is in ``problems`` and what is wrong left out.

    `DumpError` where the metadata contradict themselves.
    """
    check_metadata(metadata)
    log = ProblemLog(metadata)
    lanes = _lanes(data, metadata, log)
    header = lanes["header"]
    index = np.arange(len(header), dtype=np.int64)
    entered = _entered(header, index, metadata, log)
    kept = np.flatnonzero(entered)
    header, records, index = header[kept], lanes["records"][kept], index[kept]
    finished = header["exit"] == MAGIC
    log.lanes("no_exit", index[~finished], "the warp never came to its end", offset=56)
    count, whole = _counts(header, records, finished, index, metadata, log)
    flat = _Records(records, count, index, metadata)
    sound = _sound(flat, metadata, log)
    start, forward = _unwrap(flat, sound, header["clock_entry"], log)
    inside = _inside(flat, forward, start, header, finished, log)
    times = _clocks(header, finished, index, log)
    bad = np.zeros(len(kept), dtype=np.bool_)
    bad[flat.lane[~inside]] = True
    calibration = inside & (flat.site == _calibration(metadata))
    if metadata.calibration_site is not None:
        has = np.zeros(len(kept), dtype=np.bool_)
        has[flat.lane[calibration]] = True
        log.lanes("no_calibration", index[~has], "the cost of a clock read was not recorded")
    waits = _waits(flat, inside & ~calibration, start)
    return ProbeRun(
        cta=header["cta"].astype(np.int64),
        warp=header["warp"].astype(np.int64),
        sm=header["sm"].astype(np.int64),
        timer_entry=header["timer_entry"].astype(np.int64),
        timer_exit=header["timer_exit"].astype(np.int64),
        clock_entry=header["clock_entry"].astype(np.int64),
        clock_exit=header["clock_exit"].astype(np.int64),
        finished=finished,
        complete=finished & whole & times & ~bad,
        lane=waits.lane,
        site=waits.site,
        start=waits.start,
        cycles=waits.cycles,
        calibration=flat.first[calibration],
        problems=tuple(log.found),
    )


@dataclass(frozen=True)
class _Waits:
    """The columns of `ProbeRun` that are of waits."""

    lane: Ints
    site: Ints
    start: Ints
    cycles: Ints


class _Records:
    """All records that the counts say are there, lane after lane.

    ``lane`` is an index into the lanes that were kept, ``number`` the lane's number in the buffer,
    ``paired`` whether the record holds two waits, ``dt`` the cycles of all its waits.
    """

    def __init__(
        self, records: NDArray[np.void], count: Ints, index: Ints, metadata: ProbeMetadata
    ) -> None:
        cap = records.shape[1]
        lane, record = np.nonzero(np.arange(cap)[None, :] < count[:, None])
        chosen = records[lane, record]
        self.lane = lane.astype(np.int64)
        self.number = index[lane]
        self.record = record.astype(np.int64)
        self.site = chosen["tag"].astype(np.int64) >> metadata.ordinal_bits
        self.ordinal = ordinals(chosen, metadata)
        self.t0 = chosen["t0"].astype(np.int64)
        self.first = chosen["first"].astype(np.int64)
        self.second = chosen["second"].astype(np.int64)
        self.paired = np.isin(self.site, np.array(metadata.pairs, dtype=np.int64))
        self.dt = self.first + np.where(self.paired, self.second, 0)

    def report(self, log: ProblemLog, kind: ProblemKind, bad: Flags, message: str) -> None:
        """Report the first bad record of each lane, and how many it has."""
        lanes, first, counts = np.unique(self.number[bad], return_index=True, return_counts=True)
        log.lanes(kind, lanes, message, records=self.record[bad][first], counts=counts)


def _waits(flat: _Records, kept: Flags, start: Ints) -> _Waits:
    """The waits of the records that are kept: of a pair the second one begins as the first ends."""
    chosen = np.flatnonzero(kept)
    record = np.repeat(chosen, 1 + flat.paired[chosen])
    second = np.zeros(len(record), dtype=np.bool_)
    second[1:] = record[1:] == record[:-1]
    return _Waits(
        lane=flat.lane[record],
        site=flat.site[record] + second,
        start=start[record] + np.where(second, flat.first[record], 0),
        cycles=np.where(second, flat.second[record], flat.first[record]),
    )


def _lanes(data: bytes, metadata: ProbeMetadata, log: ProblemLog) -> NDArray[np.void]:
    kind = np.dtype([("header", HEADER), ("records", RECORD, (metadata.cap,))])
    missing = metadata.buffer_bytes - len(data)
    if missing > 0:
        log.buffer("truncated", f"{missing} bytes are missing", offset=len(data), count=missing)
    elif missing < 0:
        log.buffer(
            "trailing_bytes",
            f"{-missing} bytes after the last lane",
            offset=metadata.buffer_bytes,
            count=-missing,
        )
    whole = min(len(data), metadata.buffer_bytes) // kind.itemsize
    return np.frombuffer(data, dtype=kind, count=whole)


def _entered(
    header: NDArray[np.void], index: Ints, metadata: ProbeMetadata, log: ProblemLog
) -> Flags:
    entered: Flags = header["entry"] == MAGIC
    unwritten = header["entry"] == 0
    log.lanes("no_entry", index[unwritten], "no entry: the warp never ran", offset=44)
    log.lanes(
        "no_entry",
        index[~entered & ~unwritten],
        "no entry, and its place holds something else: overwritten, or of another layout",
        offset=44,
    )
    cta, warp = np.divmod(index, metadata.warps_per_cta)
    here: Flags = (header["cta"] == cta * metadata.cta_step) & (header["warp"] == warp)
    log.lanes(
        "wrong_lane",
        index[entered & ~here],
        "the lane names another CTA or warp: two warps wrote it, or the launch was another",
        offset=36,
    )
    right: Flags = entered & here
    return right


def _counts(
    header: NDArray[np.void],
    records: NDArray[np.void],
    finished: Flags,
    index: Ints,
    metadata: ProbeMetadata,
    log: ProblemLog,
) -> tuple[Ints, Flags]:
    """How many records of each lane to read, and where that is all that were attempted.

    The count is written at the exit; without one, records are taken as long as they are in order.
    """
    cap = metadata.cap
    count = header["count"].astype(np.int64)
    over = finished & (count > cap)
    log.lanes(
        "dropped",
        index[over],
        f"more records than the {cap} that a warp has room for",
        offset=48,
        counts=(count - cap)[over],
    )
    ordered = ordinals(records, metadata) == np.arange(cap)[None, :]
    written = records["t0"] != 0
    run = np.cumprod(ordered & written, axis=1, dtype=np.int64).sum(axis=1)
    return np.where(finished, np.minimum(count, cap), run), ~over


def _calibration(metadata: ProbeMetadata) -> int:
    return -1 if metadata.calibration_site is None else metadata.calibration_site


def _sound(flat: _Records, metadata: ProbeMetadata, log: ProblemLog) -> Flags:
    """Records with the right ordinal, a site that exists and, of one wait, the ordinal again."""
    gap = flat.ordinal != flat.record
    flat.report(log, "ordinal_gap", gap, "a record with another one's ordinal")
    known = (flat.site < len(metadata.sites)) | (flat.site == _calibration(metadata))
    unknown = ~known & ~gap
    flat.report(log, "unknown_site", unknown, f"no such site: there are {len(metadata.sites)}")
    torn = ~flat.paired & (flat.second != flat.ordinal) & known & ~gap
    flat.report(log, "torn_record", torn, "its beginning and its end are of different records")
    sound: Flags = ~gap & known & ~torn
    return sound


def _unwrap(
    flat: _Records, sound: Flags, clock_entry: NDArray[np.uint64], log: ProblemLog
) -> tuple[Ints, Flags]:
    """Cycles since entry at which each sound record starts, and which follow the one before."""
    chosen = np.flatnonzero(sound)
    lane, t0, dt = flat.lane[chosen], flat.t0[chosen], flat.dt[chosen]
    first = np.ones(len(chosen), dtype=np.bool_)
    first[1:] = lane[1:] != lane[:-1]
    entry = (clock_entry & np.uint64(0xFFFFFFFF)).astype(np.int64)[lane]
    before = np.where(first, 0, np.roll(dt, 1))
    reference = np.where(first, entry, np.roll(t0 + dt, 1))
    gap = (t0 - reference + (1 << 31)) % (1 << 32) - (1 << 31)
    total = np.cumsum(gap + before)
    base = np.maximum.accumulate(np.where(first, np.arange(len(chosen)), 0))
    start = np.zeros(len(flat.lane), dtype=np.int64)
    start[chosen] = total - total[base] + gap[base]
    forward = np.array(sound)
    forward[chosen[(gap < 0) | (start[chosen] < 0)]] = False
    flat.report(
        log,
        "clock_backwards",
        sound & ~forward,
        "it starts before the one before it, or the warp's entry, was over",
    )
    return start, forward


def _inside(
    flat: _Records,
    forward: Flags,
    start: Ints,
    header: NDArray[np.void],
    finished: Flags,
    log: ProblemLog,
) -> Flags:
    """Records that end before their warp does, where that is known."""
    life = (header["clock_exit"] - header["clock_entry"]).astype(np.int64)
    known = finished & (header["clock_exit"] >= header["clock_entry"]) & (life >= 0)
    late = forward & known[flat.lane] & (start + flat.dt > life[flat.lane])
    flat.report(log, "outside_warp", late, "it ends after the warp did")
    inside: Flags = forward & ~late
    return inside


def _clocks(header: NDArray[np.void], finished: Flags, index: Ints, log: ProblemLog) -> Flags:
    """Lanes whose clock and timer advance from entry to exit, and fit 63 bits."""
    limit = np.uint64(1 << 63)
    clock = (header["clock_exit"] >= header["clock_entry"]) & (header["clock_exit"] < limit)
    timer = (header["timer_exit"] >= header["timer_entry"]) & (header["timer_exit"] < limit)
    log.lanes(
        "clock_backwards", index[finished & ~clock], "the clock at exit is below that at entry",
        offset=24,
    )  # fmt: skip
    log.lanes(
        "timer_backwards", index[finished & ~timer], "the timer at exit is below that at entry",
        offset=16,
    )  # fmt: skip
    both: Flags = clock & timer
    return both
