"""Is what pip printed told as what it was?  Texts as pip 23.2 prints them."""

import tempfile

import pytest

from stagebench.lowering.pip_failure import pip_failure

RETRIED = (
    "WARNING: Retrying (Retry(total=4, connect=None, read=None, redirect=None, status=None)) after "
    "connection broken by 'NewConnectionError('<pip._vendor.urllib3.connection.HTTPSConnection "
    "object at 0x7fb9dc0d9150>: Failed to establish a new connection: [Errno -3] Temporary failure "
    "in name resolution')': /simple/tilelang/\n"
)
NONE = (
    "ERROR: Could not find a version that satisfies the requirement tilelang==9.9 "
    "(from versions: {})\nERROR: No matching distribution found for tilelang==9.9\n"
)
FULL = (
    'ERROR: Exception:\nTraceback (most recent call last):\n  File "x.py", line 622, in stream\n'
    'pip._vendor.urllib3.exceptions.ProtocolError: ("Connection broken: OSError(28, '
    "'No space left on device')\", OSError(28, 'No space left on device'))\n"
)
COPIED = "shutil.Error: [('/tmp/a', '/c/a', \"[Errno 28] No space left on device: '/tmp/a'\")]\n"
QUOTA = "ERROR: Could not install packages due to an OSError: [Errno 122] Disk quota exceeded\n"
OLD_PYTHON = "ERROR: Exception:\nTraceback (most recent call last):\nValueError: what\n"


@pytest.mark.parametrize(
    ("stderr", "kind", "said"),
    [
        (RETRIED + NONE.format("none"), "no_index", "(Temporary failure in name resolution)"),
        (RETRIED + NONE.format("1.0, 2.0"), "no_index", "does not answer"),
        (RETRIED, "no_index", "does not answer"),
        (NONE.format("none"), "no_version", "no index that answers has a wheel of tilelang==9.9"),
        (NONE.format("1.0, 2.0"), "no_version", "(there are: 1.0, 2.0)"),
        (
            NONE.format(", ".join(map(str, range(20)))),
            "no_version",
            "(there are: …, 14, 15, 16, 17, 18, 19)",
        ),
        (FULL, "no_space", "no space left on the device: "),
        (COPIED, "no_space", "MiB free in "),
        (QUOTA, "no_space", "no space left on the device: "),
        (RETRIED + QUOTA, "no_space", "no space left on the device: "),
        ("/usr/bin/python: No module named pip\n", "no_pip", "this environment has no pip"),
        (OLD_PYTHON, "else", "ValueError: what (pip install tilelang==9.9)"),
        (RETRIED + "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES\n", "else", "THE HASHES (pip"),
        ("", "else", "pip failed without a word (pip install tilelang==9.9)"),
    ],
)
def test_what_is_told(stderr, kind, said, tmp_path):
    """Each with what pip gives away; a retry that helped is no silent index."""
    found = pip_failure(stderr, ["tilelang==9.9"], tmp_path)
    assert found.kind == kind
    assert said in found.message


def test_a_full_disk_names_the_places_and_what_moves_them(tmp_path):
    """The cache and where pip unpacks may be different disks: both are said, with what is free."""
    found = pip_failure(FULL, ["x"], tmp_path)
    assert str(tmp_path) in found.message
    assert tempfile.gettempdir() in found.message
    for variable in ("XDG_CACHE_HOME", "STAGEBENCH_CACHE_DIR", "TMPDIR"):
        assert variable in found.hint
