"""Captures in tshark, with the dissector that comes with the package."""

from __future__ import annotations

import math
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

import pathweave
from pathweave.wireshark import DISSECTOR

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pathweave.results.runs import StoredRun

TSHARK = shutil.which("tshark")
if TSHARK is None:
    pytest.skip("tshark is missing (Debian: apt install tshark)", allow_module_level=True)

ROOT = Path(__file__).parent.parent
SCENARIO = """
[fabric]
kind = "dumbbell"
left = 2
bottleneck_rate = "1 Gbps"
bottleneck_delay = "50 us"
host_rate = "10 Gbps"
host_delay = "1 us"
queue = { limit = 200, mark = { kind = "step", k = 10 } }

[[traffic]]
name = "listed"
pattern = "flows"
size = "3 MB"
flows = [{ name = "first", from = "S1", to = "D1" }, { from = "S2", to = "D2", start = "5 ms" }]

[variants.controller]
DCTCP = { traffic.listed.controller = "dctcp" }
XMP = { traffic.listed.controller = "xmp" }
BOS = { traffic.listed.controller = "bos" }
XCP = { traffic.listed.controller = "xcp" }
RCP = { traffic.listed.controller = "rcp" }
VCP = { traffic.listed.controller = "vcp" }
MLCP = { traffic.listed.controller = "mlcp" }
DECN = { traffic.listed.controller = "decn" }

[record]
packets = ["first"]
"""
SYN = 0x02
OF_EVERY_PACKET = (
    "tcp.flags",
    "tcp.dstport",
    "ip.dsfield.ecn",
    "ip.checksum.status",
    "tcp.checksum.status",
    "_ws.malformed",
    "pathweave.scheme",
)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> pathweave.Results:
    folder = tmp_path_factory.mktemp("wireshark")
    (folder / "fields.toml").write_text(SCENARIO)
    return pathweave.run(folder / "fields.toml", out=folder / "out", progress=False)


def run_of(results: pathweave.Results, label: str) -> StoredRun:
    return next(run for run in results.stored if run.label == label)


def tshark(*words: str) -> str:
    assert TSHARK is not None
    done = subprocess.run(
        [TSHARK, *words],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "LC_ALL": "C.UTF-8"},
    )
    assert "Lua" not in done.stderr, done.stderr
    return done.stdout


def rows(results: pathweave.Results, label: str, *fields: str) -> Iterator[dict[str, str]]:
    """What tshark shows of each packet after the handshake, in which checksums are right."""
    names = (*OF_EVERY_PACKET, *fields)
    wanted = [word for name in names for word in ("-e", name)]
    capture = str(run_of(results, label).captures["first"])
    checked = ["-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE"]
    script = ["-X", f"lua_script:{DISSECTOR}"]
    count = 0
    for line in tshark("-r", capture, *script, *checked, "-T", "fields", *wanted).splitlines():
        row = dict(zip(names, line.split("\t"), strict=True))
        assert row["_ws.malformed"] == ""
        assert row["ip.checksum.status"] == "1"
        # Frames of data lack their payload.
        assert is_data(row) or row["tcp.checksum.status"] == "1"
        if int(row["tcp.flags"], 16) & SYN:
            assert row["pathweave.scheme"] == ""
            continue
        count += 1
        yield row
    assert count > 500


def is_data(row: dict[str, str]) -> bool:
    return row["tcp.dstport"] == "5001"


@pytest.mark.parametrize("label", ["XMP", "BOS"])
def test_marks_are_counted(results: pathweave.Results, label: str) -> None:
    seen: Counter[int] = Counter()
    for row in rows(results, label, "pathweave.marks"):
        assert row["pathweave.scheme"] == "marks"
        if is_data(row):
            assert row["pathweave.marks"] == ""
        else:
            seen[int(row["pathweave.marks"])] += 1
    assert seen[1] > 0
    assert seen[2] > 0
    table = pl.read_parquet(run_of(results, label).path("subflows")).filter(pl.col("flow") == 0)
    assert sum(marks * packets for marks, packets in seen.items()) == table["marks"].sum()


