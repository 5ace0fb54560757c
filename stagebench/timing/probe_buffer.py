"""How does a probe buffer look, and do the metadata of a probed kernel fit it?

Little endian: lane = sampled CTA · warps of a CTA + warp, at lane · stride.  A lane is a header of
64 bytes (`HEADER`) and ``cap`` records of 16 bytes (`RECORD`).  ``entry`` and ``exit`` are `MAGIC`
once the warp's leader came by; ``count`` is how many records it attempted (those beyond ``cap``
were dropped).  Of a record, ``t0`` is the low half of the clock before the wait, ``dt`` what it
advanced until after it, ``ordinal`` the record's index.
"""

from __future__ import annotations

import numpy as np

from stagebench.errors import DumpError
from stagebench.model.timing import ProbeMetadata

MAGIC = 0x31504253  # "SBP1"
HEADER_BYTES, RECORD_BYTES = 64, 16
HEADER = np.dtype(
    [
        ("timer_entry", "<u8"), ("clock_entry", "<u8"), ("timer_exit", "<u8"),
        ("clock_exit", "<u8"), ("sm", "<u4"), ("cta", "<u4"), ("warp", "<u4"), ("entry", "<u4"),
        ("count", "<u4"), ("hardware_warp", "<u4"), ("exit", "<u4"), ("reserved", "<u4"),
    ]
)  # fmt: skip
RECORD = np.dtype([("site", "<u4"), ("t0", "<u4"), ("dt", "<u4"), ("ordinal", "<u4")])


def check_metadata(metadata: ProbeMetadata) -> None:
    """`DumpError` where sizes, ids or roles don't fit each other."""
    lanes = metadata.sampled_ctas * metadata.warps_per_cta
    stride = HEADER_BYTES + RECORD_BYTES * metadata.cap
    last = (metadata.sampled_ctas - 1) * metadata.cta_step
    rules = {
        f"cap {metadata.cap}": 0 < metadata.cap < 1 << 26,
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
