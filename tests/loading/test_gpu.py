"""A file that asks for the GPU is answered from the arch; one that needs it is told its line."""

import pytest

pytestmark = pytest.mark.tilelang

FILE = "gpu.py"
AT_IMPORT = "gpu.py:13: torch.cuda.is_available was answered with True for sm_90a"


def test_question_at_import(load):
    """A question at import is answered, and the note names its line."""
    answer = load(FILE, "guarded")

    assert answer["codes"] == ["gpu-probe-answered"]
    assert answer["messages"] == [AT_IMPORT]


@pytest.mark.parametrize(
    ("arch", "shown", "size"), [("sm_90a", (9, 0), 2304), ("sm_86", (8, 6), 2432)]
)
def test_capability(load, arch, shown, size):
    """The capability is the arch's."""
    answer = load(FILE, "by_capability", arch=arch)

    assert answer["messages"][1] == (
        f"gpu.py:17: torch.cuda.get_device_capability was answered with {shown} for {arch}"
    )
    assert answer["shapes"][0] == [str(size)]


@pytest.mark.parametrize(("arch", "sms"), [("sm_80", 108), ("sm_90a", 132), ("sm_100a", 148)])
@pytest.mark.parametrize("function", ["by_sms", "by_driver", "by_tvm", "by_carver"])
def test_multiprocessors(load, function, arch, sms):
    """The number of SMs is the representative device's, whichever library is asked."""
    answer = load(FILE, function, arch=arch)

    assert answer["shapes"][0] == [str(64 * sms)]
    assert any(f"multi_processor_count was answered with {sms}" in m for m in answer["messages"])


def test_shared_memory(load):
    """CUDA's own attributes are answered as far as they are known."""
    assert load(FILE, "by_attribute", arch="sm_80")["shapes"][0] == [str(164 * 1024)]


def test_target(load):
    """The current target is the chosen one, for ``nvcc`` helpers and ``determine_target``."""
    assert load(FILE, "by_target", arch="sm_90a")["shapes"][0] == [str(64 * 9 * len("sm_90a"))]


def test_unknown_property(load):
    """A property that the arch does not determine is an error with the line; getattr sees none."""
    answer = load(FILE, "by_unknown")

    assert (
        answer["message"]
        == "gpu.py:54 asks for the GPU's clock_rate, which the arch does not determine"
    )
    assert "AttributeError" in answer["error"]


def test_arch_without_a_device(load):
    """An arch without a representative device answers no SM count."""
    answer = load(FILE, "by_sms", arch="sm_121a")

    assert answer["message"] == (
        "gpu.py:23 asks for the GPU's multi_processor_count, and no device is known for sm_121a"
    )


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("allocating", "gpu.py:58 uses the GPU through torch"),
        ("timing", "gpu.py:63 uses the GPU through torch"),
        ("benchmarking", "gpu.py:70 runs a kernel (get_profiler)"),
    ],
)
def test_needs_a_gpu(load, function, message):
    """A line that allocates, times or launches on the GPU is named."""
    answer = load(FILE, function, num_stages=1)

    assert answer["error"][:2] == ["GpuNeededError", "UsageError"]
    assert answer["message"].startswith(message)
    assert "__main__" in answer["hint"]


def test_launch_at_import(load, write):
    """A launch at import is an error that names the line."""
    path = write(
        "import tilelang\nimport tilelang.language as T\n\n"
        "@tilelang.jit\ndef scale(A, num_stages: int = 2):\n"
        "    N = T.const('N')\n    A: T.Tensor[[N], 'float16']\n"
        "    with T.Kernel(1, threads=32) as _:\n        A[0] = 1\n\n"
        "import torch\n"
        "scale(torch.zeros(64, dtype=torch.float16))\n"
    )
    answer = load(path, "scale", N=64)

    assert answer["message"] == "kernel.py:12 launches a kernel"


def test_bad_arch(load):
    """An arch that is none is refused before anything else."""
    assert load(FILE, "guarded", arch="hopper")["message"] == "'hopper' is not a CUDA arch"
