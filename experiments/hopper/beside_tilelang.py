"""Does a variant run as fast, and compute the same, when TileLang itself compiles and launches it?

``python experiments/hopper/beside_tilelang.py BUNDLE PROFILE`` on a GPU host that has TileLang and
torch: every sm_90a variant of PROFILE (made from BUNDLE with ``--save-outputs``) is compiled by
``tilelang.jit`` there, runs on the same inputs, is timed the same way (events around each launch,
sets of tensors larger than twice the L2 cache, a rest after ten), and its output is held against
the saved one bit by bit.  Writes ``beside_tilelang.json`` into PROFILE and prints it;
``python experiments/hopper/beside_tilelang.py FILE.json`` prints what was recorded, anywhere.
"""

from __future__ import annotations

import importlib
import itertools
import json
import sys
import time
from pathlib import Path

TURN, REST_SECONDS, WARMUP = 10, 0.03, 5
SETS = 3


def measure(bundle: Path, folder: Path) -> Path:
    """Time every sm_90a variant that ran; the file with what came out."""
    import msgspec
    import numpy as np
    import tilelang
    import torch

    from stagebench.bundle.read import read_bundle
    from stagebench.gpu.profile_file import read_profile
    from stagebench.gpu.statistics import measurement
    from stagebench.gpu.tensors import host_tensors
    from stagebench.kernels import BUILTINS

    def on_device(one):
        """A tensor with the contents that `profile` gives it; NaN where the kernel writes."""
        raw = np.full(one.bytes, 0xFF, np.uint8) if one.contents is None else one.contents
        plain = torch.from_numpy(raw.copy()).cuda()
        return plain.view(getattr(torch, one.tensor.dtype)).reshape(one.tensor.shape)

    opened, found = read_bundle(bundle), read_profile(folder)
    rows = []
    for one in found.variants:
        base = next((build for build in one.builds if build.kind == "base"), None)
        if one.variant.arch != "sm_90a" or base is None or base.time is None:
            continue
        module, function = BUILTINS[one.variant.kernel].split(":")
        kernel = getattr(importlib.import_module(module), function)(**one.variant.params)
        tensors = host_tensors(opened, opened.variant(one.id), found.seed)
        sets = [[on_device(each) for each in tensors] for _ in range(SETS)]
        kernel(*sets[0])
        torch.cuda.synchronize()
        saved = np.load(folder / one.outputs[0])
        same = sets[0][-1].cpu().numpy().tobytes() == saved.tobytes()
        jit = measurement(times_us(torch.cuda, kernel, sets, base.time.runs))
        times = {"profile": base.time, "cupti": base.device_time, "jit": jit}
        ratio = round(jit.median_us / base.time.median_us, 4)
        row = {"id": one.id, **msgspec.to_builtins(times), "ratio": ratio, "same_bits": same}
        rows.append(row)
    rows.sort(key=lambda row: row["id"])
    document = {"tilelang": tilelang.__version__, "torch": torch.__version__, "variants": rows}
    path = folder / "beside_tilelang.json"
    path.write_text(json.dumps(document, indent=1) + "\n")
    return path


def times_us(cuda, kernel, sets, runs: int) -> list[float]:
    """Microseconds of each of so many launches; ``cuda`` is ``torch.cuda``."""
    endless = itertools.cycle(sets)
    for tensors in itertools.islice(endless, WARMUP):
        kernel(*tensors)
    found: list[float] = []
    while len(found) < runs:
        time.sleep(REST_SECONDS)
        size = min(TURN, runs - len(found))
        events = [[cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(size)]
        kernel(*next(endless))
        for first, last in events:
            first.record()
            kernel(*next(endless))
            last.record()
        cuda.synchronize()
        found += [1e3 * first.elapsed_time(last) for first, last in events]
    return found


def show(path: Path) -> None:
    """A line for each variant: microseconds, and TileLang's as a multiple of `profile`'s."""
    document = json.loads(path.read_text())
    print(f"{'µs, medians':34} {'profile':>8} {'CUPTI':>8} {'TileLang':>9}   ratio  output")
    for row in document["variants"]:
        profile, cupti, jit = (row[key]["median_us"] for key in ("profile", "cupti", "jit"))
        bits = "same bits" if row["same_bits"] else "OTHER BITS"
        times = f"{profile:8.1f} {cupti:8.1f} {jit:9.1f}"
        print(f"{row['id']:34} {times}  ×{row['ratio']:.3f}  {bits}")


if __name__ == "__main__":
    places = [Path(argument) for argument in sys.argv[1:]]
    show(places[0] if len(places) == 1 else measure(*places))
