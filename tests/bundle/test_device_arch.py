"""Which code does not run on the device that was named?"""

import pytest

from stagebench.bundle import device_arch
from stagebench.bundle.device_arch import check_device_arch, device_notes
from stagebench.errors import UsageError


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("banana", "such as"), ("sm_9O", "did you mean sm_90?"), ("", "such as"),
        ("sm_9000", "did you mean sm_90"), ("sm_090", "did you mean sm_90"), ("90", "such as"),
    ],
)  # fmt: skip
def test_what_is_no_arch(text, hint):
    """It is refused whatever the variants are."""
    with pytest.raises(UsageError, match=f"--device-arch {text}: no such arch") as raised:
        check_device_arch(text)
    assert hint in raised.value.hint
    for real in ("sm_90", "sm_100a", "sm_88"):  # a device that no table here has
        check_device_arch(real)


@pytest.mark.parametrize("text", ["sm_999", "sm_70", "sm_80a"])
def test_what_nothing_is_assembled_for(text):
    """Written like an arch, but not among those that the assembler lists: they are told."""
    with pytest.raises(UsageError, match=f"--device-arch: ptxas .* for {text} ") as raised:
        check_device_arch(text)
    assert "(it does for sm_75 sm_80 " in raised.value.message
    assert raised.value.hint.startswith("did you mean sm_")


def test_without_an_assembler(monkeypatch):
    """What it would say is not known: the shape of the word alone is checked."""
    monkeypatch.setattr(device_arch, "target_archs", lambda: None)
    check_device_arch("sm_999")
    with pytest.raises(UsageError, match="no such arch"):
        check_device_arch("sm_9999")


@pytest.mark.parametrize(
    ("archs", "device", "said"),
    [
        (["sm_80", "sm_80"], "sm_70", "2 variants of sm_80 are not assembled for the device "
         "(sm_70): sm_80 is newer"),
        (["sm_90a"], "sm_100", "1 variant of sm_90a is not assembled for the device (sm_100): "
         "sm_90a is tied to its own arch, and runs on sm_90 alone"),
        (["sm_100f"], "sm_120", "1 variant of sm_100f is not assembled for the device (sm_120): "
         "sm_100f is tied to the family of sm_100"),
        (["sm_90a", "sm_80"], "sm_90", None),
        (["sm_100f"], "sm_103", None),
        (["sm_90a"], "sm_90a", None),
    ],
)  # fmt: skip
def test_notes(archs, device, said):
    """Newer code and code tied to another arch; sm_90a is Hopper's own."""
    assert device_notes(archs, device) == ([] if said is None else [said])
