"""Is an option that names a place refused where it names none?"""

import argparse

import pytest

from stagebench.cli import VERBS, build_parser

PLACES = ("DIR", "FILE", "RUN", "FOLDER")


def parsers(parser):
    """A parser and those of its own verbs."""
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for child in action.choices.values():
                yield from parsers(child)


def options():
    """Every option of every verb whose value is a place, by what it is shown to take."""
    for verb in VERBS:
        (top,) = (a for a in build_parser(verb)._actions if a.dest == "verb")
        for parser in parsers(top.choices[verb]):
            for action in parser._actions:
                if action.option_strings and str(action.metavar).split(".")[0] in PLACES:
                    yield pytest.param(action, id=f"{verb} {action.option_strings[-1]}")


@pytest.mark.parametrize("action", list(options()))
@pytest.mark.parametrize("empty", ["", " "])
def test_an_empty_name_is_no_place(action, empty):
    """It would be the current folder: a variable that is not set must not write there."""
    with pytest.raises(argparse.ArgumentTypeError, match="an empty name"):
        action.type(empty)
    assert str(action.type("x.json")) == "x.json"


def test_the_option_is_named(capsys):
    """As every wrong value of an option is told."""
    with pytest.raises(SystemExit) as ended:
        build_parser("profile").parse_args(["profile", "b", "-o", ""])
    assert ended.value.code == 2
    assert "argument -o/--out: an empty name (the current folder is .)" in capsys.readouterr().err
