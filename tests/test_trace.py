"""`pathweave trace`, read back by a decoder of its own by the field numbers of the schema."""

from __future__ import annotations

import resource
import struct
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pathweave
from conftest import Command, environment, fake_command, write_scenario
from pathweave.cli.trace import choose
from pathweave.errors import InputError
from pathweave.results.read import find_runs
from pathweave.trace import protobuf
from pathweave.trace.packets import packets

if TYPE_CHECKING:
    from pathlib import Path

    from pathweave.results.runs import StoredRun

SCENARIO = """
title = "A link fails"
[fabric]
kind = "parallel-paths"
pairs = 2
rates = ["100 Mbps", "100 Mbps"]
delays = "100 us"
host_rate = "1 Gbps"
host_delay = "10 us"
queue = { limit = 50, mark = { kind = "step", k = 10 } }
[[traffic]]
name = "multipath"
pattern = "flows"
size = "unlimited"
controller = "lia"
subflows = 2
flows = [{ name = "MPTCP", from = "S1", to = "D1" }]
[[traffic]]
name = "short"
pattern = "flows"
size = "200 KB"
controller = "dctcp"
flows = [
    { name = "first", from = "S2", to = "D2", start = "50 ms" },
    { name = "late", from = "S2", to = "D2", start = "295 ms" },
]
[[events]]
at = "100 ms"
link = "A1-B1"
down = true
[[events]]
at = "200 ms"
link = "A1-B1"
up = true
[[events]]
at = "250 ms"
node = "A2"
loss = 0.01
[stop]
at = "300 ms"
[measure]
from = "10 ms"
phases.before = ["10 ms", "100 ms"]
phases.failed = ["100 ms", "200 ms"]
[record]
rates = "10 ms"
windows = "5 ms"
queues = "5 ms"
rtts = "10 ms"
links = "bottleneck"
"""

Fields = dict[int, list[Any]]


def decode(content: bytes) -> Fields:
    """The fields of a message: numbers, or bytes of doubles, strings and messages."""
    found: Fields = {}
    at = 0

    def number() -> int:
        nonlocal at
        result = shift = 0
        while True:
            byte = content[at]
            at += 1
            result |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return result

    while at < len(content):
        tag = number()
        wire = tag & 7
        if wire == 0:
            value: int | bytes = number()
        else:
            length = 8 if wire == 1 else number()
            assert wire in (1, 2)
            assert at + length <= len(content)
            value = content[at : at + length]
            at += length
        found.setdefault(tag >> 3, []).append(value)
    return found


@dataclass
class Track:
    name: str
    parent: int
    is_process: bool
    is_counter: bool
    values: list[tuple[int, float]] = field(default_factory=list)
    events: list[tuple[int, int, str, dict[str, Any]]] = field(default_factory=list)
    """Time in ns, type (1 begin, 2 end, 3 instant), name, annotations."""


def annotation(content: bytes) -> tuple[str, Any]:
    fields = decode(content)
    (name,) = fields.pop(10)
    ((kind, (value,)),) = fields.items()
    read: dict[int, Callable[[Any], Any]] = {
        2: bool,
        4: int,
        5: lambda raw: struct.unpack("<d", raw)[0],
        6: bytes.decode,
    }
    return name.decode(), read[kind](value)


