"""The tables of the testbed have the columns and types of the compiled core's."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fake_linux
from conftest import real
from pathweave.core import core
from pathweave.results.schema import TABLES, typed

SCENARIO = """
title = "A small fabric"
[fabric]
kind = "fat-tree"
k = 4
rate = "100 Mbps"
delay = "20 us"
queue = {{ limit = 100, mark = {{ kind = "step", k = 10 }} }}
{shared}
[routing]
kind = "{routing}"
[transport]
preset = "xmp-2013"
[[traffic]]
name = "large"
pattern = "permutation"
size = "unlimited"
controller = "{controller}"
subflows = {subflows}
[[traffic]]
name = "jobs"
pattern = "incast"
jobs = 1
controller = "{controller}"
[[traffic]]
name = "training"
pattern = "collective"
operation = "ring-all-reduce"
bytes = "40 KB"
group_size = 4
jobs = 1
iterations = 5
controller = "{controller}"
[[events]]
at = "10 ms"
link = "{link}"
down = true
[stop]
at = "40 ms"
[measure.phases]
early = ["0 ms", "20 ms"]
late = ["20 ms", "40 ms"]
[record]
rates = "5 ms"
windows = "5 ms"
rtts = "5 ms"
suspensions = true
queues = "5 ms"
map = "5 ms"
"""


def write(folder: Path, **parts: object) -> Path:
    usual = {
        "shared": "", "routing": "ecmp", "controller": "xmp", "subflows": 2,
        "link": "edge0.0-agg0.0",
    }  # fmt: skip
    path = folder / "small.toml"
    path.write_text(SCENARIO.format(**{**usual, **parts}))
    return path


def simulated(path: Path) -> dict[str, dict[str, Any]]:
    run = core().load(str(path), None, [], [], None).variants[0].prepare(1)
    run.start()
    while run.poll()["state"] == "running":
        time.sleep(0.001)
    tables = run.take().tables
    return {name: dict(tables[name]) for name in tables}


def test_types_and_order_are_the_cores(tmp_path: Path) -> None:
    """All tables of simulations come back from JSON as they were, whatever the columns' order."""
    parts: list[dict[str, object]] = [
        {"shared": 'shared_buffer = { size = "1 MB" }'},
        {"routing": "fmp"},
        {"controller": "xcp", "subflows": 1},
    ]
    seen: set[str] = set()
    for part in parts:
        tables = simulated(write(tmp_path, **part))
        seen |= set(tables)
        sent = json.loads(json.dumps(fake_linux.plain(tables), allow_nan=False))
        for name, table in tables.items():
            received = typed(name, dict(sorted(sent[name].items())))
            assert list(received) == list(table), name
            for column, values in table.items():
                got = received[column]
                if isinstance(values, list):
                    assert got == values
                else:
                    assert isinstance(got, np.ndarray)
                    assert got.dtype == values.dtype, (name, column)
                    np.testing.assert_array_equal(got, values)
    # Only senders on real hosts say what limited them.
    assert seen == set(TABLES) - {"sender_limits"}


def test_files_are_those_of_a_simulation(tmp_path: Path) -> None:
    path = write(tmp_path)
    tables = tmp_path / "tables.json"
    tables.write_text(json.dumps(fake_linux.plain(simulated(path))))
    program = str(fake_linux.install(tmp_path))
    for verb in ("run", "testbed"):
        done = real(tmp_path, verb, "small.toml", PATHWEAVE_LINUX=program, FAKE_TABLES=str(tables))
        assert done.returncode == 0, done.stderr
    ours, theirs = (
        {
            file.name: file.read_bytes()
            for file in (tmp_path / "results").glob(f"small/{name}/*/*.parquet")
        }
        for name in ("quick", "quick-testbed")
    )
    assert len(ours) > 10
    assert ours == theirs


FLOW = {
    "time_s": [0.5, 1.0], "flow": [0, 2**53 + 1], "subflow": [0, 1], "rate_bps": [1.5, None],
}  # fmt: skip


def test_null_is_nan_and_large_integers_are_exact() -> None:
    received = typed("rates", FLOW)
    assert received["flow"][1] == 2**53 + 1
    assert math.isnan(received["rate_bps"][1])  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("speeds", {}, "no table speeds"),
        ("rates", {"flow": None}, "too many or too few: flow"),
        ("rates", {"mood": [1, 2]}, "too many or too few: mood"),
        ("rates", {"flow": [1]}, "differ in length"),
        ("rates", {"flow": [1, None]}, "wrong type"),
        ("rates", {"flow": [1, 2.5]}, "wrong type"),
        ("rates", {"flow": [1, -1]}, "wrong type"),
        ("rates", {"flow": [1, True]}, "wrong type"),
        ("rates", {"rate_bps": [1.0, "fast"]}, "wrong type"),
    ],
)
def test_other_tables_are_refused(name: str, change: dict[str, Any], said: str) -> None:
    table = {column: values for column, values in (FLOW | change).items() if values is not None}
    with pytest.raises(ValueError, match=said):
        typed(name, table)
