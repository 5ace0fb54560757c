"""Lower everything that tests need with one worker, into the cache that they share."""

from stagebench.experiment.kernel_reference import parse_kernel
from stagebench.experiment.sweep import SweepOptions, run_sweep
from stagebench.experiment.sweep_plan import expand
from stagebench.experiment.sweep_watcher import Unwatched
from stagebench.lowering.cache import Cache
from stagebench.lowering.cache_folder import default_cache_folder
from stagebench.lowering.compiler_environment import this_environment
from stagebench.lowering.lower import Limits, lower_all


def warm(plans):
    """Lower the variants of several plans in one go: a worker's start costs seconds."""
    requests = [
        request
        for plan in plans
        for request in expand(plan, parse_kernel(plan.kernel), plan.num_stages)
    ]
    cache = Cache(default_cache_folder(), _complain)
    limits = Limits(jobs=2, timeout_seconds=600)
    lower_all(requests, this_environment(), limits, cache, Unwatched())


def results(plan):
    """The variants of a plan, from the cache where it is warm."""
    return run_sweep(plan, SweepOptions(warn=_complain)).run.variants


def _complain(message):
    raise AssertionError(message)
