"""Baselines and results for the gate's tests, made without a compiler."""

from pathlib import Path

import msgspec

from stagebench.dump.files import read_dump
from stagebench.gate.baselines import Baseline
from stagebench.gate.judge import judge
from stagebench.gate.policy import make_policy
from stagebench.gate.writer import baseline_files
from stagebench.model import VariantResult
from tests.dumping import building

ROOT = Path(__file__).parents[2]
ACCEPTED = ROOT / "dumps" / "num_stages_gemm" / "gemm"


def write(folder, result, kernel_cu=building.CUDA):
    """A baseline's files in ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in baseline_files(result, kernel_cu, None).items():
        (folder / name).write_bytes(data)
    return folder


def baseline(folder, result, kernel_cu=building.CUDA):
    """A baseline that was written and read back."""
    dump = read_dump(write(folder, result, kernel_cu))
    return Baseline(name=folder.name, dump=dump)


def accepted(arch="sm_90a", depth=3):
    """A real baseline of this repository."""
    return read_dump(ACCEPTED / arch / f"num_stages={depth}").result


def policy(rules=None, source="experiment"):
    return make_policy((source, "here.py", rules or {}))


def judged(folder, then, now, rules=None, *, cuda=(building.CUDA, building.CUDA), **options):
    """The judgement of ``now`` against a baseline of ``then``."""
    return judge(
        now, cuda[1], baseline(folder, then, cuda[0]), policy(rules), shown="dumps/x", **options
    )


def plain(result):
    """The result as JSON has it: objects, lists and scalars."""
    return msgspec.json.decode(msgspec.json.encode(result))


def replaced(result, pointer, value):
    """The result with the value at a JSON pointer changed; ``None`` where that is not valid."""
    data = plain(result)
    place = data
    for step in pointer[:-1]:
        place = place[step]
    place[pointer[-1]] = value
    try:
        return msgspec.convert(data, VariantResult, strict=True)
    except msgspec.ValidationError:
        return None


def facts_with(result, **changes):
    return msgspec.structs.replace(result, facts=msgspec.structs.replace(result.facts, **changes))
