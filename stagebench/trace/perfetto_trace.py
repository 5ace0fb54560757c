"""How does a timeline get into ui.perfetto.dev?  As a Perfetto trace: same timeline, same bytes.

Each group of the timeline is a process, each of its rows a thread track of its own (`rows`: what
overlaps without nesting goes on a second row), each counter a counter track.  Source: perfetto.dev,
"Converting arbitrary timestamped data to Perfetto"; ``track_event.proto``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stagebench.errors import MachineError
from stagebench.trace.timeline import Counter, Slice, Timeline, rows, span

if TYPE_CHECKING:
    from stagebench.model import Scalar

_SEQUENCE = 1
_END, _COUNTER, _MOMENT, _BEGIN = range(4)  # at one moment: what ends goes before what begins


def perfetto_bytes(timeline: Timeline) -> bytes:
    """The trace; its first moment is at 0.  `MachineError` without the package ``perfetto``."""
    try:
        from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import (  # type: ignore[import-untyped]
            TracePacket,
            TrackDescriptor,
            TrackEvent,
        )
        from perfetto.trace_builder.proto_builder import (  # type: ignore[import-untyped]
            TraceProtoBuilder,
        )
    except ImportError as exc:
        raise MachineError(
            "a Perfetto trace needs the package perfetto, which is not installed",
            hint="pip install 'stagebench[trace]'",
        ) from exc
    writer = _Writer(TraceProtoBuilder(), TrackDescriptor, TrackEvent)
    writer.clear_state(TracePacket.SEQ_INCREMENTAL_STATE_CLEARED)
    extent = span(timeline)
    writer.zero = 0 if extent is None else extent[0]
    for track in timeline.tracks:
        found = rows(track.slices) or ((),)
        for number, row in enumerate(found):
            name = track.name if number == 0 else f"{track.name} ({number + 1})"
            writer.row(writer.track(track.group, name), row)
    for counter in timeline.counters:
        writer.counter(writer.counter_track(counter), counter)
    return writer.serialize()


class _Writer:
    """Adds packets to the builder; events go in by time, as the format wants them."""

    def __init__(self, builder: Any, descriptor: Any, event: Any) -> None:  # noqa: ANN401
        self._builder, self._descriptor, self._event = builder, descriptor, event
        self._groups: dict[str, int] = {}
        self._next = 1
        self._events: list[tuple[int, int, int, int, Slice | int]] = []
        self.zero = 0

    def clear_state(self, flag: int) -> None:
        """The sequence's first packet: what was interned before is forgotten."""
        self._packet().sequence_flags = flag

    def track(self, group: str, name: str) -> int:
        """A track below the process of its group."""
        parent = self._group(group)
        return self._describe(name, parent=parent)

    def counter_track(self, counter: Counter) -> int:
        """A track whose events are values."""
        parent = self._group(counter.group)
        return self._describe(counter.name, parent=parent, unit=counter.unit)

    def row(self, uuid: int, row: tuple[Slice, ...]) -> None:
        """The slices of one row; the outer one begins first and ends last."""
        for order, item in enumerate(row):
            start, end = item.start_ns - self.zero, item.end_ns - self.zero
            if start == end:
                self._events.append((start, _MOMENT, order, uuid, item))
                continue
            self._events.append((start, _BEGIN, order, uuid, item))
            self._events.append((end, _END, -order, uuid, item))

    def counter(self, uuid: int, counter: Counter) -> None:
        """The samples of one counter."""
        for order, (at, value) in enumerate(counter.samples):
            self._events.append((at - self.zero, _COUNTER, order, uuid, value))

    def serialize(self) -> bytes:
        """Write the events by time and return the trace."""
        for at, kind, _, uuid, item in sorted(self._events, key=lambda event: event[:4]):
            packet = self._packet()
            packet.timestamp = at
            event = packet.track_event
            event.track_uuid = uuid
            if isinstance(item, int):
                event.type = self._event.TYPE_COUNTER
                event.counter_value = item
            elif kind == _END:
                event.type = self._event.TYPE_SLICE_END
            else:
                moment = kind == _MOMENT
                event.type = self._event.TYPE_INSTANT if moment else self._event.TYPE_SLICE_BEGIN
                event.name = item.name
                event.categories.append(item.kind)
                for name in sorted(item.args):
                    _annotate(event.debug_annotations.add(), name, item.args[name])
        data: bytes = self._builder.trace.SerializeToString(deterministic=True)
        return data

    def _group(self, group: str) -> int:
        if group not in self._groups:
            number = len(self._groups) + 1
            uuid = self._describe(group)
            descriptor = self._last.track_descriptor
            descriptor.process.pid = number
            descriptor.process.process_name = group
            descriptor.child_ordering = self._descriptor.EXPLICIT
            self._groups[group] = uuid
        return self._groups[group]

    def _describe(self, name: str, *, parent: int | None = None, unit: str | None = None) -> int:
        uuid, self._next = self._next, self._next + 1
        self._last = self._packet()
        descriptor = self._last.track_descriptor
        descriptor.uuid = uuid
        descriptor.name = name
        if parent is not None:
            descriptor.parent_uuid = parent
            descriptor.sibling_order_rank = uuid
        if unit is not None:
            descriptor.counter.unit_name = unit
        return uuid

    def _packet(self) -> Any:  # noqa: ANN401 - generated protobuf classes carry no types
        packet = self._builder.add_packet()
        packet.trusted_packet_sequence_id = _SEQUENCE
        return packet


def _annotate(annotation: Any, name: str, value: Scalar) -> None:  # noqa: ANN401
    annotation.name = name
    if isinstance(value, bool):
        annotation.bool_value = value
    elif isinstance(value, int):
        annotation.int_value = value
    elif isinstance(value, float):
        annotation.double_value = value
    elif value is not None:
        annotation.string_value = value
