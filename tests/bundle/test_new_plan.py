"""What does ``stagebench new plan`` read of a source, and what does it leave to people?"""

import shutil
from pathlib import Path

import pytest

from stagebench.bundle.cuda_params import cuda_params
from stagebench.bundle.plan_file import read_plan
from stagebench.bundle.source_entries import plain_name, source_entries
from stagebench.errors import UsageError
from tests.command_line import stagebench

PLANS = Path(__file__).parent / "plans"
BY_HAND = Path(__file__).parents[2] / "experiments" / "by_hand"
MANY = """
#include <cuda_fp16.h>
// __global__ void commented(int a);
extern "C" __global__ void __launch_bounds__(128, 2) first(half* __restrict__ out, const float *x);
template <typename T>
__global__ void __cluster_dims__(2, 1, 1) second(const T *a, std::array<int, 2> pair,
    unsigned long long n, const __grid_constant__ CUtensorMap map, __nv_bfloat16 *b /* , int c */) {
}
extern "C" __global__ void __launch_bounds__(128, 2) first(half* __restrict__ out, const float *x) {
  extern __shared__ char s[];
}
__global__ void none(void) {}
"""


def test_kernels_of_cuda(tmp_path):
    """Definitions alone, attributes skipped, what is no plain type left open."""
    (tmp_path / "many.cu").write_text(MANY)
    second, first, none = source_entries(tmp_path / "many.cu")
    assert [(one.name, one.threads, one.dynamic_smem) for one in (second, first, none)] == [
        ("second", None, True), ("first", 128, True), ("none", None, True),
    ]  # fmt: skip
    assert [(p.name, p.kind, p.dtype, p.read_only) for p in first.params] == [
        ("out", "tensor", "float16", False), ("x", "tensor", "float32", True),
    ]  # fmt: skip
    assert [(p.name, p.kind, p.dtype) for p in second.params] == [
        ("a", "tensor", None), ("pair", "scalar", None), ("n", "scalar", "uint64"),
        ("map", "descriptor", None), ("b", "tensor", "bfloat16"),
    ]  # fmt: skip
    assert none.params == ()


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("float (*y)[4]", ("y", "tensor", "float32", False)),
        ("const half (* __restrict__ z)[8][2]", ("z", "tensor", "float16", True)),
        ("float x[]", ("x", "tensor", "float32", False)),
        ("const int w[4][2]", ("w", "tensor", "int32", True)),
        ("float (*c)", ("c", "tensor", "float32", False)),
        ("float const *b", ("b", "tensor", "float32", True)),
        ("float *const b", ("b", "tensor", "float32", False)),
        ("const float *", ("arg0", "tensor", "float32", True)),
        ("unsigned int", ("arg0", "scalar", "uint32", True)),
        ("std::int32_t k = N<1, 2>::value", ("k", "scalar", "int32", True)),
        ("[[maybe_unused]] long long m", ("m", "scalar", "int64", True)),
        # Near misses: pointers to pointers, what is no pointer to data, what has no plain type
        ("float **p", ("p", "tensor", None, False)),
        ("float *p[4]", ("p", "tensor", None, False)),
        ("float (*p[4])", ("p", "tensor", None, False)),
        ("float *(*p)[4]", ("p", "tensor", None, False)),
        ("void (*f)(int, float)", ("arg0", "scalar", None, True)),
        ("float (&g)[4]", ("g", "scalar", None, True)),
        ("T", ("arg0", "scalar", None, True)),
    ],
)
def test_declarations(written, read):
    """A pointer to arrays, and an array, are tensors; what has no name is called by its place."""
    (one,) = cuda_params(written)
    assert (one.name, one.kind, one.dtype, one.read_only) == read
    assert one.written_as == written


def test_what_is_not_read_is_said(tmp_path):
    """Where nothing is known of a type, a comment says so beside the empty dtype."""
    (tmp_path / "k.cu").write_text("__global__ void k(void (*f)(int), float (*y)[4]) {}\n")
    made = stagebench("new", "plan", "k.cu", cwd=tmp_path)
    assert made.code == 0, made.err
    _, first, second = (tmp_path / "k.toml").read_text().split("[[arguments]]\n")
    assert first.splitlines()[:3] == [
        'name = "arg0"  # void (*f)(int)',
        'dtype = ""',
        "# not a type that is known here: a tensor's has a shape and a role, too; a",
    ]
    assert second.splitlines()[:3] == [
        "name = \"y\"  # float (*y)[4]", "dtype = \"float32\"", "shape = []",
    ]  # fmt: skip


