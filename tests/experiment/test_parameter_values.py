"""Is ``NAME=V1,V2`` read as it is meant?"""

import pytest

from stagebench.errors import UsageError
from stagebench.experiment.parameter_values import parse_assignments, parse_value


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("64", 64),
        ("-1", -1),
        ("+1", 1),
        ("0x10", 16),
        ("1_000", 1000),
        ("1e3", 1000.0),
        ("0.5", 0.5),
        ("true", True),
        ("FALSE", False),
        ("None", None),
        ("none", None),
        ("float16", "float16"),
        ("'1'", "1"),
        ('"a b"', "a b"),
        ("''", ""),
        (" 64 ", 64),
        ("(64, 64)", (64, 64)),
        ("[64, 64]", (64, 64)),
        ("(64,)", (64,)),
        ("()", ()),
        ("((1, 2), (3, 4))", ((1, 2), (3, 4))),
        ("größe", "größe"),
        ("漢字", "漢字"),
        ("1+", "1+"),
        ("007", "007"),
        ("b'x'", "b'x'"),
        ("{1, 2}", "{1, 2}"),
        ("__import__('os')", "__import__('os')"),
        ("T.float16", "T.float16"),
        ("(1, 2", "(1, 2"),
        ("((" * 5000, "((" * 5000),
    ],
)
def test_a_value(text, wanted):
    """A literal is its value; anything else is the text itself, and nothing is executed."""
    found = parse_value(text)
    assert found == wanted
    assert type(found) is type(wanted)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("M=512", {"M": (512,)}),
        ("M=512,1024", {"M": (512, 1024)}),
        (" M = 512 , 1024 ", {"M": (512, 1024)}),
        ("tile=(64,32),(32,64)", {"tile": ((64, 32), (32, 64))}),
        ("tile=[(1,2),(3,4)]", {"tile": (((1, 2), (3, 4)),)}),
        ("x='a,b',c", {"x": ("a,b", "c")}),
        ("x='(',')'", {"x": ("(", ")")}),
        ("expr=a=b", {"expr": ("a=b",)}),
        ("x=1,1.0,true", {"x": (1, 1.0, True)}),
        ("x=1,,2,", {"x": (1, 2)}),
        ("größe=klein", {"größe": ("klein",)}),
    ],
)
def test_an_assignment(text, wanted):
    """Commas separate values unless brackets or quotes hold them together."""
    assert parse_assignments([text], "--set") == wanted


def test_several_assignments_keep_their_order():
    """Parameters come back in the order in which they were given."""
    assert list(parse_assignments(["b=1", "a=2"], "--set")) == ["b", "a"]


@pytest.mark.parametrize("text", ["M", "M=", "=1", "M= ", "", "="])
def test_not_an_assignment(text):
    """A text without a name or a value is quoted with its flag."""
    with pytest.raises(UsageError) as caught:
        parse_assignments([text], "--set")
    assert caught.value.message == f"--set {text}: not of the form NAME=VALUE[,VALUE …]"


def test_a_name_twice():
    """A parameter that is given twice is an error, with how to say it once."""
    with pytest.raises(UsageError, match="--set M is given twice") as caught:
        parse_assignments(["M=1", "M=2"], "--set")
    assert caught.value.hint == "--set M=V1,V2"


@pytest.mark.parametrize("text", ["M=1,1", "M=0x10,16", "t=(1,2),(1, 2)", "w=a,'a'"])
def test_a_value_twice(text):
    """The same value twice is the same variant twice."""
    with pytest.raises(UsageError, match="is there twice"):
        parse_assignments([text], "--set")
