"""What do the CLI's process and a worker say to each other?  JSON lines, one message a line.

The parent writes `Lower` and `Cancel` to the worker's standard input and reads the other messages
from its standard output.  End of file on standard input tells the worker to stop everything.
Neither side reads anything else from the other, and no compiler object crosses.
"""

from __future__ import annotations

import msgspec

from stagebench.model import Compiler, Diagnostic, Facts, ParamValue, Record, Scalar, Variant

TIR_PIPELINE = "tir_pipeline"
"""Which passes Apache TVM runs: a pass config of its adapter's alone (``--pipeline``)."""


class LowerRequest(Record, frozen=True, kw_only=True):
    """One variant to lower.

    ``path`` is the absolute path of the user's file, ``None`` for a built-in; ``num_stages`` is
    ``None`` where the kernel is to be lowered as it is written.
    """

    path: str | None
    function: str
    kernel: str
    params: dict[str, ParamValue]
    num_stages: int | None
    stage_param: str | None
    arch: str
    pass_configs: dict[str, Scalar]


class Lower(Record, frozen=True, kw_only=True, tag="lower"):
    """Lower one variant in a fresh child process."""

    job: int
    request: LowerRequest
    timeout_seconds: float
    memory_limit_bytes: int | None = None


class Cancel(Record, frozen=True, kw_only=True, tag="cancel"):
    """Kill a job (or forget it, if it has not started)."""

    job: int


class PassTime(Record, frozen=True, kw_only=True):
    """Wall time of one pass run; ``sequence`` is that of `stagebench.model.PassRun`."""

    sequence: int
    name: str
    seconds: float


class Times(Record, frozen=True, kw_only=True):
    """Wall times of one lowering, in seconds; kept apart from all that is compared.

    ``lower`` is the compiler's own time with our observation in it, ``observe`` the part of it
    spent in our callbacks, ``load`` the kernel's Python, ``facts`` our extraction afterwards.
    """

    load: float
    lower: float
    observe: float
    facts: float
    passes: tuple[PassTime, ...]


class Lowered(Record, frozen=True, kw_only=True, tag="lowered"):
    """Everything that one successful lowering left behind.

    ``snapshots`` is a zstandard frame (see `stagebench.dump.snapshots`); ``module_files`` are the
    files of the user's tree that the kernel was made from.
    """

    variant: Variant
    facts: Facts
    kernel_cu: str
    snapshots: bytes
    times: Times
    module_files: tuple[str, ...]


class Rejected(Record, frozen=True, kw_only=True, tag="rejected"):
    """The request itself is wrong (unknown parameter, no such function): the caller's mistake.

    ``code`` is ``usage`` or ``no-depth`` (no parameter of the kernel carries its depth).
    """

    code: str
    message: str
    hint: str | None


class Raised(Record, frozen=True, kw_only=True, tag="raised"):
    """The import of the kernel's file, the kernel or the compiler raised; ``where`` says which.

    ``file`` (without folder) and ``line`` are the innermost frame in the user's own files.  From
    ``reader`` it is stagebench's reading of IR that lowered well, and the frame is its own.
    """

    variant: Variant
    where: str
    error: str
    message: str
    file: str | None
    line: int | None
    pass_name: str | None
    out_of_memory: bool
    diagnostics: tuple[Diagnostic, ...]
    module_files: tuple[str, ...]


Reply = Lowered | Rejected | Raised


class Hello(Record, frozen=True, kw_only=True, tag="hello"):
    """The worker has imported its compiler and is ready."""

    compiler: Compiler
    import_seconds: float


class Refused(Record, frozen=True, kw_only=True, tag="refused"):
    """The worker could not import its compiler; it exits after saying so."""

    message: str


class Started(Record, frozen=True, kw_only=True, tag="started"):
    """A child process for the job is running."""

    job: int


class Done(Record, frozen=True, kw_only=True, tag="done"):
    """The job's child ended in an orderly way."""

    job: int
    reply: Reply


class Died(Record, frozen=True, kw_only=True, tag="died"):
    """The job's child ended without a reply.

    ``signal`` is the number of the signal that ended it (0: it exited by itself, with
    ``exit_code``); ``timed_out`` says that we sent it; ``oom_kills`` how many processes the
    kernel killed for memory meanwhile, on this machine or in this control group (``None``: the
    counter can't be read); ``pass_name`` the pass that had last reported; ``stderr`` the tail of
    what the child printed.
    """

    job: int
    exit_code: int
    signal: int
    timed_out: bool
    oom_kills: int | None
    pass_name: str | None
    stderr: str


ToWorker = Lower | Cancel
FromWorker = Hello | Refused | Started | Done | Died

_encoder = msgspec.json.Encoder()


def encode_line(message: ToWorker | FromWorker) -> bytes:
    """One message as one line, newline included."""
    return _encoder.encode(message) + b"\n"


decode_to_worker = msgspec.json.Decoder(ToWorker).decode
decode_from_worker = msgspec.json.Decoder(FromWorker).decode
decode_reply = msgspec.json.Decoder(Reply).decode