def test_a_place_is_called_as_the_user_did(tmp_path):
    """An absolute path stays one; not in a plan below the folder, which may be committed."""
    (tmp_path / "here").mkdir()
    (tmp_path / "k.cu").write_text("__global__ void k(float *A) {}\n")
    place = tmp_path / "there" / "x.toml"
    words = ("new", "plan", "../k.cu", "-o", str(place))
    made = stagebench(*words, cwd=tmp_path / "here")
    assert made.code == 0, made.err
    assert f"wrote {place}\n" in made.out
    assert f"stagebench bundle {place} -o DIR\n" in made.out
    text = place.read_text()
    assert f"#   stagebench profile {place} " in text
    assert 'source = "../k.cu"' in text
    again = stagebench(*words, cwd=tmp_path / "here")
    assert again.code == 2
    assert f"{place} is there already" in again.err
    place = tmp_path / "here" / "y.toml"
    made = stagebench(*words[:-1], str(place), cwd=tmp_path / "here")
    assert f"wrote {place}\n" in made.out
    assert "#   stagebench profile y.toml " in place.read_text()


def test_which_of_several_kernels_is_asked(tmp_path):
    """The first would be a guess: all are listed, and nothing is written."""
    (tmp_path / "many.cu").write_text(MANY)
    ran = stagebench("new", "plan", "many.cu", cwd=tmp_path)
    assert ran.code == 2
    assert "many.cu has 3 kernels: second, first, none" in ran.err
    assert "--entry second" in ran.err
    assert [path.name for path in tmp_path.iterdir()] == ["many.cu"]


def test_kernels_of_ptx():
    """A parameter of 64 bits may be a pointer; the bound of the block and the target are read."""
    (entry,) = source_entries(PLANS / "add.ptx")
    assert (entry.name, entry.threads, entry.arch) == ("add_kernel", 128, "sm_80")
    assert [(p.name, p.kind, p.dtype) for p in entry.params] == [
        ("arg0", "tensor", None), ("arg1", "tensor", None), ("arg2", "scalar", "float32"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.cpp", b"", "neither .cu nor .ptx"),
        ("a.cu", b"__device__ int f() { return 1; }", "has no kernel"),
        ("a.cu", b"\x7fELF\xff", "is no text"),
        ("a.ptx", b".version 8.0\n.target sm_80\n.address_size 64\n", "has no kernel"),
    ],
)
def test_what_has_no_plan(tmp_path, name, content, message):
    """What is no source, or has no kernel, is refused."""
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UsageError, match=message):
        source_entries(tmp_path / name)


