"""What does the loader answer?  JSON requests on standard input, one JSON answer a line.

Imports TileLang once and forks for each request, as a worker does.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import torch
from tilelang import tvm

from stagebench.errors import UsageError
from stagebench.worker.tilelang.load import KernelRequest, load_kernel


def _depths(prim_func) -> list[int]:
    """The ``num_stages`` annotations of the PrimFunc's loops, in the order of the text."""
    found = []

    def visit(node) -> None:
        if isinstance(node, tvm.tirx.For) and "num_stages" in node.annotations:
            found.append(int(node.annotations["num_stages"]))

    tvm.tirx.stmt_functor.post_order_visit(prim_func.body, visit)
    return found


def _loaded(request: KernelRequest, files: list[str]) -> dict:
    kernel = load_kernel(request, on_files=files.extend)
    buffers = kernel.prim_func.buffer_map.values()
    return {
        "name": str(kernel.prim_func.attrs["global_symbol"]),
        "shapes": [[str(extent) for extent in b.shape] for b in buffers],
        "dtypes": [str(b.dtype) for b in buffers],
        "depths": _depths(kernel.prim_func),
        "pass_configs": kernel.pass_configs,
        "params": kernel.params,
        "stage_param": kernel.stage_param,
        "codes": [d.code for d in kernel.diagnostics],
        "messages": [d.message for d in kernel.diagnostics],
        "module_files": kernel.module_files,
        "restored": not torch.cuda.is_available() and sys.argv == [__file__],
    }


def _answer(case: dict) -> dict:
    files: list[str] = []
    try:
        return _loaded(KernelRequest(**case), files)
    except UsageError as error:
        names = [c.__name__ for c in type(error).__mro__]
        return {"error": names, "message": error.message, "hint": error.hint or ""}
    except Exception as error:  # noqa: BLE001  (whatever the kernel raises is the answer)
        notes = getattr(error, "__notes__", [])
        names = [c.__name__ for c in type(error).__mro__]
        return {"error": names, "message": str(error), "notes": notes, "files": files}


def main() -> None:
    """Serve until standard input ends."""
    sys.argv = [__file__]
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    for line in sys.stdin:
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            case = json.loads(line)
            case["params"] = {k: _tuples(v) for k, v in case["params"].items()}
            Path(f"/dev/fd/{writer}").write_text(json.dumps(_answer(case)), encoding="utf-8")
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader, encoding="utf-8") as pipe:
            text = pipe.read()
        os.waitpid(child, 0)
        answers.write((text or json.dumps({"error": ["died"], "message": ""})) + "\n")
        answers.flush()


def _tuples(value):
    return tuple(_tuples(v) for v in value) if isinstance(value, list) else value


if __name__ == "__main__":
    main()
