"""How a user's module is lowered, what is said of mistakes, and what a lowering leaves behind."""

from pathlib import Path

import pytest

from stagebench.dump import snapshots
from stagebench.errors import UsageError
from tests.tvm.lowering import lower, needs_tvm, request

pytestmark = needs_tvm
USERS = Path(__file__).parent / "kernels" / "users.py"


@pytest.fixture(scope="module")
def found():
    """A user's module, its pipeline given, one that raises, and two wrong requests."""
    return lower(
        request("Scheduled", path=USERS),
        request("Scheduled", path=USERS, configs={"tir_pipeline": "tirx"}),
        request("broken", path=USERS),
        request("nothing", path=USERS),
        request("broken", path=USERS, M=3),
        request("Scheduled", 2, path=USERS),
        request("gemm", 2, configs={"tir_pipeline": "tir"}),
    )


def test_a_users_module(found):
    """An IRModule of a file is lowered by the pipeline that it is written for; the variant says."""
    result = found[0].result
    assert result.variant.kernel == "users.py:Scheduled"
    assert result.variant.pass_configs == {"tir_pipeline": "s_tir"}
    assert (result.variant.compiler.name, result.facts.launch.grid) == ("tvm", (8, 1, 1))


def test_the_pipeline_can_be_chosen(found):
    """S-TIR given to the TIRx pipeline: another identity, and what TVM says of it."""
    result = found[1].result
    assert result.variant.pass_configs == {"tir_pipeline": "tirx"}
    assert result.outcome == "failed"
    assert result.failure.kind == "compile_error"
    assert (
        "the module is S-TIR (a schedule, or te), and --pipeline tirx lowers none of its blocks"
        in (result.failure.message)
    )


def test_a_kernel_that_raises(found):
    """The kernel's own exception is a failed variant with the line that raised."""
    failure = found[2].result.failure
    assert "no kernel for 4" in failure.message


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (3, "returned a value of type int, not a kernel"),
        (4, "no kernel for 4"),
        (5, "no parameter for a pipeline depth"),
        (6, "'tir'"),
    ],
)
def test_mistakes(found, index, message):
    """What is wrong with a request is said of that request alone."""
    assert message in found[index].result.failure.message


@pytest.fixture(scope="module")
def several():
    """The kernels of a module of several, by how they were named."""
    names = ("Several", "Several.second", "several.second_kernel_1", "Several.secnd",
             "several.second_kernel_7", "Several.second.main", "nobody.second",
             "Holder.misspelt", "Holder.inner")  # fmt: skip
    return dict(zip(names, lower(*(request(n, path=USERS) for n in names)), strict=True))


@pytest.mark.parametrize(
    ("name", "function", "grid", "threads", "tensors"),
    [
        ("Several", "first_kernel", 8, 128, ["A_ptr", "B_ptr"]),
        ("Several.second", "second_kernel", 4, 256, ["X_ptr", "Y_ptr"]),
        ("several.second_kernel_1", "second_kernel_1", 2, 512, ["X_ptr", "Y_ptr"]),
    ],
)
def test_one_of_several_kernels(several, name, function, grid, threads, tensors):
    """The facts are of the one that was named, by its author's name or the device's; else first."""
    result = several[name].result
    launch = result.facts.launch
    assert result.variant.kernel == f"users.py:{name}"
    assert (launch.function, launch.grid[0], launch.block[0]) == (function, grid, threads)
    assert [tensor.name for tensor in launch.tensors] == tensors
    (said,) = [d.message for d in result.facts.diagnostics if d.code == "more-than-one-kernel"]
    assert said.startswith(f"facts are those of {function}; the module also has ")
    assert said.endswith(f"; users.py:{name.partition('.')[0]}.NAME names another")


def test_arrays_of_one_name_in_two_kernels(several):
    """Each has its own: they are not followed as one."""
    shapes = [
        several[n].result.facts.shared_buffers[0].shape for n in ("Several", "Several.second")
    ]
    assert shapes == [(128,), (256,)]


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("Several.secnd", "no kernel `secnd` in the module", "did you mean `second`? in it are: "),
        ("several.second_kernel_7", "no kernel `second_kernel_7`", "first_kernel, second_kernel, "),
        ("Several.second.main", "users.py has no `Several.second.main`", "in it are: Scheduled, "),
        ("nobody.second", "users.py has no `nobody.second`", "in it are: Scheduled, Several, "),
        ("Holder.misspelt", "users.py has no `Holder.misspelt`", "in it are: Scheduled, "),
    ],
)
def test_none_of_several_kernels(several, name, message, hint):
    """What there is instead is said: in the file, in the module, on the device."""
    failure = several[name].result.failure
    assert message in failure.message
    assert hint in failure.detail


def test_a_kernel_in_a_class(several):
    """What a plain class has is found by its name."""
    assert several["Holder.inner"].result.facts.launch.grid == (8, 1, 1)


def test_an_unknown_builtin():
    """The nearest name is offered; where every request is wrong, it is the caller's mistake."""
    with pytest.raises(UsageError, match="no built-in kernel `gem`") as caught:
        lower(request("gem", 2))
    assert "did you mean `gemm`?" in caught.value.hint


def test_what_explain_shows():
    """The script before the first pass, every pass, the script after the last, and the CUDA."""
    (found,) = lower(request("gemm", 3))
    texts = snapshots.unpack(found.snapshots)
    runs = found.result.facts.lowering.passes
    first, last = runs[0], runs[-1]
    assert first.name == "tirx.BindTarget"
    assert "software_pipeline_stage" in texts[first.snapshot]
    assert "async_wait_inflight_count" in texts[last.snapshot]
    (inject,) = (run for run in runs if run.name == "s_tir.InjectSoftwarePipeline")
    assert inject.changed
    assert "software_pipeline_stage" not in texts[inject.snapshot]
    assert "tvm_builtin_ptx_cp_async_wait_group_2();" in found.kernel_cu