def read_trace(content: bytes) -> dict[str, Track]:
    """The tracks by name. Fails for what the schema does not have."""
    tracks: dict[int, Track] = {}
    whole = decode(content)
    assert set(whole) == {1}
    for place, packet in enumerate(whole[1]):
        fields = decode(packet)
        assert fields.pop(10) == [1]
        assert (fields.pop(13, None) == [1]) == (place == 0)
        if 60 in fields:
            about = decode(fields[60][0])
            assert set(about) <= {1, 2, 3, 5, 8}
            (uuid,) = about[1]
            assert uuid not in tracks
            parent = about.get(5, [0])[0]
            assert parent == 0 or tracks[parent].is_process
            tracks[uuid] = Track(about[2][0].decode(), parent, 3 in about, 8 in about)
            if 3 in about:
                process = decode(about[3][0])
                assert process[6] == about[2]
                assert process[1] == [uuid]
        elif 11 in fields:
            (at,) = fields[8]
            event = decode(fields[11][0])
            track = tracks[event[11][0]]
            if event[9] == [4]:
                assert track.is_counter
                track.values.append((at, struct.unpack("<d", event[44][0])[0]))
            else:
                assert not track.is_counter
                annotations = dict(annotation(each) for each in event.get(4, []))
                name = event.get(23, [b""])[0].decode()
                track.events.append((at, event[9][0], name, annotations))
        else:
            assert place == 0
    names = [track.name for track in tracks.values()]
    assert len(names) == len(set(names))
    return {track.name: track for track in tracks.values()}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> StoredRun:
    """With the real core."""
    folder = tmp_path_factory.mktemp("trace")
    pathweave.run(SCENARIO, name="fails", out=folder, progress=False)
    return find_runs([folder])[0].runs[0]


@pytest.fixture(scope="module")
def tracks(run: StoredRun) -> dict[str, Track]:
    return read_trace(b"".join(packets(run)))


def test_flows_are_slices_with_their_outcome(run: StoredRun, tracks: dict[str, Track]) -> None:
    for flow in run.read("flows").iter_rows(named=True):
        track = tracks[flow["name"]]
        (began, _, name, about), (ended, _, _, _) = [
            event for event in track.events if event[1] in (1, 2)
        ]
        assert name == f"{flow['name']} ({flow['end']})"
        assert began == pytest.approx(flow["start_s"] * 1e9, abs=1)
        end = 0.3 if flow["end_s"] is None else flow["end_s"]
        assert ended == pytest.approx(end * 1e9, abs=1)
        assert about["controller"] == flow["controller"]
        assert about["retransmits"] == flow["retransmits"]
        assert about.get("goodput_bps") == flow["goodput_bps"]
        assert about.get("fct_s") == flow["fct_s"]
    outcomes = [name for track in tracks.values() for _, kind, name, _ in track.events if kind == 1]
    assert outcomes == [
        "before", "failed", "MPTCP (unfinished)", "first (finished)", "late (unfinished)",
    ]  # fmt: skip
    groups = {name for name, track in tracks.items() if track.is_process}
    assert groups == {"run", "links", "flows: multipath", "flows: short"}


@pytest.mark.parametrize(
    ("table", "column", "text", "factor"),
    [
        ("windows", "window_packets", "window (packets)", 1),
        ("windows", "ssthresh_packets", "ssthresh (packets)", 1),
        ("rtts", "rtt_s", "RTT (us)", 1e6),
        ("rtts", "smoothed_rtt_s", "smoothed RTT (us)", 1e6),
    ],
)
def test_subflows_have_counters(
    run: StoredRun, tracks: dict[str, Track], table: str, column: str, text: str, factor: float
) -> None:
    for subflow in (0, 1):
        rows = run.read(table).filter((pl.col("flow") == 0) & (pl.col("subflow") == subflow))
        rows = rows.drop_nulls(column)
        assert rows.height > 5
        track = tracks[f"MPTCP, subflow {subflow}: {text}"]
        assert [at for at, _ in track.values] == pytest.approx(
            [at * 1e9 for at in rows["time_s"]], abs=1
        )
        assert [value for _, value in track.values] == pytest.approx(
            [value * factor for value in rows[column]]
        )


def test_a_rate_stands_over_the_interval_that_it_is_of(
    run: StoredRun, tracks: dict[str, Track]
) -> None:
    rows = run.read("rates").filter(pl.col("flow") == 1)
    values = tracks["first, subflow 0: rate (Mbps)"].values
    # The flow begins at 50 ms. The first row, at 60 ms, is of the ten milliseconds before that.
    assert rows["time_s"][0] == pytest.approx(0.06)
    assert values[0] == (50_000_000, pytest.approx(rows["rate_bps"][0] / 1e6))
    assert values[1] == (60_000_000, pytest.approx(rows["rate_bps"][1] / 1e6))
    assert values[-1] == (pytest.approx(rows["time_s"][-1] * 1e9), 0.0)
    # What the counter stands for is what arrived.
    area = sum(value * (later - at) / 1e9 for (at, value), (later, _) in pairwise(values))
    assert area * 1e6 / 8 == pytest.approx(200_000)


