"""The depth of a kernel is found, or its absence said with the line."""

from pathlib import Path

import pytest

pytestmark = pytest.mark.tilelang

KERNELS = Path(__file__).parent / "kernels"

FILE = "depths.py"


@pytest.mark.parametrize(
    ("function", "name"),
    [
        ("other_name", "depth_of_pipe"),
        ("rebound", "pipe"),
        ("well_known", "stages"),
        ("in_macro", "stage_num"),
        ("one_fixed", "num_stages"),
    ],
)
def test_inferred(load, function, name):
    """Through calls, assignments, macros and names: the parameter is found, recorded as depth."""
    answer = load(FILE, function, num_stages=3)

    assert answer["stage_param"] == name
    assert answer["params"]["num_stages"] == 3
    assert answer["depths"][0] == 3


def test_default_depth_is_recorded(load):
    """Without a requested depth, the kernel's own default stands under ``num_stages``."""
    answer = load(FILE, "other_name")

    assert (answer["params"], answer["depths"]) == ({"num_stages": 2}, [2])


def test_depth_under_the_name_of_results(driver):
    """``num_stages`` among the parameters means the kernel's depth, whatever it is called."""
    answer = driver(
        {
            "path": str(KERNELS / FILE),
            "function": "other_name",
            "params": {"num_stages": 4},
            "num_stages": None,
            "stage_param": None,
            "arch": "sm_80",
        }
    )

    assert (answer["params"], answer["depths"]) == ({"num_stages": 4}, [4])


def test_loop_that_keeps_its_depth(load):
    """A second loop with a fixed depth is noted."""
    answer = load(FILE, "one_fixed", num_stages=3)

    assert answer["depths"] == [3, 1]
    assert answer["codes"] == ["literal-depth-kept"]
    assert "this loop keeps num_stages=1" in answer["messages"][0]


@pytest.mark.parametrize(
    ("function", "shown"),
    [
        ("literal", "num_stages=3 at depths.py:18"),
        ("literal_global", "num_stages=STAGES (3) at depths.py:18"),
        ("default_depth", "no num_stages at depths.py:66"),
    ],
)
def test_literal_depth(load, function, shown):
    """A depth written as a number, directly or through a name, can't be swept."""
    answer = load(FILE, function, num_stages=2)

    assert answer["error"][:3] == ["LiteralDepthError", "NoDepthParameterError", "UsageError"]
    assert answer["message"] == (
        f"`{function}` has its pipeline depth written in it ({shown}), "
        "so num_stages can't be swept as it stands"
    )
    assert "without --num-stages" in answer["hint"]


def test_literal_depth_as_written(load):
    """The same kernel is loaded as it is where no depth is requested."""
    answer = load(FILE, "literal")

    assert (answer["depths"], answer["stage_param"], answer["params"]) == ([3], None, {"N": 256})


def test_no_loop(load):
    """A kernel without a pipelined loop has no depth to sweep."""
    answer = load(FILE, "no_loop", num_stages=2)

    assert answer["message"] == (
        "`no_loop` has no parameter for a pipeline depth, and no loop in it asks for one"
    )
    assert "LiteralDepthError" not in answer["error"]


def test_two_depths(load):
    """Two parameters for two loops: the user says which."""
    answer = load(FILE, "two_loops", num_stages=3)

    assert answer["message"] == (
        "`two_loops` has pipelined loops of different depths: "
        "first at depths.py:90, second at depths.py:93"
    )
    assert answer["hint"] == "say which one to sweep: --stage-param first"


def test_two_depths_as_written(load):
    """Two depths are no trouble where none is requested."""
    answer = load(FILE, "two_loops")

    assert answer["depths"] == [1, 2]
    assert (answer["params"], answer["stage_param"]) == ({"first": 1, "second": 2}, None)


def test_chosen_depth(load):
    """``--stage-param`` decides, and the other parameter keeps its value."""
    answer = load(FILE, "two_loops", num_stages=3, stage_param="second")

    assert answer["depths"] == [1, 3]
    assert answer["params"] == {"first": 1, "num_stages": 3}
    assert answer["stage_param"] == "second"


def test_chosen_depth_beside_num_stages(load):
    """The kernel's own ``num_stages`` keeps a name of its own beside the chosen depth."""
    answer = load(FILE, "outer_and_own", num_stages=3, stage_param="outer_stages")

    assert answer["params"] == {"num_stages (parameter)": 1, "num_stages": 3}


def test_unknown_chosen_depth(load):
    """A ``--stage-param`` that does not exist is an unknown parameter."""
    answer = load(FILE, "two_loops", num_stages=3, stage_param="secnd")

    assert answer["message"] == "`two_loops` has no parameter `secnd`"
    assert answer["hint"].startswith("did you mean `second`?")


def test_depth_that_can_not_be_followed(load):
    """A depth kept in an attribute is named as such, not guessed."""
    answer = load(FILE, "hidden", num_stages=3)

    assert answer["message"] == (
        "`hidden` takes its pipeline depth from `options.depth` at depths.py:18, "
        "which is not a parameter"
    )


def test_depth_given_twice(load):
    """Two different depths in one request contradict each other."""
    answer = load(FILE, "other_name", num_stages=3, depth_of_pipe=4)

    assert answer["message"] == ("the depth is given twice: num_stages=3 and depth_of_pipe=4")
