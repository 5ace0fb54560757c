"""Does the chart show the depths that count, and the same bytes each time?"""

import sys
from xml.etree import ElementTree

import pytest

from stagebench.errors import MachineError, UsageError
from stagebench.timing.stall_chart import stall_chart
from tests.timing.building import broken, probed_at, stall, timing, without

SWEEP = [
    timing(1, 580, stall(1419), stall(9, cause="slot", role="producer")),
    timing(2, 316, stall(450), stall(300, cause="slot", role="producer")),
    timing(3, 243, stall(120), correct=False),
]


def texts(data):
    root = ElementTree.fromstring(data)  # noqa: S314 - a document of our own
    return [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]


def test_both_panels():
    """Axes with units, one line for each role and cause, the wrong depth named and left out."""
    found = texts(stall_chart(SWEEP, title="gemm"))
    assert "kernel, µs" in found
    assert "waiting, cycles per tile" in found
    assert "num_stages" in found
    assert {"consumer: data", "producer: slot"} <= set(found)
    assert {"gemm", "(output wrong at 3: not shown)"} <= set(found)
    assert "3" not in found


def test_waits_that_can_t_be_trusted_look_so():
    """Perturbed ones are hollow and the legend says why; damaged ones are not drawn at all."""
    good = [timing(depth, 100, stall(100 * depth)) for depth in (1, 2, 3)]
    plain = stall_chart(good, title="gemm")
    assert "hollow: perturbed by the probes" not in texts(plain)
    odd = stall_chart([good[0], probed_at(good[1], 1.3), good[2]], title="gemm")
    assert "hollow: perturbed by the probes" in texts(odd)
    assert odd.count(b"<use") == plain.count(b"<use") + 2  # the depth's, and the legend's
    lost = stall_chart([good[0], broken(good[1]), good[2]], title="gemm")
    assert "(probes damaged at 2: waits not shown)" in texts(lost)
    assert lost.count(b"<use") == plain.count(b"<use") - 1


def test_waits_of_which_nobody_knows_the_cost_are_hollow():
    """Refused builds are told above the chart; a sound line is drawn for none of them."""
    good = [timing(depth, 100, stall(100 * depth)) for depth in (1, 2, 3)]
    plain = stall_chart(good, title="gemm")
    unsure = stall_chart([good[0], without(good[1], "control", "hangs"), good[2]], title="gemm")
    assert "hollow: the probes' cost is not known" in texts(unsure)
    assert "(the control build hangs at 2: waits may be perturbed)" in texts(unsure)
    assert unsure.count(b"<use") == plain.count(b"<use") + 2
    lost = stall_chart([good[0], without(good[1], "probed", "hangs"), good[2]], title="gemm")
    assert "(the probed build hangs at 2: waits not shown)" in texts(lost)
    assert lost.count(b"<use") == plain.count(b"<use") - 1


def test_same_bytes():
    """No date, no random ids."""
    assert stall_chart(SWEEP, title="gemm") == stall_chart(SWEEP, title="gemm")


def test_nothing_to_draw():
    """No time, or no right output: said, no empty chart."""
    with pytest.raises(UsageError, match="no depth has a time"):
        stall_chart([timing(1, None), timing(2, 5.0, correct=False)], title="gemm")


def test_nothing_but_wrong_depths():
    """To measure a wrong kernel again is no advice."""
    with pytest.raises(UsageError) as raised:
        stall_chart([timing(1, 5.0, correct=False)], title="gemm")
    assert raised.value.hint == "output wrong at 1: mend the kernel, then measure it again"


def test_without_matplotlib(monkeypatch):
    """The hint names the extra."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MachineError) as caught:
        stall_chart(SWEEP, title="gemm")
    assert caught.value.hint == "pip install 'stagebench[chart]'"