def test_links_have_counters(run: StoredRun, tracks: dict[str, Track]) -> None:
    queue = run.read("queues").filter(pl.col("link") == "A2->B2")
    track = tracks["A2->B2 queue (packets)"]
    assert [value for _, value in track.values] == queue["packets"].to_list()
    assert track.values[0][0] == pytest.approx(queue["time_s"][0] * 1e9)
    shares = run.read("phase_links").filter(pl.col("link") == "A1->B1")["utilisation"]
    assert shares[1] is None  # it was down all the time
    steps = tracks["A1->B1 utilisation (%)"].values
    assert steps == [
        (10_000_000, pytest.approx(100 * shares[0])),
        (100_000_000, 0.0),
        (200_000_000, 0.0),
    ]
    links = {row["link"]: row for row in run.read("links").iter_rows(named=True)}
    for link, row in links.items():
        for column, text in (("drops", "drops"), ("marks", "marks")):
            track = tracks.get(f"{link} {text} (packets)")
            if row[column] == 0:
                assert track is None
            else:
                assert track is not None
                assert track.values == [(10_000_000, 0.0), (300_000_000, row[column])]
    assert sum(row["marks"] for row in links.values()) > 0
    assert "S1->A1 queue (packets)" not in tracks


def test_a_map_gives_links_counters_over_time(tmp_path: Path) -> None:
    text = SCENARIO.replace("[record]", '[record]\nmap = "7 ms"')
    pathweave.run(text, name="mapped", out=tmp_path, progress=False)
    run = find_runs([tmp_path])[0].runs[0]
    tracks = read_trace(b"".join(packets(run)))
    links = {row["link"]: row for row in run.read("links").iter_rows(named=True)}
    rows = run.read("map")
    for link, row in links.items():
        own = rows.filter(pl.col("link") == link)
        track = tracks.get(f"{link} utilisation (%)")
        if own.is_empty():
            assert track is None
            continue
        assert track is not None
        # What the counter stands for is what was sent; the window leaves out the first 10 ms.
        area = sum(value * (later - at) for (at, value), (later, _) in pairwise(track.values))
        sent = area / 1e9 / 100 * row["capacity_bps"] / 8
        assert sent >= 0.999 * row["bytes"]
        assert sent <= row["bytes"] + 0.0101 * row["capacity_bps"] / 8
        assert track.values[-1][1] == 0.0
        if own["marks"].sum():
            assert tracks[f"{link} marks (packets)"].values[-1][1] == own["marks"].sum()
    assert tracks["A1->B1 utilisation (%)"].values
    # A queue that is recorded by itself keeps its counter.
    queue = run.read("queues").filter(pl.col("link") == "A2->B2")
    values = [value for _, value in tracks["A2->B2 queue (packets)"].values]
    assert values == queue["packets"].to_list()


def test_events_phases_and_failures_are_shown(run: StoredRun, tracks: dict[str, Track]) -> None:
    assert [event[:3] for event in tracks["events"].events] == [
        (100_000_000, 3, "A1-B1 goes down"),
        (200_000_000, 3, "A1-B1 comes back"),
        (250_000_000, 3, "A2 loses 1 %"),
    ]
    assert [event[:3] for event in tracks["phase: failed"].events] == [
        (100_000_000, 1, "failed"),
        (200_000_000, 2, ""),
    ]
    (row,) = run.read("recoveries").iter_rows(named=True)
    hit, recovered = [event for event in tracks["MPTCP"].events if event[1] == 3]
    assert hit[:3] == (100_000_000, 3, "hit by the failure of A1-B1")
    assert hit[3] == {"subflows_hit": 1}
    assert recovered[0] == pytest.approx((0.1 + row["recovery_s"]) * 1e9, abs=1)
    assert recovered[2] == "recovered from the failure of A1-B1"