def test_others_have_no_fields(results: pathweave.Results) -> None:
    for row in rows(results, "DCTCP", "pathweave.marks"):
        assert row["pathweave.scheme"] == ""
        assert row["pathweave.marks"] == ""


def test_xcp(results: pathweave.Results) -> None:
    names = ("pathweave.xcp.window", "pathweave.xcp.rtt", "pathweave.xcp.change")
    for row in rows(results, "XCP", *names):
        assert row["pathweave.scheme"] == "xcp"
        window, rtt, change = (row[name] for name in names)
        if is_data(row):
            assert float(window) >= 1500
            assert 1e-4 < float(rtt) < 1e-2
            assert float(change) == math.inf
        else:
            assert (window, rtt) == ("", "")
            assert math.isfinite(float(change))


def test_rcp(results: pathweave.Results) -> None:
    for row in rows(results, "RCP", "pathweave.rcp.rate", "pathweave.rcp.rtt"):
        assert row["pathweave.scheme"] == "rcp"
        rate = float(row["pathweave.rcp.rate"])
        if is_data(row):
            assert rate == math.inf
            assert 1e-4 < float(row["pathweave.rcp.rtt"]) < 1e-2
        else:
            assert 1e6 < rate <= 1e9
            assert row["pathweave.rcp.rtt"] == ""


def test_vcp(results: pathweave.Results) -> None:
    seen: set[str] = set()
    for row in rows(results, "VCP", "pathweave.vcp.load"):
        assert row["pathweave.scheme"] == "vcp"
        assert row["pathweave.vcp.load"] == row["ip.dsfield.ecn"]
        if is_data(row):
            assert row["pathweave.vcp.load"] == "1"
        else:
            seen.add(row["pathweave.vcp.load"])
    assert seen == {"1", "2", "3"}


def test_mlcp(results: pathweave.Results) -> None:
    levels: set[int] = set()
    for row in rows(results, "MLCP", "pathweave.mlcp.load", "pathweave.mlcp.rtt"):
        assert row["pathweave.scheme"] == "mlcp"
        assert 0 <= int(row["pathweave.mlcp.rtt"]) <= 7
        if is_data(row):
            assert row["pathweave.mlcp.load"] == "0"
        else:
            levels.add(int(row["pathweave.mlcp.load"]))
    assert levels <= set(range(16))
    assert len(levels) > 5


def test_decn(results: pathweave.Results) -> None:
    names = [f"pathweave.decn.{name}" for name in ("bits", "packet", "difference")]
    units: dict[bool, list[int]] = {True: [], False: []}
    in_unit: dict[bool, list[int]] = {True: [], False: []}
    for row in rows(results, "DECN", *names):
        assert row["pathweave.scheme"] == "decn"
        bits, packet, difference = (row[name] for name in names)
        assert int(bits, 16) == int(row["tcp.flags"], 16) >> 8
        assert (packet == "1") == (row["ip.dsfield.ecn"] == "1")
        way = is_data(row)
        if packet == "":
            continue
        in_unit[way].append(int(bits, 16))
        assert (packet == "3") == (difference != "")
        if packet == "3":
            first, second, third = in_unit[way][-3:]
            assert int(difference) == 256 * first + 16 * second + third - 2048
            units[way].append(int(difference))
    assert set(units[True]) == {2047}
    assert len(units[True]) > 50
    assert len(units[False]) >= len(units[True]) - 3
    # The second flow takes half of the link.
    assert min(units[False]) < -100
    assert max(units[False]) > 100


def test_the_command_of_the_documentation(
    results: pathweave.Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    _, _, section = text.partition("### Congestion fields")
    commands = re.findall(r"^ {4}(tshark .*)$", section.partition("\n## ")[0], re.MULTILINE)
    assert len(commands) == 2
    monkeypatch.chdir(run_of(results, "DECN").folder)
    for command in commands:
        shell = command.replace("python -m", f"{shlex.quote(sys.executable)} -m")
        done = subprocess.run(
            ["sh", "-c", shell],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        assert "Lua" not in done.stderr, done.stderr
        assert done.stdout.count("\n") > 50
