"""Is IR that stagebench has no words for told as that, and not as an error of the compiler?"""

from pathlib import Path

import pytest

from stagebench.lowering import failure
from stagebench.model import Compiler
from stagebench.worker.protocol import Raised
from tests.tvm.lowering import COMPILER, lower, request, with_tvm

KERNELS = Path(__file__).parent / "kernels"
READ = "this stagebench reads 0.25.0 to 0.27.0.post1 (--compiler)"
DEFECT = "that is a defect of stagebench: please report it with the kernel"


@pytest.fixture(scope="module")
def lowerings():
    """A statement that nobody knows; several device functions, and one, that nobody wrote."""
    nobodys = KERNELS / "nobodys_kernels.py"
    return lower(
        request("looping", 1, path=KERNELS / "unknown_statement.py"),
        request("several", path=nobodys),
        request("one", path=nobodys),
    )


@with_tvm
def test_a_statement_that_nobody_knows(lowerings):
    """Its name is said, and where it was seen; no pass failed, and the compiler raised nothing."""
    lowering = lowerings[0]
    found = lowering.result.failure
    assert (found.kind, found.pass_name, lowering.kernel_cu) == ("unreadable_ir", None, None)
    version = lowering.result.variant.compiler.version
    assert found.message == (
        f"lowered, but stagebench can't read the IR of {COMPILER} {version}: "
        f"statement For (seen at tirx.BindTarget); {DEFECT}"
    )
    assert lowering.result.variant.params == {"num_stages": 1}


@with_tvm
def test_a_device_function_that_is_made_of_nobody_knows_which(lowerings):
    """It has not the first one's tensors; of a single function any is made."""
    _, several, one = (lowering.result for lowering in lowerings)
    assert several.failure.kind == "unreadable_ir"
    said = "device function first_kernel, made of none of the author's (first, second)"
    assert said in several.failure.message
    assert [tensor.name for tensor in one.facts.launch.tensors] == ["A_ptr", "B_ptr"]


def raised(version, error="UnreadableIRError", message="statement Loop", pass_name=None):
    """What a worker says of a release whose IR it could not read."""
    request_ = request("gemm", 1)
    variant = failure.unresolved_variant(request_, Compiler(name=COMPILER, version=version))
    return Raised(
        variant=variant, where="reader", error=error, message=message, file="nodes.py", line=7,
        pass_name=pass_name, out_of_memory=False, diagnostics=(), module_files=(),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (raised("0.28.0"), f"tvm 0.28.0: statement Loop; {READ}"),
        (raised("0.26.0"), f"tvm 0.26.0: statement Loop; {DEFECT}"),
        (raised("0.27.0.post1+mine"), f"tvm 0.27.0.post1+mine: statement Loop; {DEFECT}"),
        (
            raised("0.28.0", "AttributeError", "no attribute 'body'\nmore", "s_tir.Simplify"),
            "tvm 0.28.0: AttributeError: no attribute 'body' (nodes.py:7) (seen at "
            f"s_tir.Simplify); {READ}",
        ),
    ],
    ids=["untested", "tested", "own build", "no word of ours"],
)
def test_the_next_step(reply, said):
    """Releases that are read are named to who has another; of a tested one it is a defect."""
    result = failure.from_raised(reply)
    assert result.failure.kind == "unreadable_ir"
    assert result.failure.message == f"lowered, but stagebench can't read the IR of {said}"
    assert result.facts is None
