"""Does every message come back as it was sent, on one line, and nothing else get through?"""

import msgspec
import pytest

from stagebench.model import Compiler
from stagebench.worker import protocol
from stagebench.worker.protocol import (
    Cancel,
    Died,
    Done,
    Hello,
    Lower,
    Lowered,
    LowerRequest,
    PassTime,
    Raised,
    Refused,
    Rejected,
    Started,
    Times,
)
from tests.dumping.building import CUDA, FRAME, lowered, variant

REQUEST = LowerRequest(
    path="/a b/größe.py", function="f", kernel="größe.py:f",
    params={"tile": (64, (32, 16)), "x": None, "y": True, "z": 0.5, "w": "line\nbreak"},
    num_stages=2, stage_param=None, arch="sm_90a", pass_configs={"tl.x": True},
)  # fmt: skip
TIMES = Times(
    load=0.5, lower=1.5, observe=0.25, facts=0.125,
    passes=(PassTime(sequence=0, name="tl.First", seconds=0.5),),
)  # fmt: skip
LOWERED = Lowered(
    variant=variant(tile=(64, 32)), facts=lowered().facts, kernel_cu=CUDA, snapshots=FRAME,
    times=TIMES, module_files=("/a/b.py",),
)  # fmt: skip
RAISED = Raised(
    variant=variant(), where="kernel", error="ValueError", message="two\nlines", file="b.py",
    line=3, pass_name=None, out_of_memory=False, diagnostics=(), module_files=(),
)  # fmt: skip
DIED = Died(
    job=3, exit_code=0, signal=6, timed_out=False, oom_kills=None, pass_name="tl.X",  # noqa: S106
    stderr="abort\n",
)  # fmt: skip


@pytest.mark.parametrize(
    "message",
    [Lower(job=1, request=REQUEST, timeout_seconds=0.5, memory_limit_bytes=1 << 40), Cancel(job=2)],
    ids=["lower", "cancel"],
)
def test_to_the_worker(message):
    """What the parent sends is read by the worker as it was: one line, no break inside."""
    line = protocol.encode_line(message)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert protocol.decode_to_worker(line) == message


@pytest.mark.parametrize(
    "message",
    [
        Hello(compiler=Compiler(name="tilelang", version="0.1.15"), import_seconds=4.5),
        Refused(message="ImportError: libcuda.so"),
        Started(job=0),
        Done(job=1, reply=LOWERED),
        Done(job=1, reply=RAISED),
        Done(job=1, reply=Rejected(code="usage", message="no such parameter", hint=None)),
        DIED,
    ],
    ids=["hello", "refused", "started", "lowered", "raised", "rejected", "died"],
)
def test_from_the_worker(message):
    """What the worker sends is read by the parent as it was, facts and binary frames too."""
    line = protocol.encode_line(message)
    assert line.count(b"\n") == 1
    assert protocol.decode_from_worker(line) == message


def test_a_reply_of_a_child():
    """A child's reply is read by the server before it is passed on."""
    assert protocol.decode_reply(msgspec.json.encode(LOWERED)) == LOWERED


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"warning: something\n",
        b"{}\n",
        b'{"type":"unheard-of"}\n',
        b'{"type":"started"}\n',
        b'{"type":"started","job":"1"}\n',
        b'{"type":"started","job":1,"more":2}\n',
        b'{"type":"started","job":1}\n{"type":"started","job":2}\n',
    ],
)
def test_anything_else_is_no_message(line):
    """A print on the channel, an unknown tag, a missing, mistyped or unknown field: an error."""
    with pytest.raises(msgspec.DecodeError):
        protocol.decode_from_worker(line)


def test_each_direction_has_its_own_messages():
    """A worker's message is none of the parent's."""
    with pytest.raises(msgspec.DecodeError):
        protocol.decode_to_worker(protocol.encode_line(Started(job=1)))
    with pytest.raises(msgspec.DecodeError):
        protocol.decode_from_worker(protocol.encode_line(Cancel(job=1)))
