"""Which files show when each warp of a probed run waited?  One Perfetto trace and SVG a variant."""

from __future__ import annotations

from pathlib import Path

from stagebench.dump.atomic_file import write_file
from stagebench.gpu.profile_file import read_probes
from stagebench.gpu.records import Profile
from stagebench.model.codec import decode as decode_json
from stagebench.model.timing import ProbeMetadata
from stagebench.timing.decode import decode
from stagebench.timing.to_timeline import to_timeline
from stagebench.trace.perfetto_trace import perfetto_bytes
from stagebench.trace.timeline_svg import timeline_svg

_SHOWN_CTAS = 4


def write_timelines(found: Profile, folder: Path, target: Path) -> tuple[Path, ...]:
    """Write ``<id>.perfetto-trace`` and ``<id>.svg`` of the first CTAs of each probed variant.

    ``folder`` is where ``profile.json`` and the probe buffers are.  Raises `MachineError` without
    the ``perfetto`` package.
    """
    written = []
    for one in found.variants:
        probes = read_probes(folder, one)
        if probes is None:
            continue
        metadata = decode_json(probes[1], ProbeMetadata, str(one.probe_metadata))
        run = decode(probes[0], metadata)
        shown = [k * metadata.cta_step for k in range(min(_SHOWN_CTAS, metadata.sampled_ctas))]
        timeline = to_timeline(run, metadata, title=one.id, ctas=frozenset(shown))
        name = one.id.replace("/", ".")
        for suffix, data in (
            ("perfetto-trace", perfetto_bytes(timeline)),
            ("svg", timeline_svg(timeline)),
        ):
            path = target / f"{name}.{suffix}"
            write_file(path, data)
            written.append(path)
    return tuple(written)
