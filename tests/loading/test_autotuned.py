"""An autotuned kernel gets from its first config what the request lacks."""

import pytest

pytestmark = pytest.mark.tilelang

FILE = "spellings.py"


@pytest.mark.parametrize(
    ("function", "block", "depth"),
    [
        ("tuned", 32, 3),
        ("tuned_by_size", 64, 1),
        ("tuned_by_position", 32, 2),
        ("tuned_eager", 16, 2),
        ("best_of", 32, 1),
        ("calling_tuned", 32, 3),
    ],
)
def test_first_config(load, function, block, depth):
    """Lists, functions by name and by position, tuners and calls: the first config counts."""
    answer = load(FILE, function, N=256)

    assert answer["params"] == {"N": 256, "block": block, "num_stages": depth}
    assert answer["depths"] == [depth]
    assert answer["codes"][0] == "autotune-config-used"
    assert f"block={block}" in answer["messages"][0]


@pytest.mark.parametrize("function", ["tuned", "tuned_eager", "best_of", "calling_tuned"])
def test_explicit_depth_wins(load, function):
    """A requested depth goes before the config's, and the note names only what was taken."""
    answer = load(FILE, function, num_stages=4, N=256)

    assert answer["depths"] == [4]
    assert answer["params"]["num_stages"] == 4
    assert "num_stages" not in answer["messages"][0]


def test_nothing_lacking(load):
    """No note where the request gives all that the config holds."""
    assert load(FILE, "tuned", num_stages=2, N=256, block=64)["codes"] == []


def test_pass_configs_of_a_config(load):
    """A config's own pass configs are kept."""
    answer = load(FILE, "tuned_by_size", N=256)

    assert answer["pass_configs"] == {"tl.enable_fast_math": True}


def test_configs_without_their_argument(load):
    """Configs that depend on a missing parameter name it."""
    answer = load(FILE, "tuned_by_size", num_stages=1)

    assert "UsageError" in answer["error"]
    assert "N" in answer["message"]


def test_no_configs(load, write):
    """An empty list of configs is an error with a next step."""
    path = write(
        "import tilelang\nimport tilelang.language as T\n"
        "@tilelang.autotune(configs=[])\n@tilelang.jit\ndef f(num_stages=1):\n    return None\n"
    )
    answer = load(path, "f", num_stages=1)

    assert answer["message"] == "@autotune has no configs"
