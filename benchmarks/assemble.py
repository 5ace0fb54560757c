"""What does assembling cost?  ``python benchmarks/assemble.py`` prints a table of ratios.

Every row is a ratio of two times taken in this one run, on this machine, so that a slow or busy
machine changes both sides alike; rows without a bound are for information.  A row over its bound
makes the exit code 1, and so does a cached run that starts a process.

1. later kernels ÷ without a precompiled header: CUDA to PTX, from the second kernel on, against
   the same kernels in a process that has loaded NVRTC and precompiles nothing (medians).
2. first kernel ÷ without: what making the header costs once.
3. later kernels ÷ ``nvcc -ptx``, where there is an nvcc.
4. whole assembly (PTX, cubin, SASS) of the variants, cached ÷ not cached.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from stagebench.assemble.assembler import Assembler
from stagebench.assemble.cuda_step import OWN_HEADERS, nvrtc_options
from stagebench.assemble.nvrtc_protocol import Compile, Compiled
from stagebench.assemble.toolchain import find_toolchain

ARCHS = ("sm_80", "sm_90a")
DEPTHS = ("1", "2", "3", "4")
LATER_LIMIT = 0.35
CACHED_LIMIT = 0.05


def main() -> int:
    """Measure, print the table, and return 1 if a bound is broken."""
    if sys.argv[1:2] == ["--nvrtc"]:
        json.dump(_in_this_process(sys.argv[2], [Path(path) for path in sys.argv[3:]]), sys.stdout)
        return 0
    with tempfile.TemporaryDirectory() as place:
        kernels = _lower(Path(place))
        rows = [row for arch in ARCHS for row in _compilation(arch, kernels[arch], Path(place))]
        fresh, cached, processes = _assembly(kernels, Path(place) / "cache")
    rows.append(("cached ÷ fresh assembly", cached, fresh, CACHED_LIMIT))
    print(f"{'':48}{'measured':>12}{'against':>12}{'ratio':>9}{'bound':>9}")
    broken = processes
    for name, measured, against, bound in rows:
        ratio = measured / against
        over = bound is not None and ratio > bound
        broken += over
        limit = "–" if bound is None else f"{bound:.3f}"
        mark = "  over" if over else ""
        print(f"{name:48}{measured:10.3f} s{against:10.3f} s{ratio:9.3f}{limit:>9}{mark}")
    print(f"processes started by the cached run: {processes}")
    return int(broken > 0)


def _lower(place):
    """Generated CUDA of the built-in GEMM, by architecture, in files."""
    command = [
        sys.executable,
        "-m",
        "stagebench",
        "sweep",
        "--num-stages",
        *DEPTHS,
        "--arch",
        *ARCHS,
    ]
    subprocess.run([*command, "--dump-dir", place / "dumps"], check=True, capture_output=True)
    return {arch: sorted((place / "dumps" / "gemm" / arch).glob("*/kernel.cu")) for arch in ARCHS}


def _compilation(arch, paths, place):
    command = [sys.executable, __file__, "--nvrtc", arch, *paths]
    seconds = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    without = statistics.median(seconds["without"])
    later = statistics.median(seconds["later"])
    yield f"{arch}: later kernels ÷ without a header", later, without, LATER_LIMIT
    yield f"{arch}: first kernel ÷ without a header", seconds["first"], without, None
    if shutil.which("nvcc"):
        yield f"{arch}: later kernels ÷ nvcc -ptx", later, _nvcc(arch, paths[0], place), None


def _in_this_process(arch, paths):
    """Seconds of each compilation, the library loaded and the files read before."""
    from stagebench.assemble.nvrtc_library import Nvrtc

    toolchain = find_toolchain()
    texts = [path.read_text() for path in paths]
    requests = [
        Compile(source=text, options=nvrtc_options(text, arch, (), toolchain), headers=OWN_HEADERS)
        for text in texts
    ]
    plain, warm = Nvrtc(), Nvrtc()
    warming = Compile(source="int x;", options=requests[0].options[:3], headers={})
    plain.compile(warming)
    without = [_timed(plain.compile, request) for request in requests]
    first = _timed(warm.compile_and_keep_header, requests[0])
    later = [_timed(warm.compile, request) for request in requests[1:]]
    return {"without": without, "first": first, "later": later}


def _timed(function, request):
    started = time.perf_counter()
    result = function(request)
    assert isinstance(result, Compiled), result
    return time.perf_counter() - started


def _nvcc(arch, path, place):
    folders = [f"-I{folder}" for folder in find_toolchain("nvcc").include_folders]
    command = ["nvcc", "-ptx", "-std=c++20", "-w", "-lineinfo", f"-arch={arch}", *folders, path]
    started = time.perf_counter()
    subprocess.run([*command, "-o", place / "nvcc.ptx"], check=True, capture_output=True)
    return time.perf_counter() - started


def _assembly(kernels, cache):
    """Seconds of assembling everything, fresh and cached, and the cached run's processes."""
    seconds = []
    for _ in range(2):
        started = time.perf_counter()
        with Assembler(find_toolchain(), jobs=2, cache_folder=cache, warn=print) as assembler:
            futures = [
                assembler.submit(path.read_text(), arch, "gemm_kernel_kernel")
                for arch, paths in kernels.items()
                for path in paths
            ]
            for future in futures:
                assert hasattr(future.result(), "sass"), future.result()
            seconds.append(time.perf_counter() - started)
            processes = assembler.processes_started
    return seconds[0], seconds[1], processes


if __name__ == "__main__":
    sys.exit(main())
