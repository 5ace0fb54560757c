"""Does a name or message that holds control characters reach no terminal as such?"""

from stagebench.report.check_formats import render
from stagebench.report.check_view import print_outcome, print_verdict
from tests.gate_formats.building import answer, change, of_variants, variant

EVIL = "a\x1b[2Jb\x07c\x9bd\u202ee\ufefff\ud800g"


def test_control_characters_are_spelt_out(capsys):
    """In the terminal's text, in a log and in a comment."""
    found = of_variants(
        variant("drift", note=EVIL, drifts=[change(EVIL)], answers=[answer(EVIL, error=EVIL)])
    )
    print_verdict(found, plain=True)
    print_outcome(EVIL)
    for text in (capsys.readouterr().out, render(found, "github"), render(found, "markdown")):
        assert not any(char in text for char in "\x1b\x07\x9b\u202e\ufeff\ud800")
        assert "x1b" in text
