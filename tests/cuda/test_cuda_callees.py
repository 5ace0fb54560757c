"""Does the table know every function that the installed compiler can print?"""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from stagebench.facts.cuda_callees import PLAIN_METHODS, SYNC, is_plain

pytestmark = pytest.mark.tilelang

# Printed by codegen_cuda.cc, and no function: types, enumerators, attributes, prefixes that are
# completed at run time (each completion is in the table).
NOT_CALLED = {
    "tl::", "tl::DataType::", "tl::CacheHintSm90::", "tl::CacheHintSm100::", "tl::GmmaDescriptor",
    "tl::Tcgen05InstrDescriptor", "tl::Tcgen05SMemDescriptor", "tl::ptx_ldmatrix_x",
    "tl::ptx_stmatrix_", "tl::tcgen05_ld_", "tl::tcgen05_st_",
}  # fmt: skip


@pytest.fixture(scope="module")
def code_generator():
    spec = find_spec("tilelang")
    if spec is None or spec.origin is None:
        pytest.skip("TileLang is not installed")
    return Path(spec.origin).parent / "src" / "cuda" / "codegen" / "codegen_cuda.cc"


def printed(code_generator, pattern):
    source = code_generator.read_text()
    literals = re.sub(r'"\s*\n\s*"', "", source)
    found = set()
    for literal in re.findall(r'"((?:[^"\\\n]|\\.)*)"', literals):
        found.update(re.findall(pattern, literal))
    return found


def test_every_tl_name_of_the_code_generator_is_in_a_table(code_generator):
    """A new release that prints a new ``tl::`` function fails here, not in a user's counts."""
    names = printed(code_generator, r"\btl::(?:\w|::)*")
    names = {name for name in names if not name.startswith(("tl::DataType::", "tl::SM120Mma"))}
    assert {"tl::cp_async_commit", "tl::tma_store_wait"} <= names, "the pattern found nothing"
    unknown = {name for name in names - NOT_CALLED if name not in SYNC and not is_plain(name)}
    # Attribute keys and error messages spell ops with a dot (`tl.`); these two are in messages.
    assert unknown <= {"tl::arrive_barrier_expect_tx"}


def test_every_cuda_builtin_of_the_code_generator_is_in_a_table(code_generator):
    """The same for what it calls by its CUDA name."""
    names = printed(code_generator, r"(?<![\w:.])(__[a-z]\w*|cuda[A-Z]\w*|Atomic\w+|curand\w*)\(")
    assert {"__syncthreads", "AtomicAdd"} <= names, "the pattern found nothing"
    names -= {"__launch_bounds__", "__align__", "__volatile__", "__asm__"}
    assert {name for name in names if name not in SYNC and not is_plain(name)} == set()


def test_no_name_is_both(code_generator):
    """A name is a site or plain, never both, except what does one and hides the other."""
    assert code_generator.is_file()
    assert {name for name in SYNC if is_plain(name)} == {"tl::tma_store_cluster"}
    assert not PLAIN_METHODS & {"init", "wait", "arrive", "sync"}
