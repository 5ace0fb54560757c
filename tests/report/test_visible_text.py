"""Is what a terminal would obey spelt out wherever anyone's text is shown, and nothing else?"""

import io

import pytest
from rich.text import Text

from stagebench.cli import main
from stagebench.commands.warning import warn
from stagebench.model import Failure
from stagebench.report.console import harmless, open_console
from stagebench.report.failure_words import failure_words
from stagebench.visible_text import visible

EVIL = "\x1b[31mred\x1b[0m \u202e bidi \ud800"
SHOWN = r"\x1b[31mred\x1b[0m \u202e bidi \ud800"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (EVIL, SHOWN),
        ("a\r\n\tb\x7f\x9b", r"a\x0d\x0a\x09b\x7f\x9b"),
        ("\u2066\ufeff\u2028\U000e0001", r"\u2066\ufeff\u2028\U000e0001"),
        ("größer · 3×4 – ✗ 深さ شـب می\u200cشود \U0001f468\u200d\U0001f469",) * 2,
    ],
)
def test_each_kind_of_character(text, shown):
    """Controls, formats, separators and halves; letters and what joins them stay."""
    assert visible(text) == shown


def test_what_lays_out_a_text_can_stay():
    """The rest does not."""
    assert visible("a\n\x1bb", keep="\n") == "a\n\\x1bb"


def test_in_a_failure_and_on_a_console():
    """Where words are made and, whoever made them, where they are printed; styles do not move."""
    failure = Failure(kind="compile_error", message=f"ValueError: {EVIL}", pass_name=EVIL)
    assert failure_words(failure) == f"compile error in {SHOWN}: ValueError: {SHOWN}"
    text = Text.assemble((EVIL, "bold"), " after\n", ("green", "green"))
    file = io.StringIO()
    open_console(file).print(text, soft_wrap=True)
    open_console(file).print(EVIL, soft_wrap=True)
    assert file.getvalue() == f"{SHOWN} after\ngreen\n{SHOWN}\n"
    assert _spans(harmless(text)) == [(SHOWN, "bold"), ("green", "green")]


def _spans(text):
    """Each styled part of a text."""
    parts = {}
    for span in text.spans:
        parts.setdefault(str(span.style), []).append(text.plain[span.start : span.end])
    return [("".join(found), style) for style, found in parts.items()]


def test_in_errors_and_warnings(capsys):
    """An argument is anyone's text too."""
    assert main(["explain", "no\x1b[31m\u202e"]) == 2
    warn(EVIL)
    said = capsys.readouterr().err
    assert r"no\x1b[31m\u202e" in said
    assert f"stagebench: {SHOWN}\n" in said
    assert not set(said) & set(EVIL) - set(SHOWN)
