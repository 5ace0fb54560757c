"""How does a check look to whatever collects test results?  As JUnit XML, a variant a test case.

An experiment is a suite.  Drift and failed expectations are failures, a variant that fails to lower
now is an error, an absent or unused baseline is a failure where it decides the exit code (4) and
skipped where it does not.  Some case is a failure or an error exactly where the exit code is not 0.

Written by ``junitparser``, which comes with ``stagebench[ci]``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from stagebench.errors import MachineError
from stagebench.model.verdict import ExperimentVerdict, VariantVerdict, Verdict
from stagebench.report.check_blocks import place_words
from stagebench.report.check_findings import answer_lines, minded
from stagebench.report.check_rows import cuda_change, cuda_words, status_words, summary
from stagebench.report.quantities import count

if TYPE_CHECKING:
    from junitparser import TestCase
    from junitparser.junitparser import FinalResult

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 has no way to write (section 2.2, ``Char``)."""
_MOST_LINES = 60
_DECLARATION = '<?xml version="1.0" encoding="utf-8"?>'


def check_junit(verdict: Verdict) -> str:
    """The XML document; `MachineError` where ``junitparser`` is not installed."""
    try:
        from junitparser import Failure, JUnitXml, TestCase, TestSuite
    except ImportError as exc:
        raise MachineError(
            "--format junit needs junitparser, which is not installed here",
            hint="pip install 'stagebench[ci]'",
        ) from exc
    document = JUnitXml("stagebench check")
    red = False
    for experiment in verdict.experiments:
        suite = TestSuite(_clean(experiment.name))
        suite.add_property("against", _clean(verdict.against))
        cases = list(_cases(experiment, verdict))
        red = red or any(not _is_skipped(result) for case in cases for result in case.result)
        suite.add_testcases(cases)
        document.add_testsuite(suite)
    if verdict.exit_code != 0 and not red:
        suite, case = TestSuite("stagebench"), TestCase("check", "stagebench")
        case.result = [_result(Failure, "nothing was compared", summary(verdict))]
        suite.add_testcase(case)
        document.add_testsuite(suite)
    document.update_statistics()  # type: ignore[no-untyped-call]  # so in junitparser 5.0.3
    data: bytes = document.tostring()  # type: ignore[no-untyped-call]  # as above
    return f"{_DECLARATION}\n{data.decode()}\n"


def _is_skipped(result: object) -> bool:
    from junitparser import Skipped

    return isinstance(result, Skipped)


def _cases(experiment: ExperimentVerdict, verdict: Verdict) -> Iterator[TestCase]:
    from junitparser import Failure, TestCase

    for case in experiment.cases:
        for variant in case.variants:
            made = TestCase(_clean(variant.name), _clean(f"{experiment.name}.{case.name}"))
            results = list(_results(variant, verdict))
            if results:
                made.result = results
            change = cuda_change(variant)
            if change is not None:
                made.system_out = _clean(f"{cuda_words([variant.name])}: {change.text}")
            yield made
    for answer in experiment.expectations:
        made = TestCase(_clean(f"expectation: {answer.words}"), _clean(experiment.name))
        said = "\n".join((answer.words, *answer_lines(answer), place_words(answer.place) or ""))
        made.result = [_result(Failure, answer.error or answer.words, said)]
        yield made


def _results(variant: VariantVerdict, verdict: Verdict) -> Iterator[FinalResult]:
    """At most one result: readers of JUnit show the first."""
    from junitparser import Error, Failure, Skipped

    if variant.status == "clean":
        return
    said = (status_words(variant.status, verdict), variant.note or _first(variant))
    message = "; ".join(text for text in said if text)
    kind: type[FinalResult] = Error if variant.status == "failed_now" else Failure
    if not minded(variant.status, verdict):
        kind = Skipped
    yield _result(kind, message, "\n".join(_lines(variant)))


def _first(variant: VariantVerdict) -> str | None:
    """What to say in one line: the first change that is not a consequence, and how many more."""
    if variant.drifts:
        lead = next((c for c in variant.drifts if not c.follows), variant.drifts[0])
        more = len(variant.drifts) - 1
        return f"{lead.text} and {more} more" if more else lead.text
    return next((a.words for a in variant.expectations if a.outcome != "held"), None)


def _lines(variant: VariantVerdict) -> Iterator[str]:
    if variant.note:
        yield variant.note
    for change in variant.drifts[:_MOST_LINES]:
        where = f" · {place_words(change.place)}" if change.place else ""
        yield f"{change.text}\n    {change.path} · {change.why}{where}"
    if len(variant.drifts) > _MOST_LINES:
        yield f"… {count(len(variant.drifts) - _MOST_LINES, 'more change')}"
    for answer in variant.expectations:
        if answer.outcome != "held":
            yield f"expectation failed: {answer.words}"
            yield from (f"    {line}" for line in answer_lines(answer))


def _result(kind: type[FinalResult], message: str, text: str) -> FinalResult:
    result = kind(_clean(message))
    result.text = _clean(text)
    return result


def _clean(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
