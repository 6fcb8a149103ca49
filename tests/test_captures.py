"""Captures of packets, read block by block and byte by byte as their formats are specified.

pcapng: draft-ietf-opsawg-pcapng; IPv4: RFC 791; TCP: RFC 9293, RFC 2018.
"""

from __future__ import annotations

import json
import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

import pathweave

SCENARIO = """
[fabric]
kind = "parallel-paths"
pairs = 2
rates = ["1 Gbps", "1 Gbps"]
delays = ["50 us", "120 us"]
host_rate = "10 Gbps"
host_delay = "1 us"
queue = { limit = 40, mark = { kind = "step", k = 10 } }

[routing]
kind = "ecmp"
distinct = true

[transport]
minimum_rto = "1 ms"

[[traffic]]
name = "listed"
pattern = "flows"
size = "3 MB"
subflows = 2
flows = [{ name = "first", from = "S1", to = "D1" }, { name = "other", from = "S2", to = "D2" }]

[variants.controller.Uncoupled]
traffic.listed.controller = { name = "uncoupled", of = "reno" }
[variants.controller.XMP]
traffic.listed.controller = "xmp"

[record]
rtts = "on-change"
packets = ["first", "listed/1"]
"""
SECTION, INTERFACE, PACKET = 0x0A0D0D0A, 1, 6
SYN, ACK, ECE, CWR = 0x02, 0x10, 0x40, 0x80


@dataclass(frozen=True)
class Packet:
    """A captured TCP packet; times in nanoseconds."""

    at: int
    outgoing: bool
    subflow: int
    """The source's port."""
    flags: int
    sequence: int
    acknowledged: int
    payload: int


def blocks(content: bytes) -> Iterator[tuple[int, bytes]]:
    while content:
        kind, length = struct.unpack_from("<II", content)
        assert length % 4 == 0
        assert struct.unpack_from("<I", content, length - 4) == (length,)
        yield kind, content[8 : length - 4]
        content = content[length:]


def options(content: bytes) -> Iterator[tuple[int, bytes]]:
    while content:
        code, length = struct.unpack_from("<HH", content)
        if code == 0:
            return
        yield code, content[4 : 4 + length]
        content = content[4 + (length + 3) // 4 * 4 :]


def is_sound(*parts: bytes) -> bool:
    """Whether the 16-bit ones' complement sum, checksum included, is all ones (RFC 1071)."""
    content = b"".join(parts)
    total = sum(word for (word,) in struct.iter_unpack(">H", content))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total == 0xFFFF


def packet(block: bytes) -> Packet:
    _, high, low, kept, length = struct.unpack_from("<IIIII", block)
    frame = block[20 : 20 + kept]
    assert frame[12:14] == b"\x08\x00"
    ip, tcp = frame[14:34], frame[34:]
    assert ip[0] == 0x45
    assert ip[9] == 6
    size = int.from_bytes(ip[2:4])
    assert length >= 14 + size
    assert is_sound(ip)
    # The payload, which is not there, is of zeros.
    assert is_sound(ip[12:20], struct.pack(">HH", 6, size - 20), tcp)
    source, destination, sequence, acknowledged, words, flags = struct.unpack_from(">HHIIBB", tcp)
    assert len(tcp) == (words >> 4) * 4
    outgoing = ip[12:16] < ip[16:20]  # senders are numbered before receivers
    return Packet(
        at=(high << 32) + low,
        outgoing=outgoing,
        subflow=source if outgoing else destination,
        flags=flags,
        sequence=sequence,
        acknowledged=acknowledged,
        payload=size - 20 - len(tcp),
    )


def read(path: Path) -> list[Packet]:
    (first, section), (second, interface), *rest = blocks(path.read_bytes())
    assert (first, second) == (SECTION, INTERFACE)
    assert struct.unpack_from("<IHH", section) == (0x1A2B3C4D, 1, 0)
    assert struct.unpack_from("<H", interface) == (1,)  # Ethernet
    assert dict(options(interface[8:]))[9] == b"\x09"  # nanoseconds
    assert {kind for kind, _ in rest} == {PACKET}
    return [packet(block) for _, block in rest]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> pathweave.Results:
    folder = tmp_path_factory.mktemp("captures")
    (folder / "captured.toml").write_text(SCENARIO)
    return pathweave.run(folder / "captured.toml", out=folder / "out", progress=False)


def test_files_and_manifest(results: pathweave.Results) -> None:
    for run in results.stored:
        manifest = json.loads((run.folder / "manifest.json").read_text())
        flows = dict(results.flows.select("name", "id").unique().iter_rows())
        expected = {"first": flows["first"], "listed-1": flows["other"]}
        assert {name: about["flow"] for name, about in manifest["captures"].items()} == expected
        for name, about in manifest["captures"].items():
            assert run.captures[name] == run.folder / f"packets-{name}.pcapng"
            assert len(read(run.captures[name])) == about["packets"]


def test_data_packets_are_those_of_the_table(results: pathweave.Results) -> None:
    again = 0
    for run in results.stored:
        rows = pl.read_parquet(run.path("subflows")).filter(pl.col("flow") == 0).sort("subflow")
        packets = read(run.captures["first"])
        assert [p.at for p in packets] == sorted(p.at for p in packets)
        data = [p for p in packets if p.outgoing and not p.flags & SYN]
        sent = Counter(p.subflow for p in data)
        distinct = Counter(subflow for subflow, _ in {(p.subflow, p.sequence) for p in data})
        ports = sorted(sent)
        assert [sent[port] for port in ports] == rows["sent_packets"].to_list()
        repeated = [sent[port] - distinct[port] for port in ports]
        assert repeated == rows["retransmits"].to_list()
        again += sum(repeated)
        bytes_of = dict.fromkeys(ports, 0)
        for p in data:
            bytes_of[p.subflow] = max(bytes_of[p.subflow], p.sequence - 1 + p.payload)
        assert list(bytes_of.values()) == rows["received_bytes"].to_list()
    assert again > 0


def test_marks_are_seen_under_xmp_only(results: pathweave.Results) -> None:
    echoes = {
        run.label: sum(
            bool(p.flags & (ECE | CWR)) and not p.flags & SYN for p in read(run.captures["first"])
        )
        for run in results.stored
    }
    assert echoes["Uncoupled"] == 0
    assert echoes["XMP"] > 10


def test_round_trip_times_are_those_of_the_capture(results: pathweave.Results) -> None:
    for run in results.stored:
        packets = read(run.captures["first"])
        for subflow, port in enumerate(sorted({p.subflow for p in packets})):
            rows = pl.read_parquet(run.path("rtts")).filter(flow=0, subflow=subflow)
            here = [p for p in packets if p.subflow == port]
            arrivals = {p.at for p in here if not p.outgoing}
            # Seconds as floating-point numbers are good for the capture's nanoseconds, nearly.
            times = [round(time * 1e9) for time in rows["time_s"]]
            assert all({time, time - 1} & arrivals for time in times)
            opening = [p.at for p in here if p.flags & SYN]
            assert opening[1] - opening[0] == pytest.approx(rows["rtt_s"][0] * 1e9, abs=1)
            assert here[1].flags & (SYN | ACK) == SYN | ACK


def test_the_same_bytes_again(results: pathweave.Results, tmp_path: Path) -> None:
    path = results.scenarios[0].path
    assert path is not None
    again = pathweave.run(path, out=tmp_path, progress=False)
    for one, two in zip(results.stored, again.stored, strict=True):
        for name in ("first", "listed-1"):
            assert one.captures[name].read_bytes() == two.captures[name].read_bytes()
