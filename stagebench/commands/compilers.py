"""``stagebench compilers``: which releases are at hand; make one, delete one."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from stagebench.commands.json_output import STDOUT, write_json
from stagebench.commands.warning import warn
from stagebench.errors import EXIT_OK, MachineError, UsageError

if TYPE_CHECKING:
    from stagebench.lowering.compiler_choice import Release
    from stagebench.lowering.overlays import Overlays


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``compilers``."""
    parser.add_argument(
        "action", nargs="?", choices=("list", "add", "remove"), default="list", metavar="ACTION",
        help="list (default), add (makes one, or makes a broken one again) or remove",
    )  # fmt: skip
    parser.add_argument(
        "compiler", nargs="*", metavar="COMPILER", help="tilelang==VERSION or tvm==VERSION"
    )
    parser.add_argument("--json", action="store_true", help="print the list as JSON instead")


def run(arguments: argparse.Namespace) -> int:
    """List, make or delete; a release that can't be had is an error."""
    from stagebench.lowering.cache_folder import default_cache_folder
    from stagebench.lowering.compiler_choice import COMPILERS
    from stagebench.lowering.overlays import Overlays
    from stagebench.lowering.tested_releases import tested_releases

    overlays = Overlays(default_cache_folder(), warn)
    if arguments.action == "list":
        if arguments.compiler:
            raise UsageError(f"compilers list {arguments.compiler[0]}: it lists all of them")
        _list(overlays, as_json=arguments.json)
        return EXIT_OK
    if not arguments.compiler:
        raise UsageError(
            f"compilers {arguments.action}: which one?",
            hint=f"stagebench compilers {arguments.action} "
            f"{' or '.join(f'{name}=={tested_releases(name)[-1]}' for name in COMPILERS)}",
        )
    act = _add if arguments.action == "add" else _remove
    asked = [_release(text, arguments.action) for text in arguments.compiler]
    for release in dict.fromkeys(asked):
        act(release, overlays)
    return EXIT_OK


def _release(text: str, action: str) -> Release:
    """The release that is to be added or removed, however its version is spelled."""
    from stagebench.lowering.compiler_choice import COMPILERS, Place, parse_choice
    from stagebench.lowering.tested_releases import tested_range

    choice = parse_choice(text, f"compilers {action}")
    if isinstance(choice, Place):
        named = " or ".join(f"{name}==VERSION" for name in COMPILERS)
        hint = f"{named}; a place of your own is used as it is, with --compiler"
    elif choice.version is None:
        hint = f"{choice.name}==VERSION; the tested ones are {tested_range(choice.name)}"
    else:
        return choice
    raise UsageError(f"compilers {action} {text}: only releases are kept in the cache", hint=hint)


def _add(release: Release, overlays: Overlays) -> None:
    from stagebench.lowering.installed_packages import is_here

    if is_here(release):
        sys.stdout.write(f"{release} is this environment's own: nothing to make\n")
        return
    overlays.add(release)
    sys.stdout.write(f"{release} is ready\n")


def _remove(release: Release, overlays: Overlays) -> None:
    from stagebench.lowering.compiler_choice import distribution_of
    from stagebench.lowering.installed_packages import is_here

    if overlays.remove(release):
        sys.stdout.write(f"{release} removed\n")
    elif is_here(release):
        raise MachineError(
            f"{release} is this environment's own ({sys.prefix}), not one of the cache",
            hint=f"{sys.executable} -m pip uninstall {distribution_of(release.name)}",
        )
    else:
        raise MachineError(f"{release} is not there", hint="`stagebench compilers` lists them")


def _list(overlays: Overlays, *, as_json: bool) -> None:
    from stagebench.lowering.compiler_listing import list_compilers

    listed = list_compilers(overlays)
    if as_json:
        write_json({"schema_version": 1, "compilers": listed}, STDOUT)
        return
    from stagebench.report.compilers_view import print_compilers

    print_compilers(listed)
