"""The child process of `profile`, with the fake driver in it.  Arguments: bundle, outputs, log."""

import sys
from pathlib import Path

from stagebench.gpu.driver import Driver
from stagebench.gpu.run_variant import serve
from tests.gpu.fake_driver import FakeApi

if __name__ == "__main__":
    bundle, outputs = map(Path, sys.argv[1:3])
    serve(bundle, outputs, sys.stdin.buffer, sys.stdout.buffer, driver=Driver(FakeApi()))
