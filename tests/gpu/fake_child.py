"""The child process of `profile`, with the fake driver in it.  Arguments: bundle, outputs."""

import sys

from stagebench.gpu.driver import Driver
from stagebench.gpu.run_variant import main
from tests.gpu.fake_driver import FakeApi

if __name__ == "__main__":
    main(*sys.argv[1:3], driver=Driver(FakeApi()))
