"""How does a probe buffer look, and do the metadata of a probed kernel fit it?

Little endian: lane = sampled CTA · warps of a CTA + warp, at lane · stride.  A lane is a header of
64 bytes (`HEADER`) and ``cap`` records of 16 bytes (`RECORD`).  ``entry`` and ``exit`` are `MAGIC`
once the warp's leader came by; ``count`` is how many records it attempted (those beyond ``cap``
were dropped).  Of a record's ``tag`` the low ``ordinal_bits`` are its index in the lane, the bits
above them the id of its site.  ``t0`` is the low half of the clock before the site's wait,
``first`` what it advanced until after it.  ``second`` is what it advanced from there until after
the wait of the next site, where the site is one of the metadata's ``pairs``; else it is the index
again.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from stagebench.errors import DumpError
from stagebench.model.timing import ProbeMetadata
from stagebench.probe.layout import HEADER_BYTES, RECORD_BYTES

HEADER = np.dtype(
    [
        ("timer_entry", "<u8"), ("clock_entry", "<u8"), ("timer_exit", "<u8"),
        ("clock_exit", "<u8"), ("sm", "<u4"), ("cta", "<u4"), ("warp", "<u4"), ("entry", "<u4"),
        ("count", "<u4"), ("hardware_warp", "<u4"), ("exit", "<u4"), ("reserved", "<u4"),
    ]
)  # fmt: skip
RECORD = np.dtype([("tag", "<u4"), ("t0", "<u4"), ("first", "<u4"), ("second", "<u4")])


def ordinals(records: NDArray[np.void], metadata: ProbeMetadata) -> NDArray[np.int64]:
    """The index that each of ``records`` (of `RECORD`, any shape) says that it has."""
    return records["tag"].astype(np.int64) & ((1 << metadata.ordinal_bits) - 1)


def check_metadata(metadata: ProbeMetadata) -> None:
    """`DumpError` where sizes, ids or roles don't fit each other."""
    lanes = metadata.sampled_ctas * metadata.warps_per_cta
    stride = HEADER_BYTES + RECORD_BYTES * metadata.cap
    last = (metadata.sampled_ctas - 1) * metadata.cta_step
    rules = {
        f"cap {metadata.cap}": 0 < metadata.cap < 1 << 26,
        f"ordinal_bits {metadata.ordinal_bits}": _tags_fit(metadata),
        f"pairs {list(metadata.pairs)}": _pairs_fit(metadata),
        f"{lanes} lanes": metadata.sampled_ctas > 0 < metadata.warps_per_cta,
        f"cta_step {metadata.cta_step}": metadata.cta_step > 0 and last < metadata.grid_ctas,
        f"stride_bytes {metadata.stride_bytes}": metadata.stride_bytes == stride,
        f"buffer_bytes {metadata.buffer_bytes}": metadata.buffer_bytes == lanes * stride,
        f"{len(metadata.warp_roles)} warp roles": len(metadata.warp_roles)
        == metadata.warps_per_cta,
        "the ids of sites": [site.id for site in metadata.sites] == [*range(len(metadata.sites))],
        f"calibration_site {metadata.calibration_site}": metadata.calibration_site is None
        or metadata.calibration_site >= len(metadata.sites),
        "predicted counts": all(
            site.predicted is None or len(site.predicted) == metadata.warps_per_cta
            for site in metadata.sites
        ),
    }
    wrong = [name for name, holds in rules.items() if not holds]
    if wrong:
        raise DumpError(
            f"probe metadata of {metadata.kernel}: {', '.join(wrong)} can't be right",
            hint="the metadata and the probed kernel must be of the same build",
        )


def _tags_fit(metadata: ProbeMetadata) -> bool:
    """Whether every ordinal and every id of a site have their bits in a tag."""
    bits = metadata.ordinal_bits
    ids = max(len(metadata.sites) - 1, metadata.calibration_site or 0)
    return 0 < bits < 32 and metadata.cap <= 1 << bits and ids < 1 << (32 - bits)


def _pairs_fit(metadata: ProbeMetadata) -> bool:
    """Whether each pair is of two sites that there are, and no site is of two pairs."""
    pairs = metadata.pairs
    apart = all(later - one > 1 for one, later in pairwise(pairs))
    return apart and all(0 <= one < len(metadata.sites) - 1 for one in pairs)
