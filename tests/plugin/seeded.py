"""A cache that answers from recorded dumps, so that a check lowers nothing."""

from pathlib import Path

import msgspec

from stagebench.dump.files import read_dump
from stagebench.experiment.kernel_reference import parse_kernel
from stagebench.experiment.sweep_plan import SweepPlan, expand
from stagebench.lowering.cache import Cache
from stagebench.lowering.cache_folder import default_cache_folder
from stagebench.lowering.compiler_environment import this_environment
from stagebench.worker.protocol import Lowered, Raised, Times

DUMPS = Path(__file__).parents[2] / "dumps" / "num_stages_gemm" / "gemm"
NO_TIME = Times(load=0.0, lower=0.0, observe=0.0, facts=0.0, passes=())


def recorded(depth, arch="sm_90a"):
    """The committed dump of the built-in GEMM at a depth."""
    return read_dump(DUMPS / arch / f"num_stages={depth}")


def seed(depth, arch="sm_90a", change=None):
    """Let the cache say what was recorded, or what ``change`` makes of its facts."""
    dump = recorded(depth, arch)
    facts = dump.result.facts if change is None else change(dump.result.facts)
    _put(
        depth,
        arch,
        Lowered(
            variant=_now(dump.result.variant),
            facts=facts,
            kernel_cu=dump.kernel_cu,
            snapshots=b"",
            times=NO_TIME,
            module_files=(),
        ),
    )


def seed_failure(depth, arch="sm_90a", message="InternalError: no layout"):
    """Let the cache say that the compiler raised."""
    reply = Raised(
        variant=_now(recorded(depth, arch).result.variant), where="compiler", error="InternalError",
        message=message, file=None, line=None, pass_name=None, out_of_memory=False, diagnostics=(),
        module_files=(),
    )  # fmt: skip
    _put(depth, arch, reply)


def one_version_more(facts):
    """A_shared gets another version: as a compiler would that changed its mind."""
    first, *others = facts.shared_buffers
    more = msgspec.structs.replace(first, num_versions=first.num_versions + 1)
    return msgspec.structs.replace(facts, shared_buffers=(more, *others))


def _now(variant):
    return msgspec.structs.replace(variant, compiler=this_environment().compiler)


def _put(depth, arch, reply):
    plan = SweepPlan("gemm", (depth,), archs=(arch,))
    (request,) = expand(plan, parse_kernel("gemm"), (depth,))
    Cache(default_cache_folder(), _complain).put(request, this_environment(), reply)


def _complain(message):
    raise AssertionError(message)