def test_a_plan_that_is_filled_in_is_read(tmp_path):
    """As it is written it names what is missing; filled in, it is the plan written by hand."""
    for file in ("sgemm.cu", "tile.cuh"):
        shutil.copy(BY_HAND / file, tmp_path)
    words = ("--num-stages", "1", "2", "--arch", "sm_80", "-o", "plans/s.toml")
    made = stagebench("new", "plan", "sgemm.cu", *words, cwd=tmp_path)
    assert made.code == 0, made.err
    assert "wrote plans/s_1.toml\nwrote plans/s_2.toml\n" in made.out
    path = tmp_path / "plans" / "s_2.toml"
    with pytest.raises(UsageError, match="missing required field `dynamic_smem_bytes`"):
        read_plan(path)
    text = path.read_text().replace("# dynamic_smem_bytes = ", "dynamic_smem_bytes = 16384")
    path.write_text(text)
    with pytest.raises(UsageError, match=r"grid = \[\]"):
        read_plan(path)
    shapes = iter(("[256, 512]", "[512, 256]", "[256, 256]"))
    values = iter(("256", "512"))
    lines = []
    for line in text.replace("grid = []", "grid = [4, 4]").splitlines():
        filled = f"shape = {next(shapes)}" if line == "shape = []" else line
        filled = f"value = {next(values)}" if filled == "# value = 0" else filled
        lines.append(filled)
    path.write_text("\n".join(lines))
    ours, by_hand = read_plan(path), read_plan(PLANS / "sgemm_2.toml")
    for name in ("entry", "arch", "num_stages", "define", "grid", "block", "arguments"):
        assert getattr(ours, name) == getattr(by_hand, name)
    assert ours.source == "../sgemm.cu"
    again = stagebench("new", "plan", "sgemm.cu", *words, cwd=tmp_path)
    assert again.code == 2
    assert "is there already" in again.err


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("#ifndef STAGES\n#define STAGES 2\n#endif", "define = { STAGES = 3 }"),
        ("#if !defined(N_STAGES)\n#define N_STAGES 2\n#endif", "define = { N_STAGES = 3 }"),
        ("__device__ float slots[NUM_STAGES];", "define = { NUM_STAGES = 3 }"),
        ("#define STAGES 2\n__device__ float s[STAGES];", "# define = { STAGES = 3 }"),
        ("constexpr int STAGES = 2;", "# define = { NUM_STAGES = 3 }"),
        ("template <int STAGES> struct Ring;", "# define = { NUM_STAGES = 3 }"),
        ("// #ifndef STAGES", "# define = { NUM_STAGES = 3 }"),
    ],
)
def test_a_file_defines_its_own_depth(tmp_path, source, line):
    """Where the source takes it from a macro; else it is there to be filled in."""
    (tmp_path / "k.cu").write_text(f"{source}\n__global__ void k(float *A) {{}}\n")
    made = stagebench("new", "plan", "k.cu", "--num-stages", "3", cwd=tmp_path)
    assert made.code == 0, made.err
    assert line in (tmp_path / "k.toml").read_text().splitlines()


def test_a_kernel_is_called_like_its_entry(tmp_path):
    """Two kernels of one file are told apart; mangling is no part of a name."""
    (tmp_path / "many.cu").write_text(MANY)
    for entry in ("first", "second"):
        made = stagebench(
            "new", "plan", "many.cu", "--entry", entry, "-o", f"{entry}.toml", cwd=tmp_path
        )
        assert made.code == 0, made.err
        assert f'kernel = "{entry}"  #' in (tmp_path / f"{entry}.toml").read_text()
    names = ("_Z1kPf", "_ZN2ns3fooIfLi512EEvPf", "add_kernel", "_Z", "_Z99short")
    assert [plain_name(one) for one in names] == ["k", "foo", "add_kernel", "_Z", "_Z99short"]
    assert plain_name("_Z3foo1k") == "foo"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("plan", "no.cu"), "no.cu: No such file"),
        (("plan", "add.ptx", "--num-stages", "1", "2", "1"), "--num-stages: 1 is given twice"),
        (("experiment", "a", "--kernel", "gemm", "--num-stages", "2", "2"), "2 is given twice"),
        (("plan", "add.ptx", "--entry", "sub"), "has no kernel sub"),
        (("plan", "add.ptx", "--kernel", "gemm"), "--kernel is not for a new plan"),
        (("plan", "add.ptx", "-o", "x.json"), "is a .toml file"),
        (("plan", "add.ptx", "--arch", "sm_80", "sm_90"), "a launch plan is for one"),
        (("plan", "add.ptx", "--arch", "sm_70"), "does not assemble for sm_70 (it does for sm_75 "),
        (("plan", "add.ptx", "--arch", "foo"), "unknown arch 'foo'"),
        (("experiment", "a", "--entry", "k", "--kernel", "gemm"), "--entry is not for a new exp"),
        (("experiment", "a"), "--kernel is missing"),
        (("plan", "add.ptx", "--num-stages", "9" * 23), "is no depth from 0 to 1024"),
        (("experiment", "a", "--kernel", "gemm", "--num-stages", "1025"), "no depth from 0 to"),
        (("plan", "add.ptx", "-o", "add.ptx/x.toml"), "can't write --out add.ptx/x.toml: a file"),
    ],
)
def test_wrong_words(tmp_path, words, message):
    """Options of the other kind, and what is not there, are refused; nothing is written."""
    shutil.copy(PLANS / "add.ptx", tmp_path)
    ran = stagebench("new", *words, cwd=tmp_path)
    assert ran.code == 2
    assert message in ran.err
    assert [path.name for path in tmp_path.iterdir()] == ["add.ptx"]
