"""Which failed cell does each way of ending become?"""

import signal
import sysconfig

import msgspec
import pytest

from stagebench.lowering.failure import from_died, from_lost_worker, from_raised
from stagebench.model import Compiler
from stagebench.worker.protocol import Died
from tests.lowering.test_protocol import RAISED, REQUEST

COMPILER = Compiler(name="tilelang", version="0.1.15")
PLAIN = Died(
    job=0, exit_code=0, signal=0, timed_out=False, oom_kills=None, pass_name=None, stderr=""
)


def died(**changes):
    """Kind, message and pass of the failure that a child's end becomes."""
    result = from_died(msgspec.structs.replace(PLAIN, **changes), REQUEST, COMPILER, 8.0)
    assert (result.outcome, result.facts) == ("failed", None)
    return result.failure.kind, result.failure.message, result.failure.pass_name


KILLED = (
    "killed by SIGKILL before its first pass, which stagebench did not send: the kernel's "
    "out-of-memory killer does that "
)
LOG = """Traceback (most recent call last):
  File "k.py", line 3
terminate called after an instance of 'std::logic_error'
  what(): bad
"""


@pytest.mark.parametrize(
    ("changes", "kind", "message"),
    [
        (
            {"timed_out": True, "signal": signal.SIGKILL, "pass_name": "tl.LowerTileOp"},
            "timeout",
            "no result within 8 s, stopped in tl.LowerTileOp",
        ),
        (
            {"timed_out": True, "stderr": "std::bad_alloc"},
            "timeout",
            "no result within 8 s, stopped before its first pass",
        ),
        (
            {"exit_code": 1, "stderr": "Traceback\nMemoryError\n"},
            "out_of_memory",
            "MemoryError before its first pass",
        ),
        (
            {"signal": signal.SIGABRT, "stderr": "terminate called: std::bad_alloc\n",
             "pass_name": "tl.X"},
            "out_of_memory",
            "terminate called: std::bad_alloc in tl.X",
        ),
        ({"signal": signal.SIGKILL}, "out_of_memory", KILLED + "(its counter can't be read here)"),
        (
            {"signal": signal.SIGKILL, "oom_kills": 0},
            "out_of_memory",
            KILLED + "(its counter did not move, so it may have been somebody else)",
        ),
        (
            {"signal": signal.SIGKILL, "oom_kills": 2},
            "out_of_memory",
            KILLED + "(it counted 2 since the variant started)",
        ),
        (
            {"signal": signal.SIGABRT, "stderr": LOG, "pass_name": "tl.X"},
            "crash",
            "terminate called after an instance of 'std::logic_error', SIGABRT in tl.X",
        ),
        ({"signal": signal.SIGSEGV}, "crash", "SIGSEGV before its first pass"),
        ({"signal": 99}, "crash", "signal 99 before its first pass"),
        ({"exit_code": 7}, "crash", "exit code 7 before its first pass"),
        ({"exit_code": 1, "stderr": "\n\nso\n"}, "crash", "so, exit code 1 before its first pass"),
        ({}, "crash", "the process ended by itself, with exit code 0 before its first pass"),
    ],
)  # fmt: skip
def test_a_child_that_died(changes, kind, message):
    """A timeout before anything else, then memory, then the signal or exit code; the pass named."""
    assert died(**changes) == (kind, message, changes.get("pass_name"))


CRASH = """before
Fatal Python error: Segmentation fault

Stack (most recent call first):
  File "{lib}/ctypes/__init__.py", line 519 in string_at
  File "/a b/other.py", line 8 in load
  File "/a b/größe.py", line 3 in <lambda>
  File "/a b/größe.py", line 9 in seg
  File "/x/stagebench/worker/server.py", line 198 in _run_child

Extension modules: numpy.core (total: 1)
!!!!!!! Segfault encountered !!!!!!!
  File "Modules/main.c", line 734, in Py_BytesMain
"""


