"""Is a worker that is killed under a sweep replaced, and what did not run lowered all the same?"""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.command_line import command
from tests.processes import alive, children

pytestmark = pytest.mark.tilelang

KERNEL = Path(__file__).parents[1] / "sweeping" / "kernels" / "misbehaving.py"


def is_job(pid):
    """Tell a job, which offers itself to the out-of-memory killer, from what an import starts."""
    try:
        return Path(f"/proc/{pid}/oom_score_adj").read_text().strip() == "1000"
    except OSError:
        return False


def test_a_killed_worker(tmp_path):
    """SIGKILL to the worker: the running variant is a crash, the waiting ones are lowered."""
    process = subprocess.Popen(
        command("sweep", f"{KERNEL}:small_gemm", "--set", "mode=hang,fine,print", "--num-stages",
                2, "--arch", "sm_90a", "--no-dumps", "--no-cache", "--jobs", 1, "--json", "-"),
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        deadline = time.monotonic() + 60
        running = []
        while not running and time.monotonic() < deadline:
            time.sleep(0.05)
            running = [
                (worker, job)
                for worker in children(process.pid)
                for job in children(worker)
                if is_job(job)
            ]
        ((worker, job),) = running
        os.kill(worker, signal.SIGKILL)
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 3, err
    variants = {v["variant"]["params"]["mode"]: v for v in json.loads(out)["variants"]}
    assert list(variants) == ["hang", "fine", "print"]
    assert variants["hang"]["failure"]["kind"] == "crash"
    assert variants["hang"]["failure"]["message"].startswith(
        "the worker process ended while it ran this variant"
    )
    for mode in ("fine", "print"):
        assert variants[mode]["facts"]["sync_totals"]["tma_load"] == {"static": 2, "dynamic": 8}
    assert not alive(job), "the hanging child died with its worker"
