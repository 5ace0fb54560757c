# ruff: noqa: N802 - the driver's own names
"""A driver without a device: the functions of ``cuda.bindings.driver`` over host memory.

A "cubin" is text, ``fake BEHAVIOUR``: what happens to A and C when it is launched.  Every function
must exist in the real module, and enumerations and structures are the real ones.
"""

import time
from dataclasses import dataclass, field

import numpy as np
from cuda.bindings import driver as real

CUBIN_SYMBOL = 0x7000
NAN = 0x7FFFFFFF
RESULT = real.CUresult


@dataclass
class Module:
    behaviour: str
    launches: int = 0

    @property
    def probed(self):
        return self.behaviour.split()[0] == "probed"


@dataclass
class Map:
    """What a tensor map was encoded from."""

    api: str
    arguments: tuple

    @property
    def address(self):
        return int(self.arguments[2])


@dataclass
class FakeApi:
    """``faults`` maps a function to the ``CUresult`` that it answers."""

    faults: dict = field(default_factory=dict)
    capability: tuple = (9, 0)
    version: int = 13_000
    devices: int = 1
    memory_bytes: int = 1 << 30
    smem_limit: int = 232_448

    def __post_init__(self):
        self.calls = []
        self.memory = {}
        self.globals = {}
        self.modules = []
        self.poisoned = False
        self.lost = None
        self._next = 0x10000
        self._seconds = 0.0

    def __getattr__(self, name):
        found = getattr(real, name)
        if not (name.startswith("cu") and name[2:3].isupper()):
            return found

        def call(*arguments):
            self.calls.append((name, arguments))
            if self.lost is not None:
                return (self.lost,)
            if name in self.faults:
                return (self.faults[name],)
            answer = getattr(self, f"_{name}", None)
            return (RESULT.CUDA_SUCCESS,) if answer is None else answer(*arguments)

        return call

    def names(self):
        return [name for name, _ in self.calls]

    def _ok(self, *results):
        return (RESULT.CUDA_SUCCESS, *results)

    def _cuDriverGetVersion(self):
        return self._ok(self.version)

    def _cuDeviceGetCount(self):
        return self._ok(self.devices)

    def _cuDeviceGet(self, ordinal):
        return self._ok(ordinal)

    def _cuDeviceGetName(self, length, _):
        return self._ok(b"Fake GPU".ljust(length, b"\0"))

    def _cuDeviceTotalMem(self, _):
        return self._ok(self.memory_bytes)

    def _cuDeviceGetAttribute(self, key, _):
        known = {
            "COMPUTE_CAPABILITY_MAJOR": self.capability[0],
            "COMPUTE_CAPABILITY_MINOR": self.capability[1],
            "MULTIPROCESSOR_COUNT": 4,
            "L2_CACHE_SIZE": 4096,
            "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": self.smem_limit,
            "CLOCK_RATE": 1_980_000,
        }
        name = key.name.removeprefix("CU_DEVICE_ATTRIBUTE_")
        if name not in known:
            return (RESULT.CUDA_ERROR_INVALID_VALUE,)
        return self._ok(known[name])

    def _cuDevicePrimaryCtxRetain(self, _):
        return self._ok("context")

    def _cuStreamCreate(self, _):
        return self._ok(real.CUstream(0))

    def _cuMemAlloc(self, size):
        if sum(map(len, self.memory.values())) + size > self.memory_bytes:
            return (RESULT.CUDA_ERROR_OUT_OF_MEMORY,)
        pointer, self._next = self._next, self._next + size + 256 - size % 256
        self.memory[pointer] = bytearray(size)
        return self._ok(pointer)

    def _cuMemFree(self, pointer):
        del self.memory[int(pointer)]
        return self._ok()

    def _cuMemGetInfo(self):
        return self._ok(self.memory_bytes, self.memory_bytes)

    def _cuMemsetD8(self, pointer, byte, size):
        self.memory[int(pointer)][:size] = bytes([byte]) * size
        return self._ok()

    def _cuMemcpyHtoD(self, pointer, data, size):
        if int(pointer) == CUBIN_SYMBOL:
            self.globals["pointer"] = int(np.asarray(data).view(np.uint64)[0])
        else:
            self.memory[int(pointer)][:size] = bytes(data)[:size]
        return self._ok()

    def _cuMemcpyDtoD(self, pointer, source, size):
        self.memory[int(pointer)][:size] = self.memory[int(source)][:size]
        return self._ok()

    def _cuMemcpyDtoH(self, data, pointer, size):
        data[:] = np.frombuffer(bytes(self.memory[int(pointer)][:size]), dtype=np.uint8)
        return self._ok()

    def _cuModuleLoadData(self, image):
        text = bytes(image).rstrip(b"\0").decode()
        if text.startswith(".version"):
            return self._ok(Module("poison"))
        if not text.startswith("fake "):
            return (RESULT.CUDA_ERROR_INVALID_IMAGE,)
        self.modules.append(Module(text.removeprefix("fake ")))
        return self._ok(self.modules[-1])

    def _cuModuleUnload(self, module):
        self.modules = [one for one in self.modules if one is not module]
        return self._ok()

    def _cuModuleGetFunction(self, module, _):
        return self._ok(module)

    def _cuModuleGetGlobal(self, module, name):
        if not module.probed or name != b"__sb_probe_base":
            return (RESULT.CUDA_ERROR_NOT_FOUND,)
        return self._ok(CUBIN_SYMBOL, 8)

    def _cuFuncSetAttribute(self, _, key, value):
        if key.name.endswith("MAX_DYNAMIC_SHARED_SIZE_BYTES") and value > self.smem_limit:
            return (RESULT.CUDA_ERROR_INVALID_VALUE,)
        return self._ok()

    def _cuFuncGetAttribute(self, key, _):
        return self._ok({"NUM_REGS": 96}.get(key.name.removeprefix("CU_FUNC_ATTRIBUTE_"), 0))

    def _cuTensorMapEncodeTiled(self, *arguments):
        return self._ok(Map("tiled", arguments))

    def _cuTensorMapEncodeIm2col(self, *arguments):
        return self._ok(Map("im2col", arguments))

    def _cuEventCreate(self, _):
        return self._ok([0.0])

    def _cuEventRecord(self, event, _):
        event[0] = self._seconds
        return self._ok()

    def _cuEventElapsedTime(self, first, last):
        return self._ok(1e3 * (last[0] - first[0]))

    def _cuLaunchKernelEx(self, _, module, arguments, __):
        values, _types = arguments
        module.launches += 1
        self._seconds += 10e-6 if not module.probed else 11e-6
        if module.behaviour == "poison":
            self.poisoned = True
            return self._ok()
        fresh, self.poisoned = self.poisoned, False
        source, out = (v.address if isinstance(v, Map) else int(v) for v in values[:2])
        data = np.frombuffer(bytes(self.memory[source]), dtype=np.float16).copy()
        self._behave(module, data, fresh=fresh)
        if marks := values[2:]:  # a profiler's buffer: adds to what it finds there
            words = np.frombuffer(self.memory[int(marks[0])], dtype=np.uint64)
            words[0] = 1 << 32 | 32
            words[1:] += np.uint64(module.launches)
        self.memory[out][:] = data.tobytes()
        return self._ok()

    def _behave(self, module, data, *, fresh):
        """Change what would be a right copy of A."""
        behaviour = module.behaviour.removeprefix("probed ")
        if behaviour == "wrong":
            data[3] += 1
        elif behaviour == "rounded":
            data[:] = (data.astype(np.float32) * (1 + 2**-11)).astype(np.float16)
        elif behaviour == "stale":  # reads shared memory that was never filled
            data[5] = np.nan if fresh else data[5]
        elif behaviour == "race":
            data[0] += module.launches
        elif behaviour == "fault":
            self.lost = RESULT.CUDA_ERROR_ILLEGAL_ADDRESS
        elif behaviour == "hang":
            time.sleep(3600)
        elif behaviour == "die":
            import os

            os.abort()
        elif behaviour == "probed":
            self.memory[self.globals["pointer"]][:4] = b"lane"


class LosesProbes(FakeApi):
    """Nothing of 64 bytes, which is a buffer of probes, can be read back."""

    def _cuMemcpyDtoH(self, data, pointer, size):
        if size == 64:
            return (RESULT.CUDA_ERROR_INVALID_VALUE,)
        return super()._cuMemcpyDtoH(data, pointer, size)


class FailsWarm(FakeApi):
    """The control build runs once; the next time it can't be launched."""

    def _cuLaunchKernelEx(self, config, module, *more):
        if module.behaviour == "rounded" and module.launches:
            return (RESULT.CUDA_ERROR_INVALID_VALUE,)
        return super()._cuLaunchKernelEx(config, module, *more)
