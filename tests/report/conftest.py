"""Recorded runs (`record_runs.py`) and small made-up facts."""

import json
from pathlib import Path

import msgspec
import pytest

from stagebench.model import Run

DATA = Path(__file__).parent / "data"


def load_run(name, arch=None):
    """A recorded run and its CUDA digests, or only the variants of one arch."""
    run = msgspec.json.decode((DATA / f"{name}.json").read_bytes(), type=Run)
    texts = json.loads((DATA / f"{name}.cu.json").read_text())
    kept = [
        (variant, text)
        for variant, text in zip(run.variants, texts, strict=True)
        if arch in (None, variant.variant.arch)
    ]
    return Run(variants=tuple(variant for variant, _ in kept)), [text for _, text in kept]


@pytest.fixture
def recorded():
    return load_run
