"""Is code of another release told, where it is compiled with the headers that are here?"""

import msgspec
import pytest

from stagebench.assemble.records import NotAssembled
from stagebench.bundle import template_headers
from stagebench.bundle.assembling import Assembling
from stagebench.bundle.build import Candidate
from stagebench.bundle.errors import BundleError
from stagebench.bundle.template_headers import header_notes, other_release
from stagebench.errors import MachineError
from stagebench.model import Compiler
from tests.bundle.building import result, variant

CUDA = "#include <tl_templates/cuda/of_that_release.h>\n__global__ void copy_kernel() {}\n"


@pytest.fixture(autouse=True)
def _here(monkeypatch):
    monkeypatch.setattr(template_headers, "_installed", lambda: "0.1.15")


def candidate(version, *, name="tilelang", text=CUDA, **more):
    of = msgspec.structs.replace(variant(1), compiler=Compiler(name=name, version=version))
    return Candidate(result(of), text, **more)


@pytest.mark.parametrize(
    ("one", "release"),
    [
        (candidate("0.1.9"), "0.1.9"),
        (candidate("0.1.15"), None),
        (candidate("0.1.9", ptx="made beside it"), None),
        (candidate("0.1.9", text="__global__ void copy_kernel() {}"), None),
        (candidate("0.27.0", name="tvm"), None),
    ],
)
def test_whose_headers(one, release):
    """Only CUDA that includes templates, of another release, and not compiled yet."""
    assert other_release(one) == release


def test_it_is_told_before():
    """Even where it compiles: it may be another kernel."""
    (note,) = header_notes([candidate("0.1.9"), candidate("0.1.15"), candidate("0.1.9")])
    assert note.startswith(
        "2 variants of tilelang 0.1.9: compiled here, with the headers of 0.1.15"
    )
    assert "--machine" in note


def test_a_header_that_is_not_here():
    """The hint is the sweep that assembles beside its own release, and not a sweep as such."""
    try:
        source = Assembling(print)
    except MachineError as exc:
        pytest.skip(exc.message)
    with source:
        for version, hint in (("0.1.9", "--machine"), ("0.1.15", None)):
            with pytest.raises(BundleError, match="does not assemble") as raised:
                source.submit(candidate(version), "sm_90a")()
            assert (raised.value.hint is None) if hint is None else (hint in raised.value.hint)


def test_a_lost_process_is_no_header(monkeypatch):
    """What else fails says its own first line."""
    lost = NotAssembled(
        step="cuda", message="NVRTC took longer than 1 s", cuda_line=None, ptx_line=None, log="",
        ptx=None, lasting=False,
    )  # fmt: skip
    try:
        source = Assembling(print)
    except MachineError as exc:
        pytest.skip(exc.message)
    with source:
        monkeypatch.setattr(source.assembler, "submit", lambda *_, **__: Done(lost))
        with pytest.raises(BundleError, match="it does not assemble: NVRTC took longer"):
            source.submit(candidate("0.1.15"), "sm_90a")()


class Done:
    def __init__(self, what):
        self.what = what

    def result(self):
        return self.what
