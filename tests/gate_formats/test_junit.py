"""Do test reporters read a check as it is meant?"""

import xml.etree.ElementTree as ET

import pytest
from junitparser import Error, Failure, JUnitXml, Skipped

from stagebench.report.check_junit import check_junit
from tests.gate_formats.building import (
    EVERY_STATUS,
    answer,
    change,
    experiment,
    of_variants,
    variant,
    verdict,
)


def read(found):
    """Every test case, as junitparser reads it back."""
    return [case for suite in JUnitXml.fromstring(check_junit(found).encode()) for case in suite]


def kinds(found):
    return [type(result) for case in read(found) for result in case.result]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("clean", []),
        ("drift", [Failure]),
        ("failed_now", [Error]),
        ("lowers_now", [Failure]),
        ("not_comparable", [Failure]),
        ("missing_baseline", [Failure]),
        ("unused_baseline", [Failure]),
        ("expectation_failed", [Failure]),
        ("expectation that nobody answers", [Failure]),
        ("missing, allowed", [Skipped]),
        ("nothing compared", [Failure]),
        ("no variant", [Failure]),
    ],
)
def test_results(name, expected):
    """Each way to end is the result that a reporter should count."""
    assert kinds(EVERY_STATUS[name]) == expected


@pytest.mark.parametrize("name", EVERY_STATUS)
def test_red_exactly_where_the_exit_code_is_not_0(name):
    """A reporter that counts failures and errors agrees with the exit code."""
    found = EVERY_STATUS[name]
    red = any(kind is not Skipped for kind in kinds(found))
    assert red == (found.exit_code != 0)


def test_a_missing_baseline_beside_a_drift_is_skipped():
    """Where drift decides the exit code, what has no baseline is not counted as a failure."""
    found = of_variants(
        variant("drift", drifts=[change()]), variant("missing_baseline", "gemm/sm_80/x")
    )
    assert kinds(found) == [Failure, Skipped]


def test_a_failure_says_what_changed():
    """The message is the first change that is no consequence; the text has all of them."""
    drifts = [change("offset 0 → 8", "x", follows=True), change(), change("third", "y")]
    (case,) = read(of_variants(variant("drift", drifts=drifts)))
    (result,) = case.result
    assert case.classname == "e.gemm"
    assert case.name == "gemm/sm_90a/num_stages=2"
    assert result.message == "drift; A_shared versions 2 → 3 and 2 more"
    assert "dumps/e/gemm/sm_90a/num_stages=2/facts.json:51" in result.text
    assert "offset 0 → 8" in result.text


def test_totals():
    """The counts of suite and document are those of their cases."""
    found = verdict(
        experiment(variant(), variant("failed_now", "b")),
        experiment(variant("drift", drifts=[change()]), name="f", answers=[answer()]),
    )
    document = JUnitXml.fromstring(check_junit(found).encode())
    assert (document.tests, document.failures, document.errors) == (4, 2, 1)
    assert [suite.name for suite in document] == ["e", "f"]


def test_any_text_is_xml():
    """What XML can't hold is replaced, the rest comes back as it was."""
    text = check_junit(EVERY_STATUS["text that is code elsewhere"])
    ET.fromstring(text)  # noqa: S314 - our own text
    (case,) = read(EVERY_STATUS["text that is code elsewhere"])
    assert "<img src=x>" in case.result[0].text
    assert "\x00" not in text
