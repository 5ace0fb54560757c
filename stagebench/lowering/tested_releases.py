"""Which releases is stagebench tested with, and with which binaries beside each?

A release's metadata allows versions of ``apache-tvm-ffi`` that did not exist when it was made, and
some of them break it: 0.1.9 to 0.1.11 allow every ``0.1.*`` and fail to import with 0.1.12 (its
classes have no writable ``__dict__``); 0.1.12 takes 0.1.10 by its metadata, and imports a name
that only 0.1.11 has.  So what was tested is used; the rest is as the metadata says.
"""

from __future__ import annotations

TESTED: dict[str, dict[str, str]] = {
    release: {"apache-tvm-ffi": ffi, "z3-solver": "4.15.4.0"}
    for release, ffi in {
        "0.1.9": "0.1.10",
        "0.1.10": "0.1.10",
        "0.1.11": "0.1.10",
        "0.1.12": "0.1.11",
        "0.1.13": "0.1.12",
        "0.1.14": "0.1.12",
        "0.1.15": "0.1.12",
    }.items()
}
"""TileLang's version → distribution → version; oldest release first."""


TESTED_TVM: dict[str, dict[str, str]] = {
    "0.25.0": {"apache-tvm-ffi": "0.1.12"},
    "0.25.0.post1": {"apache-tvm-ffi": "0.1.12"},
    "0.26.0": {"apache-tvm-ffi": "0.1.14.post1"},
    "0.27.0": {"apache-tvm-ffi": "0.1.14.post1"},
    "0.27.0.post1": {"apache-tvm-ffi": "0.1.14.post1"},
}
"""Apache TVM's, likewise.  0.25 shares ``apache-tvm-ffi`` with the TileLang beside it; 0.27 takes
0.1.15 by its metadata, and crashes in ``ToJSONGraph`` with it wherever a schedule tensorizes."""


def beside(name: str, version: str) -> dict[str, str]:
    """The versions of other distributions that a release is to be installed with, where known."""
    return _tested(name).get(version, {})


def untested(name: str, version: str) -> str | None:
    """A sentence about a release that was not tested; ``None`` where it was.

    A build of one's own (``0.1.15+git…``) counts as the release that it is of.
    """
    tested = _tested(name)
    if not tested or version.partition("+")[0] in tested:
        return None
    return (
        f"{name} {version} is untested: this stagebench was tested with {tested_range(name)}; "
        "what it does not know is reported as unknown"
    )


def tested_range(name: str) -> str:
    """The tested releases of a compiler in words."""
    first, *_, last = _tested(name)
    return f"{first} to {last}"


def tested_releases(name: str) -> tuple[str, ...]:
    """The tested releases of a compiler, oldest first; none of one that has no adapter."""
    return tuple(_tested(name))


def _tested(name: str) -> dict[str, dict[str, str]]:
    return {"tilelang": TESTED, "tvm": TESTED_TVM}.get(name, {})
