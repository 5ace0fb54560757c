"""What do the assembler and an NVRTC process say to each other?

Each job has a socket of its own, handed over through the process's control socket; on it go
frames, a length and one JSON message each.  The assembler sends `Compile`; the process answers
`Running`, `Compiled` or `Rejected`, and `Ended`, and closes it.  What is not answered by the time
it is closed is lost.  End of file on the control socket ends the process and its children.
"""

from __future__ import annotations

import socket
import struct

import msgspec

from stagebench.model import Record

JOB = b"job"
"""A control message that carries one job's socket."""
KILL = struct.Struct("<q")
"""A control message that names a child to kill."""
_LENGTH = struct.Struct("<Q")
_CHUNK_BYTES = 1 << 20


class Compile(Record, frozen=True, kw_only=True, tag="compile"):
    """Compile one text; ``options`` are NVRTC's, without those for precompiled headers.

    ``headers`` are texts that it may include by these names.
    """

    source: str
    options: tuple[str, ...]
    headers: dict[str, str]


class Running(Record, frozen=True, kw_only=True, tag="running"):
    """The process ``pid`` now compiles."""

    pid: int


class Compiled(Record, frozen=True, kw_only=True, tag="compiled"):
    """The PTX; ``precompiled`` says whether a precompiled header was used."""

    ptx: str
    seconds: float
    precompiled: bool


class Rejected(Record, frozen=True, kw_only=True, tag="rejected"):
    """NVRTC refused the text; ``status`` is its result's name, ``log`` what it printed."""

    status: str
    log: str


class Ended(Record, frozen=True, kw_only=True, tag="ended"):
    """The child that ran the job has ended: its exit code, or the signal as a negative number."""

    code: int


FromNvrtc = Running | Compiled | Rejected | Ended

_decode_request = msgspec.json.Decoder(Compile).decode
_decode_answer = msgspec.json.Decoder(FromNvrtc).decode


def send(channel: socket.socket, message: Compile | FromNvrtc) -> None:
    """Send one message; raises `OSError` if nobody reads."""
    data = msgspec.json.encode(message)
    channel.sendall(_LENGTH.pack(len(data)) + data)


def receive_request(channel: socket.socket) -> Compile:
    """The job's request.  Raises `EOFError` if it doesn't come."""
    return _decode_request(_receive(channel))


def receive_answer(channel: socket.socket) -> FromNvrtc:
    """The next answer.  Raises `EOFError` when the process closed the socket."""
    return _decode_answer(_receive(channel))


def _receive(channel: socket.socket) -> bytes:
    (length,) = _LENGTH.unpack(_exactly(channel, _LENGTH.size))
    return _exactly(channel, length)


def _exactly(channel: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        chunk = channel.recv(min(_CHUNK_BYTES, size - len(data)))
        if not chunk:
            raise EOFError
        data += chunk
    return bytes(data)
