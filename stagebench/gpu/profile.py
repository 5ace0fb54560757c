"""How is a whole bundle profiled, so that nothing that was measured is ever lost?

References run before what is compared with them; ``profile.json`` is written anew after every
variant, and is marked complete at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from stagebench.bundle.errors import BundleError
from stagebench.bundle.read import OpenBundle, read_bundle
from stagebench.bundle.records import BundledVariant, CubinKind
from stagebench.dump.atomic_file import write_file
from stagebench.errors import MachineError
from stagebench.gpu.folder_lock import scratch_folder
from stagebench.gpu.library_baseline import gemm_shapes, time_libraries
from stagebench.gpu.profile_file import clear_earlier, kept_file
from stagebench.gpu.records import PROFILE, LibraryTime, Profile, ProfiledVariant, RunError
from stagebench.gpu.results import ended, with_failed, with_first_verdict
from stagebench.gpu.run_request import RunOptions, RunRequest
from stagebench.gpu.saved_outputs import OUTPUTS
from stagebench.gpu.watchdog import ChildError, Watchdog, child_command
from stagebench.model.codec import encode_pretty

Progress = Callable[[int, int, ProfiledVariant], None]
_USABLE = ("correct", "not_compared")


def _quiet(done: int, total: int, result: ProfiledVariant) -> None:
    del done, total, result


@dataclass(frozen=True)
class ProfileOptions:
    """``only`` are parts of ids; ``timeout_seconds`` are for one launch to come back.

    ``library`` also times a library's matrix product.
    """

    run: RunOptions = field(default_factory=RunOptions)
    only: tuple[str, ...] = ()
    timeout_seconds: float = 60.0
    library: bool = False


def profile(
    bundle: Path,
    out: Path,
    options: ProfileOptions,
    progress: Progress = _quiet,
    *,
    command: Callable[[Path, Path], list[str]] = child_command,
) -> Profile:
    """Run the bundle on this machine's device 0 and write ``profile.json`` into ``out``.

    Raises `BundleError` for the bundle as a whole and `MachineError` for the machine; what goes
    wrong in a variant is in its result.  ``command`` is that of the child processes.
    """
    opened = read_bundle(bundle)
    ordered = in_order(opened.select(options.only))
    with scratch_folder("stagebench-outputs-") as outputs:
        watchdog = Watchdog(command(bundle, outputs), options.timeout_seconds)
        try:
            watchdog.start()
            clear_earlier(out)
            done = _run_all(opened, ordered, watchdog, out, options, progress)
        except KeyboardInterrupt:
            watchdog.stop(at_once=True)
            raise
        finally:
            watchdog.stop()
    libraries: tuple[LibraryTime, ...] = ()
    notes = watchdog.notes
    if options.library:
        libraries, more = time_libraries(gemm_shapes(ordered), options.run)
        notes = (*notes, *more)
    return _write(
        out, opened, watchdog, options, done, waiting=None, libraries=libraries, notes=notes
    )


def in_order(variants: Sequence[BundledVariant]) -> tuple[BundledVariant, ...]:
    """Those that are compared with nothing first, then by depth: a reference is run before."""

    def key(variant: BundledVariant) -> tuple[bool, int]:
        return bool(variant.references), variant.variant.num_stages or 0

    return tuple(sorted(variants, key=key))


def _run_all(
    opened: OpenBundle,
    ordered: Sequence[BundledVariant],
    watchdog: Watchdog,
    out: Path,
    options: ProfileOptions,
    progress: Progress,
) -> list[ProfiledVariant]:
    done: list[ProfiledVariant] = []
    usable: set[str] = set()
    _write(out, opened, watchdog, options, done, waiting=ordered, notes=watchdog.notes)
    for index, variant in enumerate(ordered):
        request = RunRequest(
            id=variant.id,
            references=tuple(one for one in variant.references if one in usable),
            outputs_folder=str(out / OUTPUTS / variant.id),
            probe_file=str(out / f"probe-{index}.bin") if "probed" in variant.cubins else None,
            options=options.run,
        )
        result = _run_one(watchdog, variant, request)
        if result.probe_file is not None:
            result = _with_metadata(opened, variant, result, out / f"probe-{index}.json")
        if result.outputs:
            result = _beside(result, variant)
        if result.correctness.verdict in _USABLE and result.error is None:
            usable.add(variant.id)
        done.append(result)
        waiting = ordered[index + 1 :]
        _write(out, opened, watchdog, options, done, waiting=waiting, notes=watchdog.notes)
        progress(index + 1, len(ordered), result)
    return done


def _run_one(watchdog: Watchdog, variant: BundledVariant, request: RunRequest) -> ProfiledVariant:
    """A control or probed build that takes its process with it is left out the next time."""
    failed: dict[CubinKind, RunError] = {}
    first: ProfiledVariant | None = None
    while True:
        try:
            found = watchdog.run(msgspec.structs.replace(request, without=tuple(failed)))
        except ChildError as exc:
            first = first or exc.found
            build = exc.error.build
            if build is not None and build != "base" and build not in failed:
                failed[build] = exc.error
                continue
            found = ended(variant, exc.found or first, exc.error)
        return with_failed(with_first_verdict(found, first), failed)


def _beside(result: ProfiledVariant, variant: BundledVariant) -> ProfiledVariant:
    """Its outputs by their paths beside ``profile.json``."""
    paths = tuple(f"{OUTPUTS}/{variant.id}/{name}" for name in result.outputs)
    return msgspec.structs.replace(result, outputs=paths)


def _with_metadata(
    opened: OpenBundle, variant: BundledVariant, result: ProfiledVariant, path: Path
) -> ProfiledVariant:
    """The probe metadata beside the buffer that they decode."""
    if variant.probe is None:
        return result
    try:
        write_file(path, opened.load(variant.probe))
    except BundleError:
        return result
    files = [name for name in (result.probe_file, path.name) if name is not None]
    kept = tuple(kept_file(path.parent, name) for name in files)
    return msgspec.structs.replace(result, probe_metadata=path.name, probe_kept=kept)


def _write(
    out: Path,
    opened: OpenBundle,
    watchdog: Watchdog,
    options: ProfileOptions,
    done: Sequence[ProfiledVariant],
    *,
    waiting: Sequence[BundledVariant] | None,
    libraries: tuple[LibraryTime, ...] = (),
    notes: tuple[str, ...] = (),
) -> Profile:
    """Write what is known; ``waiting`` still have their turn before them (``None``: it is all)."""
    if watchdog.device is None:
        raise MachineError("no device was opened")
    found = Profile(
        device=watchdog.device,
        seed=options.run.seed,
        complete=waiting is None,
        variants=tuple(done),
        skipped=opened.bundle.skipped,
        libraries=libraries,
        notes=notes,
        no_turn=tuple(one.id for one in waiting or ()),
    )
    write_file(out / PROFILE, encode_pretty(found))
    return found