def test_a_crash_in_the_kernels_own_python():
    """The innermost line of its file that ran; a backtrace of C++ is no message."""
    stderr = CRASH.replace("before\n", "")
    at = ", at größe.py:3 in <lambda>"
    assert died(signal=signal.SIGSEGV, stderr=stderr)[1] == f"SIGSEGV before its first pass{at}"
    in_a_pass = {"signal": signal.SIGSEGV, "stderr": CRASH, "pass_name": "tl.X"}
    assert died(**in_a_pass)[1] == f"before, SIGSEGV in tl.X{at}"
    elsewhere = stderr.replace("größe", "large")
    assert died(signal=signal.SIGSEGV, stderr=elsewhere)[1] == "SIGSEGV before its first pass"
    log = CRASH.format(lib=sysconfig.get_path("stdlib"))
    kept = from_died(msgspec.structs.replace(PLAIN, signal=11, stderr=log), REQUEST, COMPILER, 8.0)
    assert 'File "ctypes/__init__.py", line 519' in kept.failure.detail
    assert 'File "größe.py", line 3 in' in kept.failure.detail


def test_the_whole_log_is_kept():
    """What the child printed is in the detail, without its blank edges."""
    result = from_died(
        msgspec.structs.replace(PLAIN, signal=6, stderr="\n" + LOG), REQUEST, COMPILER, 8.0
    )
    assert result.failure.detail == LOG.strip()


def test_places_are_cut_from_the_log():
    """The folder of the kernel's file is not in what is kept."""
    result = from_died(
        msgspec.structs.replace(PLAIN, exit_code=1, stderr="Error in /a b/größe.py:3\n"),
        REQUEST, COMPILER, 8.0,
    )  # fmt: skip
    assert result.failure.message == "Error in größe.py:3, exit code 1 before its first pass"
    assert "/a b" not in (result.failure.detail or "")


def test_the_identity_of_what_never_told_its_defaults():
    """The variant is what was asked for: given parameters and the depth, sorted."""
    variant = from_died(PLAIN, REQUEST, COMPILER, 8.0).variant
    assert list(variant.params) == ["num_stages", "tile", "w", "x", "y", "z"]
    assert (variant.num_stages, variant.arch, variant.kernel) == (2, "sm_90a", "größe.py:f")
    assert (variant.compiler, variant.pass_configs) == (COMPILER, {"tl.x": True})


def raised(**changes):
    return from_raised(msgspec.structs.replace(RAISED, **changes)).failure


def test_the_kernels_own_python_raised():
    """The exception's first line leads, the rest is kept, and the kernel's line is evidence."""
    failure = raised()
    assert (failure.kind, failure.message) == ("compile_error", "ValueError: two")
    assert failure.detail == "two\nlines"
    (diagnostic,) = failure.diagnostics
    assert (diagnostic.severity, diagnostic.code) == ("error", "kernel-raised")
    assert (diagnostic.evidence[0].line, diagnostic.evidence[0].text) == (3, "b.py")


def test_the_kernels_file_raised():
    """Then nothing of the kernel was seen: that is another diagnostic, and can be asked for."""
    failure = raised(where="file")
    (diagnostic,) = failure.diagnostics
    assert (diagnostic.code, diagnostic.evidence[0].line) == ("file-raised", 3)
    assert diagnostic.message.endswith("raised while its file was imported")
    assert failure.before_the_kernel
    assert not raised().before_the_kernel


def test_the_compiler_raised():
    """An exception of the compiler's names its pass and blames no line of the kernel's."""
    failure = raised(where="compiler", pass_name="tl.X", message="\nCheck failed\n")  # noqa: S106
    assert (failure.message, failure.pass_name) == ("ValueError: Check failed", "tl.X")
    assert (failure.detail, failure.diagnostics) == (None, ())


def test_an_exception_without_words():
    """An exception that says nothing is its type."""
    assert raised(message="").message == "ValueError"


def test_memory_that_ran_out_in_python():
    """A MemoryError is memory, not a mistake of the kernel's."""
    assert raised(out_of_memory=True, error="MemoryError").kind == "out_of_memory"


@pytest.mark.parametrize(
    ("log", "message"),
    [
        ("", "the worker process ended while it ran this variant"),
        ("x\nFatal Python error: Aborted\ny\n",
         "the worker process ended while it ran this variant: Fatal Python error: Aborted"),
    ],
)  # fmt: skip
def test_a_worker_that_was_lost(log, message):
    """What ran when the worker ended is a crash, with what the worker said last."""
    failure = from_lost_worker(REQUEST, COMPILER, log).failure
    assert (failure.kind, failure.message) == ("crash", message)
