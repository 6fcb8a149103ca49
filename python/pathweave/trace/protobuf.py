"""The wire format of Protocol Buffers, as far as messages are written.

A message is its fields one after the other: a tag, which is the field's number and how its value is
written, and the value. Source: https://protobuf.dev/programming-guides/encoding/.
"""

from __future__ import annotations

import struct

_VARINT = 0
_FIXED64 = 1
_LENGTH_DELIMITED = 2
_MOST = 2**64


def varint(value: int) -> bytes:
    """An unsigned number in groups of seven bits, the lowest first.

    Raises ValueError for a number that is negative or does not fit 64 bits.
    """
    if not 0 <= value < _MOST:
        raise ValueError(f"{value} is not an unsigned number of 64 bits")
    groups = bytearray()
    while value > 0x7F:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    groups.append(value)
    return bytes(groups)


def unsigned(field: int, value: int) -> bytes:
    """A field of type uint32, uint64, bool or enum."""
    return varint(field << 3 | _VARINT) + varint(value)


def signed(field: int, value: int) -> bytes:
    """A field of type int32 or int64: negative numbers as their two's complement of 64 bits."""
    return varint(field << 3 | _VARINT) + varint(value % _MOST)


def double(field: int, value: float) -> bytes:
    """A field of type double."""
    return varint(field << 3 | _FIXED64) + struct.pack("<d", value)


def delimited(field: int, content: bytes) -> bytes:
    """A field of type bytes, or a message within the message."""
    return varint(field << 3 | _LENGTH_DELIMITED) + varint(len(content)) + content


def text(field: int, value: str) -> bytes:
    """A field of type string."""
    return delimited(field, value.encode())
