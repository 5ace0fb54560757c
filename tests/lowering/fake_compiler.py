"""Interpreters and distributions that only look like a compiler's: a worker in a few lines."""

import sys

from stagebench.lowering.compiler_environment import CompilerEnvironment
from stagebench.model import Compiler
from stagebench.worker.protocol import LowerRequest

COMPILER = Compiler(name="fakecc", version="1.0")

PRELUDE = f"""#!{sys.executable}
import json, os, sys, time
def say(kind, **fields):
    sys.stdout.write(json.dumps(dict(type=kind, **fields)) + "\\n")
    sys.stdout.flush()
def hello():
    say("hello", compiler=dict(name="fakecc", version="1.0"), import_seconds=0.0)
def jobs():
    for line in sys.stdin:
        message = json.loads(line)
        yield message["job"], message["request"]
def raised(job, request):
    variant = dict(kernel=request["kernel"], params=request["params"], stage_param=None,
                   arch=request["arch"], compiler=dict(name="fakecc", version="1.0"),
                   pass_configs={{}})
    say("done", job=job, reply=dict(type="raised", variant=variant, where="compiler",
        error="Error", message="no", file=None, line=None, pass_name=None, out_of_memory=False,
        diagnostics=[], module_files=[]))
"""


def environment(folder, body):
    """A compiler environment whose interpreter runs ``body`` instead of the worker."""
    script = folder / "python"
    script.write_text(PRELUDE + body)
    script.chmod(0o755)
    return CompilerEnvironment(compiler=COMPILER, python=str(script), identity="fake")


def request(depth=2, arch="sm_90a"):
    """A request for some kernel."""
    return LowerRequest(
        path=None, function="gemm", kernel="gemm", params={}, num_stages=depth, stage_param=None,
        arch=arch, pass_configs={},
    )  # fmt: skip
