"""With which exit code does `profile` end where the kernel is right, and its probes are not?"""

import pytest

from stagebench.gpu.profile_file import read_profile
from stagebench.probe.audit_records import finding
from tests.bundle.building import bundle, parts
from tests.gpu.test_execution import PROBED
from tests.gpu.test_profile_again import _fake_device, child, profiled

__all__ = ["_fake_device", "child"]

FAILING = {**PROBED, "cubins": {**PROBED["cubins"], "control": b"fake fault"}}
ANOTHER = {**PROBED, "audit": (finding("spills", "registers are spilled: 0 → 8 bytes"),)}


@pytest.mark.parametrize(
    ("of", "words", "code"),
    [(PROBED, (), 0), (FAILING, (), 3), (FAILING, ("--no-probes",), 0), (ANOTHER, (), 0)],
)
def test_a_build_that_was_asked_for(tmp_path, of, words, code):
    """Its failure is one, unless it was not asked for; the kernel's verdict and time stand."""
    assert (
        profiled(bundle(tmp_path / "b", parts(0), parts(1, **of)), tmp_path / "out", *words) == code
    )
    one = read_profile(tmp_path / "out").variants[1]
    assert one.correctness.verdict == "correct"
    assert one.builds[0].time.runs == 5
