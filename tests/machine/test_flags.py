"""Pass configs that TileLang hands on to nvcc and ptxas reach our assembler too."""

import pytest

from stagebench.machine.flags import flags
from stagebench.model import Compiler, Variant


@pytest.mark.parametrize(
    ("configs", "expected"),
    [
        ({}, ((), ())),
        ({"tl.enable_fast_math": True}, (("--use_fast_math",), ())),
        ({"tl.enable_fast_math": False}, ((), ())),
        ({"tl.ptxas_register_usage_level": 3}, ((), ("--register-usage-level=3",))),
        ({"tl.ptxas_register_usage_level": 0}, ((), ("--register-usage-level=0",))),
        ({"tl.disable_tma_lower": True}, ((), ())),
    ],
)
def test_only_the_two_that_are_flags(configs, expected):
    """A pass config of the lowering is no flag of the assembler."""
    variant = Variant(
        kernel="gemm", params={"num_stages": 2}, arch="sm_80",
        compiler=Compiler(name="tilelang", version="0.1.15"), pass_configs=configs,
        stage_param="num_stages",
    )  # fmt: skip
    assert flags(variant) == expected
