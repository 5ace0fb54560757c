"""Does each verb's help open with one whole sentence?"""

import pytest

from stagebench.cli import VERBS, build_parser


@pytest.mark.parametrize("verb", VERBS)
def test_one_mark_ends_it(verb, capsys):
    """A question keeps its own mark; what is none gets a full stop."""
    with pytest.raises(SystemExit):
        build_parser(verb).parse_args([verb, "--help"])
    sentence = capsys.readouterr().out.split("\n\n")[1].strip()
    assert sentence[0].isupper()
    assert sentence[-1] in ".?"
    assert sentence[-2].isalpha() or sentence[-2] in ")`", sentence
