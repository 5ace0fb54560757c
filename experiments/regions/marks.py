"""What do marks in a kernel cost, and how short a region can they tell from none?

``marks.py cost`` holds every marked kernel against the same one without marks: times of
``timings.json``, and what the assembler made of the loop that multiplies (``loops.json``: its
instructions, by nvdisasm, from the cubins that ran); ``marks.py loops`` says which of those loops
are the same.  ``marks.py empty BUFFER…`` reads regions in
which the kernel does nothing, ``marks.py banks BUFFER…`` counts what shared memory needs for one
tile.  All print what was recorded, on any machine.

``marks.py record RUN…`` prints what ``loops.json`` holds of runs that ``sweep --machine`` wrote.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path
from statistics import mean

import stagebench
from stagebench.dump.files import SASS
from stagebench.dump.profiler_sidecar import read_sidecar
from stagebench.trace.cuda_profiler import decode
from stagebench.trace.profiler_words import read_words, uncompressed

FOLDER = Path(__file__).parent
DEVICE = FOLDER.parent / "hopper" / "profile.json"
"""What the driver said of the device, the same one on which the marked kernels ran."""
TRIPS = 16  # K / block_K


def cost() -> None:
    """A line for each marked kernel of sm_90a."""
    listed = json.loads((FOLDER / "loops.json").read_text())
    timings = {}
    for sweep in json.loads((FOLDER / "timings.json").read_text())["sweeps"]:
        variant = sweep["variant"]
        if variant["arch"] == "sm_90a":
            size = variant["params"].get("group_threads")
            for one in sweep["timings"]:
                timings[variant["kernel"], size, one["num_stages"]] = one
    print(f"{'':32} {'without marks':21} with marks")
    print(f"{'kernel':25} depth {2 * '    µs registers late '}  marked")
    for (kernel, size, depth), one in timings.items():
        if not kernel.endswith("_profiled"):
            continue
        plain = kernel.removesuffix("_profiled")
        before = timings[plain, None, depth]
        suffix = "" if size is None else f",group_threads={size}"
        cells = [
            f"{each['base']['median_us']:6.1f} {each['facts']['registers']:9} {late(listed[key]):4}"
            for each, key in (
                (before, f"{plain}/sm_90a/num_stages={depth}"),
                (one, f"{kernel}/sm_90a/num_stages={depth}{suffix}"),
            )
        ]
        ratio = one["base"]["median_us"] / before["base"]["median_us"]
        name = plain if size is None else f"{plain}, groups of {size}"
        print(f"{name:28} {depth}  {cells[0]} {cells[1]}   ×{ratio:.2f}")


def loops() -> None:
    """What is the same in all loops, and which are the same."""
    recorded = json.loads((FOLDER / "loops.json").read_text())
    counts = [Counter(opcode(each) for each in one["loop"]) for one in recorded.values()]
    for name in ("LDS", "HADD2", "FFMA", "LDL", "STL"):
        times = sorted({each[name] for each in counts})
        print(f"{name} in each of the {len(counts)} loops: {times}")
    for key, one in recorded.items():
        if one["spill_bytes"]:
            print(f"{key} spills {one['spill_bytes']} bytes")
    alike: dict[str, list[str]] = {}
    for key, one in recorded.items():
        alike.setdefault("\n".join(one["loop"]), []).append(key.replace("/sm_90a/", " "))
    for keys in alike.values():
        if len(keys) > 1:
            print("one and the same loop:", *keys, sep="\n  ")


def record(runs: list[Path]) -> None:
    """The loop that multiplies of every variant, and what the whole kernel spills."""
    lines = []
    for run in runs:
        for dump in stagebench.read_run(run):
            variant = dump.result.variant
            size = variant.params.get("group_threads")
            depth = f"num_stages={variant.num_stages}" + (f",group_threads={size}" if size else "")
            one = {
                "spill_bytes": dump.result.facts.machine.spill_bytes,
                "loop": multiplying((Path(dump.folder) / SASS).read_text()),
            }
            key = f"{variant.kernel}/{variant.arch}/{depth}"
            lines.append(f" {json.dumps(key)}: {json.dumps(one)}")
    print("{\n" + ",\n".join(lines) + "\n}")


def multiplying(sass: str) -> list[str]:
    """The instructions of the shortest loop that has a multiplication."""
    labels: dict[str, int] = {}
    instructions: list[str] = []
    loops = []
    for line in sass.splitlines():
        if label := re.match(r"(\.L_x_\d+):", line):
            labels[label[1]] = len(instructions)
        elif instruction := re.search(r"/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;", line):
            instructions.append(instruction[1])
            back = re.search(r"\bBRA `\((\.L_x_\d+)\)", instruction[1])
            if back and back[1] in labels:
                loops.append(instructions[labels[back[1]] :])
    return min((one for one in loops if "FFMA" in map(opcode, one)), key=len)


def late(one: dict) -> int:
    """Loads whose value is converted one or two instructions later: nothing hides their latency."""
    loaded: dict[str, int] = {}
    found = 0
    for index, text in enumerate(one["loop"]):
        registers = re.findall(r"\bR\d+\b", text)
        if opcode(text) == "LDS":
            loaded[registers[0]] = index
        elif opcode(text) == "HADD2":
            found += index - loaded[registers[1]] <= 2
    return found


def opcode(text: str) -> str:
    """``LDS`` of ``LDS.U16 R32, [R23]``."""
    return re.match(r"(?:@\S+ )?(\w+)", text)[1]


def empty(paths: list[Path]) -> None:
    """Regions without work: a load past the last tile, a wait for a slot that was never taken."""
    print(f"{'ns':16} empty regions: n  least   mean   most    between two regions, mean")
    for path in paths:
        depth, trace = read(path)
        lanes: dict[tuple[int, int], list] = {}
        for region in trace.regions:
            lanes.setdefault((region.block, region.group), []).append(region)
        found: list[int] = []
        for lane in lanes.values():
            free = [each for each in lane if each.name == "free"][:depth]
            loads = [each for each in lane if each.name == "load"]
            # By cp.async the loads run ahead: of the last trips nothing is left to load.
            idle = free or (loads[len(loads) - (depth - 1) :] if len(loads) > TRIPS else [])
            found += [each.end_ns - each.start_ns for each in idle]
        gaps = [b.start_ns - a.end_ns for lane in lanes.values() for a, b in pairwise(lane)]
        if found:
            print(
                f"{label(path):16} {len(found):16} {min(found):6} {mean(found):6.0f} "
                f"{max(found):6} {mean(gaps):28.0f}"
            )


def banks(paths: list[Path]) -> None:
    """The least time that shared memory needs for a tile, and what the lanes took."""
    wavefronts = 0
    for warp in range(4):
        threads = [(thread // 16, thread % 16) for thread in range(32 * warp, 32 * warp + 32)]
        loads = [[(ty * 8 + i) * 64 for ty, _ in threads] for i in range(8)]  # A_shared[ty*8+i, k]
        loads += [[(tx * 4 + j) * 64 for _, tx in threads] for j in range(4)]  # B_shared[tx*4+j, k]
        for addresses in loads:
            wanted = {address // 4 for address in addresses}
            wavefronts += max(Counter(word % 32 for word in wanted).values())
    highest_mhz = json.loads(DEVICE.read_text())["device"]["clock_khz"] / 1e3
    tile = 32 * wavefronts / highest_mhz
    print(f"{wavefronts} wavefronts for each k: {32 * wavefronts} cycles, {tile:.2f} µs for a tile")
    for path in paths:
        _, trace = read(path)
        lanes: Counter[tuple[int, int]] = Counter()
        for region in trace.regions:
            if region.name == "compute":
                lanes[region.block, region.group] += region.end_ns - region.start_ns
        least, average = min(lanes.values()) / 1e3, mean(lanes.values()) / 1e3
        print(
            f"{label(path):16} compute of {TRIPS} tiles: least {least:5.1f} µs, mean "
            f"{average:5.1f} µs; the banks need {TRIPS * tile / average:.0%} of it"
        )


def read(path: Path):
    """The depth and the regions of one buffer."""
    told = read_sidecar(uncompressed(path))
    words, _ = read_words(path)
    depth = int(re.search(r"num_stages=(\d+)", told.source)[1])
    return depth, decode(words, told.format, events=told.event_names)


def label(path: Path) -> str:
    """What the file is called without its endings."""
    return uncompressed(path).stem


if __name__ == "__main__":
    verb, *places = sys.argv[1:]
    if places:
        {"empty": empty, "banks": banks, "record": record}[verb]([Path(place) for place in places])
    else:
        {"cost": cost, "loops": loops}[verb]()
