"""How does a 16 × 16 × 16 product become WMMA calls?  Tensor intrinsics for S-TIR schedules.

Half precision in, single out; B is stored transposed, that is column-major.  Apache TVM has these
among 114 others in ``tvm/s_tir/tensor_intrin/cuda.py``, whose import takes the best part of a
minute: each of its functions is parsed at import.
"""

# The field's own spelling: buffers are upper case, annotations are values.
# ruff: noqa: ANN001, ANN201, ANN202, N806, N812
# mypy: ignore-errors

from tvm.s_tir import TensorIntrin
from tvm.script import tirx as T

_F = 16
_SHAPE = (_F, _F)


def _slot(buffer, stride):
    """Which fragment of a buffer of fragments an offset is in."""
    row, column = buffer.elem_offset // stride, buffer.elem_offset % stride
    return row // _F * (stride // _F) + column // _F


def _copy(dtype, source, target):
    """Describe a copy between two scopes."""

    @T.prim_func(s_tir=True)
    def description(a: T.handle, c: T.handle) -> None:
        A = T.match_buffer(a, _SHAPE, dtype, align=64, offset_factor=_F, scope=source)
        C = T.match_buffer(c, _SHAPE, dtype, align=64, offset_factor=_F, scope=target)
        with T.sblock("root"):
            T.reads(A[0:_F, 0:_F])
            T.writes(C[0:_F, 0:_F])
            for i, j in T.grid(_F, _F):
                with T.sblock("copy"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = A[vi, vj]

    return description


def _load(scope, layout):
    @T.prim_func(s_tir=True)
    def implementation(a: T.handle, c: T.handle) -> None:
        s1 = T.int32()
        s0 = T.int32()
        d1 = T.int32()
        d0 = T.int32()
        A = T.match_buffer(
            a, _SHAPE, "float16", align=64, offset_factor=_F, scope="shared", strides=[s1, s0]
        )
        C = T.match_buffer(
            c, _SHAPE, "float16", align=64, offset_factor=_F, scope=scope, strides=[d1, d0]
        )
        with T.sblock("root"):
            T.reads(A[0:_F, 0:_F])
            T.writes(C[0:_F, 0:_F])
            T.evaluate(
                T.tvm_load_matrix_sync(
                    C.data, _F, _F, _F, _slot(C, d1), A.access_ptr("r"), s1, layout, dtype="handle"
                )
            )

    return _copy("float16", "shared", scope), implementation


def _store():
    scope = "wmma.accumulator"

    @T.prim_func(s_tir=True)
    def implementation(a: T.handle, c: T.handle) -> None:
        s1 = T.int32()
        s0 = T.int32()
        d1 = T.int32()
        d0 = T.int32()
        A = T.match_buffer(
            a, _SHAPE, "float32", align=64, offset_factor=_F, scope=scope, strides=[d1, d0]
        )
        C = T.match_buffer(
            c, _SHAPE, "float32", align=64, offset_factor=_F, scope="global", strides=[s1, s0]
        )
        with T.sblock("root"):
            T.reads(A[0:_F, 0:_F])
            T.writes(C[0:_F, 0:_F])
            T.evaluate(
                T.tvm_store_matrix_sync(
                    A.data, _F, _F, _F, _slot(A, d1), C.access_ptr("w"), s1, "row_major",
                    dtype="handle",
                )
            )  # fmt: skip

    return _copy("float32", scope, "global"), implementation


def _fill():
    scope = "wmma.accumulator"

    @T.prim_func(s_tir=True)
    def description(c: T.handle) -> None:
        C = T.match_buffer(c, _SHAPE, "float32", align=64, offset_factor=_F, scope=scope)
        with T.sblock("root"):
            T.reads()
            T.writes(C[0:_F, 0:_F])
            for i, j in T.grid(_F, _F):
                with T.sblock("init"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = T.float32(0)

    @T.prim_func(s_tir=True)
    def implementation(c: T.handle) -> None:
        d1 = T.int32()
        d0 = T.int32()
        C = T.match_buffer(
            c, _SHAPE, "float32", align=64, offset_factor=_F, scope=scope, strides=[d1, d0]
        )
        with T.sblock("root"):
            T.reads()
            T.writes(C[0:_F, 0:_F])
            T.evaluate(
                T.tvm_fill_fragment(C.data, _F, _F, _F, _slot(C, d1), T.float32(0), dtype="handle")
            )

    return description, implementation


def _multiply():
    half_a, half_b, accumulator = "wmma.matrix_a", "wmma.matrix_b", "wmma.accumulator"

    @T.prim_func(s_tir=True)
    def description(a: T.handle, b: T.handle, c: T.handle) -> None:
        A = T.match_buffer(a, _SHAPE, "float16", align=64, offset_factor=_F, scope=half_a)
        B = T.match_buffer(b, _SHAPE, "float16", align=64, offset_factor=_F, scope=half_b)
        C = T.match_buffer(c, _SHAPE, "float32", align=64, offset_factor=_F, scope=accumulator)
        with T.sblock("root"):
            T.reads(C[0:_F, 0:_F], A[0:_F, 0:_F], B[0:_F, 0:_F])
            T.writes(C[0:_F, 0:_F])
            for i, j, k in T.grid(_F, _F, _F):
                with T.sblock(""):
                    vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                    C[vi, vj] = C[vi, vj] + T.Cast("float32", A[vi, vk]) * T.Cast(
                        "float32", B[vj, vk]
                    )

    @T.prim_func(s_tir=True)
    def implementation(a: T.handle, b: T.handle, c: T.handle) -> None:
        a1 = T.int32()
        a0 = T.int32()
        b1 = T.int32()
        b0 = T.int32()
        c1 = T.int32()
        c0 = T.int32()
        A = T.match_buffer(
            a, _SHAPE, "float16", align=64, offset_factor=_F, scope=half_a, strides=[a1, a0]
        )
        B = T.match_buffer(
            b, _SHAPE, "float16", align=64, offset_factor=_F, scope=half_b, strides=[b1, b0]
        )
        C = T.match_buffer(
            c, _SHAPE, "float32", align=64, offset_factor=_F, scope=accumulator, strides=[c1, c0]
        )
        with T.sblock("root"):
            T.reads(C[0:_F, 0:_F], A[0:_F, 0:_F], B[0:_F, 0:_F])
            T.writes(C[0:_F, 0:_F])
            T.evaluate(
                T.tvm_mma_sync(
                    C.data, _slot(C, c1), A.data, _slot(A, a1), B.data, _slot(B, b1), C.data,
                    _slot(C, c1), dtype="handle",
                )
            )  # fmt: skip

    return description, implementation


def register():
    """Register the five; their names by use."""
    made = {
        "load_a": _load("wmma.matrix_a", "row_major"),
        "load_b": _load("wmma.matrix_b", "col_major"),
        "init": _fill(),
        "compute": _multiply(),
        "store": _store(),
    }
    for use, functions in made.items():
        TensorIntrin.register(f"stagebench_wmma_{use}", *functions, override=True)
    return {use: f"stagebench_wmma_{use}" for use in made}
