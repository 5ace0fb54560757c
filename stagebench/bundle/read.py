"""What does a bundle hold, and is it whole?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from stagebench.bundle.container import Container, load, open_container
from stagebench.bundle.errors import BundleError
from stagebench.bundle.launch_checks import check_bundle
from stagebench.bundle.records import (
    BUNDLE,
    BUNDLE_SCHEMA_VERSION,
    Bundle,
    BundledFile,
    BundledVariant,
)
from stagebench.bundle.selection import chosen

_AGAIN = "make it again with this stagebench: stagebench bundle RUN -o DIR"


@dataclass(frozen=True)
class OpenBundle:
    """A bundle's index, and its files on demand."""

    bundle: Bundle
    container: Container

    def load(self, file: BundledFile) -> bytes:
        """The content of one file; `BundleError` where it is truncated or changed."""
        return load(self.container, file)

    def variant(self, variant_id: str) -> BundledVariant:
        """The variant of that id."""
        for variant in self.bundle.variants:
            if variant.id == variant_id:
                return variant
        raise BundleError(f"{self.container.source} has no variant {variant_id}")

    def select(self, only: Sequence[str]) -> tuple[BundledVariant, ...]:
        """The variants that ``only`` means (`chosen`), with the references that they need.

        `BundleError` where a selection matches nothing: a misspelt one must not pass quietly.
        """
        if not only:
            return self.bundle.variants
        names = {variant.id: (variant.id,) for variant in self.bundle.variants}
        wanted: set[str] = set()
        for text in only:
            found = chosen(text, names)
            if not found:
                some = ", ".join(variant.id for variant in self.bundle.variants[:4])
                raise BundleError(f"--only {text}: no variant has that in its id", hint=some)
            wanted |= found
        for variant in self.bundle.variants:
            if variant.id in wanted and variant.references:
                wanted.add(variant.references[0])
        return tuple(v for v in self.bundle.variants if v.id in wanted)


def read_bundle(path: Path) -> OpenBundle:
    """Open the bundle at ``path``, a folder or a tar file; strict, and never half."""
    container = open_container(path)
    data = container.read(BUNDLE)
    try:
        bundle = msgspec.json.decode(data, type=Bundle)
    except (msgspec.DecodeError, RecursionError) as exc:
        raise BundleError(
            f"{BUNDLE} in {container.source}: {_why(data, exc)}",
            hint=_AGAIN,
        ) from exc
    if _version(data) is None:
        raise BundleError(f"{BUNDLE} in {container.source} has no schema_version", hint=_AGAIN)
    check_bundle(bundle, f"{BUNDLE} in {container.source}")
    return OpenBundle(bundle, container)


def _version(data: bytes) -> object:
    loose = msgspec.json.decode(data)
    return loose.get("schema_version") if isinstance(loose, dict) else None


def _why(data: bytes, exc: Exception) -> str:
    try:
        version = _version(data)
    except (msgspec.DecodeError, RecursionError):
        return str(exc)
    if version != BUNDLE_SCHEMA_VERSION:
        return f"schema version {version!r}, this stagebench reads {BUNDLE_SCHEMA_VERSION}"
    return str(exc)
