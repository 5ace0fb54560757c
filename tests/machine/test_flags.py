"""Flags that a kernel hands on to nvcc and ptxas reach our assembler too, or are told."""

import msgspec
import pytest

from stagebench.machine.flags import Flags, flags, not_applied
from stagebench.model import Diagnostic, Evidence
from tests.dumping import building as dumps


def result(configs=None, own=()):
    """A variant that asks for these."""
    plain = dumps.lowered()
    note = Diagnostic(
        severity="note", code="compile-flags-kept", message="the kernel asks for …",
        evidence=tuple(Evidence(artifact="source", text=one) for one in own),
    )  # fmt: skip
    other = Diagnostic(
        severity="note", code="literal-depth-kept", message="…",
        evidence=(Evidence(artifact="source", text="--use_fast_math"),),
    )  # fmt: skip
    facts = msgspec.structs.replace(plain.facts, diagnostics=(other, note) if own else (other,))
    variant = msgspec.structs.replace(plain.variant, pass_configs=configs or {})
    return msgspec.structs.replace(plain, variant=variant, facts=facts)


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
    assert flags(result(configs), nvcc=False) == Flags(*expected, ())


@pytest.mark.parametrize(
    ("own", "cuda", "ptxas", "left_out"),
    [
        (["-DTILE=64", "-D", "WIDE"], ("-DTILE=64", "-D", "WIDE"), (), ()),
        (["--use_fast_math -ftz=true"], ("--use_fast_math", "-ftz=true"), (), ()),
        (["-Xptxas", "-O1,-v", "--ptxas-options=-dlcm=cg"], (), ("-O1", "-dlcm=cg"), ()),
        (["--maxrregcount=64"], (), ("--maxrregcount=64",), ()),
        (["-maxrregcount", "32"], (), ("--maxrregcount=32",), ()),
        (["-O3", "-lineinfo", "-std=c++20"], (), (), ()),
        (["--expt-relaxed-constexpr"], (), (), ("--expt-relaxed-constexpr",)),
        (["-Xcudafe", "--diag_suppress=1"], (), (), ("-Xcudafe --diag_suppress=1",)),
        (["-std=c++17", "-arch=sm_80", "-G"], (), (), ("-std=c++17", "-arch=sm_80", "-G")),
        (["-Xptxas"], (), (), ()),
    ],
)
def test_a_kernels_own(own, cuda, ptxas, left_out):
    """To NVRTC what it has, to ptxas what is its; the rest is left out by name."""
    assert flags(result(own=own), nvcc=False) == Flags(cuda, ptxas, left_out)


def test_nvcc_takes_more():
    """All but what we choose ourselves; what is for ptxas still goes to ptxas."""
    own = ["--expt-relaxed-constexpr", "-Xcudafe --diag_suppress=1", "-arch=sm_80", "-Xptxas -O1"]
    assert flags(result(own=own), nvcc=True) == Flags(
        ("--expt-relaxed-constexpr", "-Xcudafe", "--diag_suppress=1"), ("-O1",), ("-arch=sm_80",)
    )


def test_a_flag_is_given_once():
    """A pass config and a flag may say the same."""
    both = result({"tl.enable_fast_math": True}, ["--use_fast_math"])
    assert flags(both, nvcc=True).cuda == ("--use_fast_math",)


def test_what_is_not_applied_is_a_warning():
    """With the flags, and what would take them; nothing where all are applied."""
    found = flags(result(own=["--expt-relaxed-constexpr"]), nvcc=False)
    note = not_applied(found, nvcc=False)
    assert (note.severity, note.code) == ("warning", "compile-flags-not-applied")
    assert "--expt-relaxed-constexpr (--assembler nvcc" in note.message
    assert not_applied(flags(result(own=["-DX"]), nvcc=False), nvcc=False) is None
