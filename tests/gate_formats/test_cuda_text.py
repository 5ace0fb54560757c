"""Is a change that only the CUDA text shows told in every format, without being held?"""

import msgspec
import pytest

from stagebench.report.check_formats import FORMATS, render
from stagebench.report.check_view import print_verdict
from tests.gate_formats.building import change, of_variants, variant

TEXT = change("kernel.cu: 1 lines became 2", "kernel_cu", group="cuda_text", severity="note")
SAID = "the CUDA text of 2 variants changed"


def changed(name, **fields):
    return msgspec.structs.replace(variant(name=name), allowed=(TEXT,), **fields)


def found():
    names = ("gemm/sm_90a/num_stages=2", "gemm/sm_90a/num_stages=3")
    return of_variants(*map(changed, names), variant(name="gemm/sm_80/x"))


def test_every_format_says_which(capsys):
    """The number, the variants, and that it is not judged: exit 0."""
    assert found().exit_code == 0
    print_verdict(found(), plain=True)
    said = capsys.readouterr().out
    for text in (said, render(found(), "github"), render(found(), "sarif")):
        assert f"{SAID} (reported, not judged)" in text
        assert "num_stages=2, 3" in text
    assert "more changes are allowed" not in said
    assert "::notice file=" in render(found(), "github")
    assert f"{SAID} (reported, not judged)" in render(found(), "markdown")
    assert render(found(), "junit").count("the CUDA text of 1 variant changed") == 2


@pytest.mark.parametrize("name", FORMATS)
def test_not_beside_drift_or_where_it_is_ignored(name):
    """A changed fact changes the text too."""
    ignored = msgspec.structs.replace(
        TEXT, rule=msgspec.structs.replace(TEXT.rule, action="ignore")
    )
    drift = changed("gemm/a", status="drift", drifts=(change(),))
    quiet = msgspec.structs.replace(changed("gemm/b"), allowed=(ignored,))
    assert "CUDA text of" not in render(of_variants(drift, quiet), name)
