"""Is the log what the standard says, for whatever a check can end in?

``data/sarif-schema-2.1.0.json`` is the schema of OASIS (SARIF 2.1.0 plus errata 01), unchanged.
"""

import json
from pathlib import Path

import fastjsonschema
import pytest

from stagebench.model.verdict import Place
from stagebench.report.check_sarif import MOST_RESULTS, check_sarif
from tests.gate_formats.building import EVERY_STATUS, change, of_variants, variant

SCHEMA = Path(__file__).parent / "data" / "sarif-schema-2.1.0.json"


@pytest.fixture(scope="module")
def validate():
    """The official schema as a function that raises."""
    return fastjsonschema.compile(json.loads(SCHEMA.read_text()), use_default=False)


@pytest.mark.parametrize("name", EVERY_STATUS)
def test_valid(validate, name):
    """Every log validates, and has an error exactly where the exit code is not 0."""
    found = EVERY_STATUS[name]
    log = json.loads(check_sarif(found))
    validate(log)
    (run,) = log["runs"]
    errors = [result for result in run["results"] if result["level"] == "error"]
    assert bool(errors) == (found.exit_code != 0)
    (invocation,) = run["invocations"]
    assert (invocation["executionSuccessful"], invocation["exitCode"]) == (True, found.exit_code)
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]


def test_the_schema_is_strict(validate):
    """The validator that the others rely on does refuse: a level, a property, a type."""
    for break_it in (
        lambda run: run["results"][0].update(level="fatal"),
        lambda run: run["results"][0].update(rule="x"),
        lambda run: run["tool"]["driver"].pop("name"),
    ):
        log = json.loads(check_sarif(EVERY_STATUS["drift"]))
        break_it(log["runs"][0])
        with pytest.raises(fastjsonschema.JsonSchemaValueException):
            validate(log)


def test_a_drift():
    """Rule, message and place of a changed fact."""
    (result,) = json.loads(check_sarif(EVERY_STATUS["drift"]))["runs"][0]["results"]
    assert result["ruleId"] == "stagebench/drift"
    assert result["message"]["text"] == "A_shared versions 2 → 3\nin gemm/sm_90a/num_stages=2"
    assert result["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {
                    "uri": "dumps/e/gemm/sm_90a/num_stages%3D2/facts.json",
                    "uriBaseId": "%SRCROOT%",
                },
                "region": {"startLine": 51},
            }
        }
    ]
    assert result["properties"]["fact"] == "shared_buffers[A_shared].num_versions"


def test_what_github_would_refuse_is_counted(validate):
    """No more results than GitHub shows, the others counted in a notification."""
    drifts = [
        change(f"fact {number} changed", f"x[{number}]") for number in range(MOST_RESULTS + 7)
    ]
    log = json.loads(check_sarif(of_variants(variant("drift", drifts=drifts))))
    validate(log)
    (run,) = log["runs"]
    assert len(run["results"]) == MOST_RESULTS
    (told,) = run["invocations"][0]["toolExecutionNotifications"]
    assert told["message"]["text"].startswith("7 more results left out")


def test_fingerprints_tell_findings_apart_and_outlive_values():
    """The same fact of the same variants is the same finding, whatever it is now."""

    def fingerprint(found):
        (result,) = json.loads(check_sarif(found))["runs"][0]["results"]
        return result["partialFingerprints"]

    two, three, other = (
        of_variants(variant("drift", drifts=[change(text, path)]))
        for text, path in (("1 → 2", "x"), ("1 → 3", "x"), ("1 → 2", "y"))
    )
    assert fingerprint(two) == fingerprint(three) != fingerprint(other)


def test_a_place_without_a_line_has_no_region():
    """A file as a whole is a place too."""
    found = of_variants(variant("drift", drifts=[change(place=Place(file="a b.json", line=None))]))
    (result,) = json.loads(check_sarif(found))["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "a%20b.json", "uriBaseId": "%SRCROOT%"}
    }
