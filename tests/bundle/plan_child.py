# ruff: noqa: N802 - the driver's own names
"""The child process of `profile` on a device that runs real cubins of the tests' plans.

Arguments: bundle, outputs, and a folder with what the probes of a probed cubin would write, by the
cubin's digest.  The arithmetic of the kernels is numpy's.
"""

import sys
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np

from stagebench.gpu.driver import Driver
from stagebench.gpu.run_variant import serve
from tests.gpu.fake_driver import RESULT, FakeApi, Module


def digest(cubin):
    return blake2b(cubin, digest_size=8).hexdigest()


@dataclass
class Cubin(Module):
    data: bytes = b""


@dataclass
class PlanApi(FakeApi):
    images: Path = Path()

    def _cuModuleLoadData(self, image):
        data = bytes(image)
        if not data.startswith(b"\x7fELF"):
            return (RESULT.CUDA_ERROR_INVALID_IMAGE,)
        probed = b"__sb_probe_base" in data
        return self._ok(Cubin("probed" if probed else "plain", data=data))

    def _cuModuleGetFunction(self, module, name):
        return self._ok(module) if name in module.data else (RESULT.CUDA_ERROR_NOT_FOUND,)

    def _cuLaunchKernelEx(self, _, module, arguments, __):
        values, _types = arguments
        self._seconds += 10e-6

        def floats(pointer):
            return np.frombuffer(self.memory[int(pointer)], dtype=np.float32)

        if len(values) == 5:  # sgemm: A, B, C, N, K
            a, b, c, n, k = values
            floats(c)[:] = (floats(a).reshape(-1, k) @ floats(b).reshape(k, n)).reshape(-1)
        else:  # add: A, C, s
            a, c, s = values
            floats(c)[:] = floats(a) + np.float32(s)
        if module.behaviour == "probed":
            image = (self.images / digest(module.data)).read_bytes()
            self.memory[self.globals["pointer"]][: len(image)] = image
        return self._ok()


if __name__ == "__main__":
    bundle, outputs, images = map(Path, sys.argv[1:4])
    api = PlanApi(images=images, capability=(8, 0))
    serve(bundle, outputs, sys.stdin.buffer, sys.stdout.buffer, driver=Driver(api))
