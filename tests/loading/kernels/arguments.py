"""Parameters of every kind that a value from the command line may meet."""

# Written as users write kernels, not as we write Python.
# ruff: noqa: ARG001, F821, N803, N812, PLR0917, UP007, UP045

from typing import Literal, Optional, Union

import tilelang
import tilelang.language as T
import torch
from tiny import build


@tilelang.jit
def typed(
    N: int = 256,
    factor: float = 1.0,
    flag: bool = False,
    mode: str = "fast",
    shape: tuple = (1, 2),
    layout: Literal["nt", "nn"] = "nt",
    limit: Optional[int] = None,
    either: Union[int, str] = 1,
    num_stages: int = 2,
):
    return build(N, 64, num_stages)


def quoted(N: "int", num_stages: "int" = 2, odd: "no_such_name" = None):
    return build(N, 64, num_stages)


def tilelang_dtype(N=256, dtype=T.float16, num_stages=2):
    assert dtype.bits in (8, 16, 32)
    return build(N, 64, num_stages, dtype)


def bare_dtype(dtype, N=256, num_stages=2):
    assert dtype.bits in (8, 16, 32)
    return build(N, 64, num_stages, dtype)


def torch_dtype(N=256, dtype: torch.dtype = torch.float16, num_stages=2):
    assert isinstance(dtype, torch.dtype)
    return build(N, 64, num_stages, T.dtype(dtype))


def text_dtype(N=256, dtype: str = "float16", num_stages=2):
    assert type(dtype) is str
    return build(N, 64, num_stages, dtype)


def sizes(blocks=[64, 32], names={"a": 1}, call=max, num_stages=2):  # noqa: B006
    return build(256, blocks[0], num_stages)


def raising(N: int, num_stages: int = 2):
    raise ZeroDivisionError(f"no kernel for {N}")
