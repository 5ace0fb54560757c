"""How are variants, records and bytes, packed for a GPU host?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from stagebench.bundle.container import digest_of, store
from stagebench.bundle.errors import BundleError
from stagebench.bundle.given_kernel import GivenKernel
from stagebench.bundle.launch_checks import check_launch
from stagebench.bundle.launch_plan import bundled_scalars, bundled_tensors, resolved_launch
from stagebench.bundle.parts import VariantParts, launch_of, not_lowered
from stagebench.bundle.records import (
    BUNDLE,
    Bundle,
    BundledFile,
    BundledTensor,
    BundledVariant,
    SkippedVariant,
)
from stagebench.bundle.references import case_of, ids_of, references_of
from stagebench.bundle.target import write_container
from stagebench.model import Launch, Variant, VariantResult
from stagebench.model.codec import encode_pretty


def write_bundle(
    path: Path,
    parts: Sequence[VariantParts],
    *,
    failed: Sequence[tuple[Variant, BundleError]] = (),
    poison: Mapping[str, bytes] | None = None,
) -> Bundle:
    """Write a bundle to the folder ``path``, or to a tar file where it ends in ``.tar``.

    A variant that can't be launched (a scalar has no value, say) is skipped like the ``failed``.
    Raises `BundleError` where nothing at all is left, and where it can't be written.
    """
    files: dict[str, bytes] = {}
    missing = list(failed)
    packed: list[tuple[VariantParts, _Packed]] = []
    ids = ids_of([one.result.variant for one in parts])
    values: _Values = {}
    for one, name in zip(parts, ids, strict=True):
        try:
            packed.append((one, _pack(one, name, values)))
        except BundleError as exc:
            missing.append((one.result.variant, exc))
    if not packed:
        why = missing[0][1] if missing else BundleError("there is none", hint=_SWEEP)
        raise BundleError(f"no variant can be bundled: {why.message}", hint=why.hint)
    kept = [one.result.variant for one, _ in packed]
    names = [what.variant.id for _, what in packed]
    variants = []
    for index, (_, what) in enumerate(packed):
        files |= what.files
        references = references_of(index, kept, names)
        variants.append(msgspec.structs.replace(what.variant, references=references))
    fillers = {}
    for arch, cubin in sorted((poison or {}).items()):
        fillers[arch] = _keep(files, f"poison/{arch}.cubin.z", cubin)
    bundle = Bundle(variants=tuple(variants), skipped=tuple(map(_skipped, missing)), poison=fillers)
    write_container(path, {**files, BUNDLE: encode_pretty(bundle)})
    return bundle


_SWEEP = "`stagebench sweep` makes variants"


def _skipped(failed: tuple[Variant, BundleError]) -> SkippedVariant:
    variant, why = failed
    reason = why.message if why.hint is None else f"{why.message} ({why.hint})"
    return SkippedVariant(variant=variant, reason=reason)


class _Packed:
    """One variant of the index, and its files by name."""

    def __init__(self, variant: BundledVariant, files: dict[str, bytes]) -> None:
        self.variant = variant
        self.files = files


_Values = dict[str, tuple[BundledFile, bytes]]
"""Values of tensors by digest: all depths of a case have the same, which are kept once."""


def _pack(parts: VariantParts, name: str, values: _Values) -> _Packed:
    launch = launch_of(parts.result)
    if launch is None:
        raise not_lowered(parts.result)
    if "base" not in parts.cubins:
        raise BundleError("it has no base cubin")
    files: dict[str, bytes] = {}
    facts, machine = _known(parts.result, name, files)
    resolved = resolved_launch(launch, parts.scalars)
    scalars = bundled_scalars(launch, parts.scalars)
    tensors = _tensors(parts, launch, files, values)
    check_launch(resolved, tensors, scalars)
    return _Packed(
        BundledVariant(
            id=name,
            variant=parts.result.variant,
            case=case_of(parts.result.variant),
            references=(),
            cubin_arch=parts.cubin_arch,
            launch=resolved,
            tensors=tensors,
            scalars=scalars,
            cubins={
                kind: _keep(files, f"{name}/{kind}.cubin.z", data)
                for kind, data in sorted(parts.cubins.items())
            },
            facts=facts,
            machine=machine,
            probe=None
            if parts.probe is None
            else _keep(files, f"{name}/probe.json.z", parts.probe),
            audit=parts.audit,
        ),
        files,
    )


def _known(
    result: VariantResult | GivenKernel, name: str, files: dict[str, bytes]
) -> tuple[BundledFile | None, BundledFile | None]:
    """The files of the facts, and of the machine code of a kernel that has none."""
    if not isinstance(result, GivenKernel):
        return _keep(files, f"{name}/facts.json.z", msgspec.json.encode(result)), None
    if result.machine is None:
        return None, None
    return None, _keep(files, f"{name}/machine.json.z", msgspec.json.encode(result.machine))


def _tensors(
    parts: VariantParts, launch: Launch, files: dict[str, bytes], kept: _Values
) -> tuple[BundledTensor, ...]:
    known = bundled_tensors(launch, parts.scalars)
    for given in (parts.values, parts.contents, parts.expected):
        for tensor in given:
            if tensor not in {one.name for one in known}:
                raise BundleError(
                    f"{parts.result.variant.kernel} has no tensor {tensor}",
                    hint="it has " + ", ".join(one.name for one in known),
                )
    found = []
    for one in known:
        contents, expected = parts.contents.get(one.name), parts.expected.get(one.name)
        found.append(
            msgspec.structs.replace(
                one,
                values=parts.values.get(one.name),
                contents=None if contents is None else _keep_once(files, kept, contents),
                expected=None if expected is None else _keep_once(files, kept, expected),
            )
        )
    return tuple(found)


def _keep_once(files: dict[str, bytes], kept: _Values, content: bytes) -> BundledFile:
    digest = digest_of(content)
    if digest not in kept:
        kept[digest] = store(f"values/{digest}.z", content)
    file, stored = kept[digest]
    files[file.path] = stored
    return file


def _keep(files: dict[str, bytes], name: str, content: bytes) -> BundledFile:
    kept, stored = store(name, content)
    files[name] = stored
    return kept