def test_equal_runs_give_equal_traces(run: StoredRun) -> None:
    assert b"".join(packets(run)) == b"".join(packets(run))


def test_numbers_are_encoded_as_the_specification_says() -> None:
    """The examples of the specification: 150, -2, "testing"."""
    assert protobuf.varint(150) == bytes.fromhex("9601")
    assert protobuf.unsigned(1, 150) == bytes.fromhex("089601")
    assert protobuf.signed(1, -2) == bytes.fromhex("08feffffffffffffffff01")
    assert protobuf.text(2, "testing") == bytes.fromhex("120774657374696e67")
    assert protobuf.double(44, 1.0) == bytes.fromhex("e102000000000000f03f")
    for wrong in (-1, 2**64):
        with pytest.raises(ValueError, match="64 bits"):
            protobuf.varint(wrong)


@given(st.integers(0, 2**64 - 1), st.integers(1, 2**20), st.text(), st.floats(allow_nan=False))
def test_fields_come_back(number: int, name: int, words: str, value: float) -> None:
    content = (
        protobuf.unsigned(name, number) + protobuf.text(name + 1, words)
        + protobuf.double(name + 2, value)
    )  # fmt: skip
    assert decode(content) == {
        name: [number],
        name + 1: [words.encode()],
        name + 2: [struct.pack("<d", value)],
    }


def test_the_command_writes_a_file(cli: Command, tmp_path: Path) -> None:
    axes = 'scheme = ["DCTCP", "XMP-4"]'
    write_scenario(tmp_path, axes=axes, fake="flows = 4")
    assert cli("run", "tab1.toml", "--seeds", "2").returncode == 0
    done = cli("trace", "results/tab1", "xmp-4-s2")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "Trace: xmp-4-s2.perfetto-trace\n"
    tracks = read_trace((tmp_path / "xmp-4-s2.perfetto-trace").read_bytes())
    assert "flows: large" in tracks
    alone = cli("trace", "results/tab1/quick/dctcp-s1", "--out", "x.trace")
    assert alone.returncode == 0, alone.stderr
    for arguments, said in (
        (("results", "xmp-4-s3"), 'there is no run "xmp-4-s3"; did you mean "xmp-4-s2"'),
        (("results", "zzz"), "there are dctcp-s1, dctcp-s2, xmp-4-s1, xmp-4-s2"),
        (("results",), "there are 4 runs; name one of quick/dctcp-s1"),
        (("nothing", "xmp-4-s1"), "there is no folder nothing"),
        (("results", "xmp-4-s1", "--out", "results"), "results is a folder"),
    ):
        wrong = cli("trace", *arguments)
        assert wrong.returncode == 2
        assert said in wrong.stderr
    # A file may have 500 B, as on a disk that is full after that.
    before = (tmp_path / "x.trace").read_bytes()
    full = subprocess.run(
        fake_command(["trace", "results", "xmp-4-s1", "--out", "x.trace"]),
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500)),
    )
    assert full.returncode == 1
    assert "File too large" in full.stderr
    assert (tmp_path / "x.trace").read_bytes() == before
    assert not list(tmp_path.glob(".x*"))


def test_a_name_of_several_runs_needs_its_settings(fake: None, tmp_path: Path) -> None:
    path = write_scenario(tmp_path, axes='scheme = ["DCTCP"]', fake="flows = 4")
    out = tmp_path / "results"
    for values in ({}, {"fabric.k": 4}):
        pathweave.run(path, set=values, out=out, progress=False)
    runs = [run for scenario in find_runs([out]) for run in scenario.runs]
    with pytest.raises(InputError, match="2 runs are called") as caught:
        choose(runs, "dctcp-s1")
    assert "quick/dctcp-s1, quick-k=4/dctcp-s1" in str(caught.value)
    assert choose(runs, "quick-k=4/dctcp-s1").folder.parent.name == "quick-k=4"
