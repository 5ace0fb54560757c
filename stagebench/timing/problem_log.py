"""Where in a probe buffer is something wrong?  Lane numbers become CTA, warp and byte offset."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stagebench.model.timing import ProbeMetadata, ProblemKind, TimingProblem
from stagebench.probe.layout import HEADER_BYTES, RECORD_BYTES

Ints = NDArray[np.int64]


class ProblemLog:
    """Problems in the order of their kinds; positions are turned into CTA, warp and offset."""

    def __init__(self, metadata: ProbeMetadata) -> None:
        self._metadata = metadata
        self.found: list[TimingProblem] = []

    def buffer(self, kind: ProblemKind, message: str, *, offset: int, count: int) -> None:
        """Something of the whole buffer."""
        self.found.append(
            TimingProblem(
                kind=kind,
                message=message,
                cta=None,
                warp=None,
                record=None,
                offset_bytes=offset,
                count=count,
            )
        )

    def lanes(
        self,
        kind: ProblemKind,
        lanes: Ints,
        message: str,
        *,
        offset: int = 0,
        records: Ints | None = None,
        counts: Ints | None = None,
    ) -> None:
        """One for each of ``lanes``, at its first bad record where ``records`` are given."""
        for number, lane in enumerate(lanes.tolist()):
            sampled, warp = divmod(lane, self._metadata.warps_per_cta)
            record = None if records is None else int(records[number])
            at = offset if record is None else HEADER_BYTES + RECORD_BYTES * record
            self.found.append(
                TimingProblem(
                    kind=kind,
                    message=message,
                    cta=sampled * self._metadata.cta_step,
                    warp=warp,
                    record=record,
                    offset_bytes=lane * self._metadata.stride_bytes + at,
                    count=None if counts is None else int(counts[number]),
                )
            )
