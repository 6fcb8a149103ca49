"""Packets of a Perfetto trace: tracks, and what happens on them.

The numbers of fields are those of the published schema, in the repository google/perfetto below
protos/perfetto/trace: trace.proto, trace_packet.proto, track_event/track_event.proto,
track_event/track_descriptor.proto, track_event/process_descriptor.proto and
track_event/debug_annotation.proto. Reference:
https://perfetto.dev/docs/reference/trace-packet-proto.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pathweave.errors import InputError
from pathweave.trace.protobuf import delimited, double, signed, text, unsigned, varint

if TYPE_CHECKING:
    from collections.abc import Mapping

Value = str | int | float | bool
"""What an annotation of an event can be."""

# Trace
_LATEST_S: Final = 1e9
"""Seconds after which no run ends, by far."""
_PACKET: Final = 1
# TracePacket
_TIMESTAMP: Final = 8
_SEQUENCE: Final = 10
_TRACK_EVENT: Final = 11
_SEQUENCE_FLAGS: Final = 13
_TRACK_DESCRIPTOR: Final = 60
# TrackDescriptor
_UUID: Final = 1
_NAME: Final = 2
_PROCESS: Final = 3
_PARENT: Final = 5
_COUNTER: Final = 8
# ProcessDescriptor
_PID: Final = 1
_PROCESS_NAME: Final = 6
# TrackEvent
_ANNOTATIONS: Final = 4
_TYPE: Final = 9
_TRACK: Final = 11
_CATEGORIES: Final = 22
_EVENT_NAME: Final = 23
_COUNTER_VALUE: Final = 44
# TrackEvent.Type
_SLICE_BEGIN: Final = 1
_SLICE_END: Final = 2
_INSTANT: Final = 3
_COUNTER_TYPE: Final = 4
# DebugAnnotation
_ANNOTATION_NAME: Final = 10
_BOOL: Final = 2
_INT: Final = 4
_DOUBLE: Final = 5
_STRING: Final = 6

_OWN_SEQUENCE: Final = unsigned(_SEQUENCE, 1)
"""All packets come from one writer."""
_CLEARED: Final = 1
"""SEQ_INCREMENTAL_STATE_CLEARED: nothing that came before is referred to."""


def nanoseconds(seconds: float) -> int:
    """The time stamp of a time in s; Perfetto counts whole nanoseconds.

    Raises `InputError` for one that no run has.
    """
    if not 0 <= seconds < _LATEST_S:
        raise InputError(f"a table of the run has the time {seconds} s")
    return round(seconds * 1e9)


def beginning() -> bytes:
    """The first packet of a trace."""
    return _packet(unsigned(_SEQUENCE_FLAGS, _CLEARED))


def process(uuid: int, name: str) -> bytes:
    """A group of tracks: Perfetto calls it a process, whose number is here the group's own."""
    about = signed(_PID, uuid) + text(_PROCESS_NAME, name)
    return _track(unsigned(_UUID, uuid) + text(_NAME, name) + delimited(_PROCESS, about))


def track(uuid: int, name: str, parent: int) -> bytes:
    """A track of slices and instants in a group."""
    return _track(unsigned(_UUID, uuid) + text(_NAME, name) + unsigned(_PARENT, parent))


def counter_track(uuid: int, name: str, parent: int) -> bytes:
    """A track of values in a group."""
    about = unsigned(_UUID, uuid) + text(_NAME, name) + unsigned(_PARENT, parent)
    return _track(about + delimited(_COUNTER, b""))


def slice_begin(
    at_s: float, track: int, name: str, category: str, about: Mapping[str, Value]
) -> bytes:
    """A slice begins; `about` is what the viewer shows of it."""
    return _event(at_s, _SLICE_BEGIN, track, _named(name, category, about))


def slice_end(at_s: float, track: int) -> bytes:
    """The slice that began last on the track ends."""
    return _event(at_s, _SLICE_END, track, b"")


def instant(at_s: float, track: int, name: str, category: str, about: Mapping[str, Value]) -> bytes:
    """Something happens at one moment."""
    return _event(at_s, _INSTANT, track, _named(name, category, about))


def value(at_s: float, track: int, number: float) -> bytes:
    """A counter has this value from now on."""
    return _event(at_s, _COUNTER_TYPE, track, double(_COUNTER_VALUE, number))


def _track(descriptor: bytes) -> bytes:
    return _packet(delimited(_TRACK_DESCRIPTOR, descriptor))


def _event(at_s: float, kind: int, track: int, more: bytes) -> bytes:
    content = unsigned(_TYPE, kind) + unsigned(_TRACK, track) + more
    return _packet(unsigned(_TIMESTAMP, nanoseconds(at_s)) + delimited(_TRACK_EVENT, content))


def _named(name: str, category: str, about: Mapping[str, Value]) -> bytes:
    annotations = b"".join(
        delimited(_ANNOTATIONS, text(_ANNOTATION_NAME, key) + _annotation(each))
        for key, each in about.items()
    )
    return annotations + text(_CATEGORIES, category) + text(_EVENT_NAME, name)


def _annotation(each: Value) -> bytes:
    if isinstance(each, bool):
        return unsigned(_BOOL, each)
    if isinstance(each, int):
        return signed(_INT, each)
    return double(_DOUBLE, each) if isinstance(each, float) else text(_STRING, each)


def _packet(content: bytes) -> bytes:
    content = _OWN_SEQUENCE + content
    return _PACKET_TAG + varint(len(content)) + content


_PACKET_TAG: Final = varint(_PACKET << 3 | 2)
