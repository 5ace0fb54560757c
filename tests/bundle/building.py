"""Hand-built bundles: a kernel that copies A to C, at some depths, as cubins that a fake runs."""

import msgspec

from stagebench.bundle.parts import VariantParts
from stagebench.bundle.write import write_bundle
from stagebench.model import (
    Compiler,
    Launch,
    LaunchParam,
    LaunchTensor,
    TmaDescriptor,
    Variant,
    VariantResult,
)
from tests.dumping import building as dumps

ELEMENTS = 256


def variant(depth, *, arch="sm_90a", kernel="k.py:copy", **params):
    return Variant(
        kernel=kernel,
        params={**params, "num_stages": depth},
        arch=arch,
        compiler=Compiler(name="tilelang", version="0.1.15"),
        pass_configs={},
    )


def tensor(name, *, shape=(ELEMENTS,), dtype="float16", read=False, written=False, strides=None):
    return LaunchTensor(
        name=name, dtype=dtype, shape=shape, strides=strides, read=read, written=written
    )


A = tensor("A", read=True)
C = tensor("C", written=True)


def descriptor(**changes):
    plain = TmaDescriptor(
        name="A_desc", kind="tiled", tensor="A", data_type=6, rank=2,
        global_shape=(512, 256), global_strides_bytes=(2, 1024), box=(64, 128),
        element_strides=(1, 1), interleave=0, swizzle=3, l2_promotion=2, oob_fill=0,
        fields=(512, 256, 2, 1024, 64, 128, 1, 1, 0, 3, 2, 0),
    )  # fmt: skip
    return msgspec.structs.replace(plain, **changes)


def launch(**changes):
    plain = Launch(
        function="copy_kernel",
        grid=(8, 4, 1),
        block=(128, 1, 1),
        cluster=None,
        dynamic_smem_bytes=0,
        params=(
            LaunchParam(name="A", kind="tensor", dtype="float16"),
            LaunchParam(name="C", kind="tensor", dtype="float16"),
        ),
        tma_descriptors=(),
        tensors=(A, C),
    )
    return msgspec.structs.replace(plain, **changes)


def result(of, how=None):
    facts = msgspec.structs.replace(dumps.lowered().facts, launch=how or launch())
    return VariantResult(variant=of, outcome="lowered", failure=None, facts=facts)


def parts(depth, behaviour="copy", *, how=None, arch="sm_90a", cubin_arch="sm_90a", **more):
    """A variant whose cubin says what the fake driver does when it is launched."""
    cubins = {"base": f"fake {behaviour}".encode(), **more.pop("cubins", {})}
    of = variant(depth, arch=arch, **more.pop("params", {}))
    return VariantParts(result=result(of, how), cubins=cubins, cubin_arch=cubin_arch, **more)


def bundle(path, *several, **more):
    write_bundle(path, several, **more)
    return path


def name(depth, arch="sm_90a"):
    """The id of a variant of `variant`."""
    return f"k.copy/{arch}/num_stages={depth}"


def complain(message):
    """In the place of a warning, where there must be none."""
    raise AssertionError(message)
