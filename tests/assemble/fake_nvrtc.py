"""An NVRTC process with a compiler that does what the text asks for: the real server around it."""

import os
import signal
import socket
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))

from stagebench.assemble.nvrtc_protocol import Compiled, Rejected
from stagebench.assemble.nvrtc_server import Server
from stagebench.worker.parent_death import die_with_parent


class Compiler:
    """Crashes, hangs, prints or answers; its answer names the process that gave it."""

    warm = False

    def compile_and_keep_header(self, request):
        result = self.compile(request)
        self.warm = True
        return result

    def compile(self, request):
        os.write(1, b"some noise\n")
        os.write(2, b"more noise\n")
        if "crash" in request.source:
            os.kill(os.getpid(), signal.SIGSEGV)
        if "exit" in request.source:
            os._exit(7)
        if "hang" in request.source:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(600)
        if "raise" in request.source:
            raise RuntimeError("a bug of ours")
        if "slow" in request.source:
            time.sleep(0.5)
        if "wrong" in request.source:
            return Rejected(status="NVRTC_ERROR_COMPILATION", log="kernel.cu(2): error: wrong\n")
        return Compiled(ptx=f"// {os.getpid()} {os.getppid()}", seconds=0.0, precompiled=False)


if __name__ == "__main__":
    die_with_parent()
    if "--refuse" in sys.argv:
        sys.exit("libnvrtc.so.13: cannot open shared object file")
    with socket.socket(fileno=int(sys.argv[-1])) as control:
        Server(Compiler(), control).serve()
