"""The data of the page's map: what links did, where nodes stand, and how much of it a page gets."""

from __future__ import annotations

import base64
import json
import zlib
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import pathweave
from pathweave.report.inside import inside, links_along
from pathweave.report.link_values import DOWN, FULL

if TYPE_CHECKING:
    from pathlib import Path

    from pathweave.results.collection import Results

SCENARIO = """
title = "A failure"
[fabric]
kind = "fat-tree"
k = 4
rate = "100 Mbps"
delay = "10 us"
queue = { limit = 20 }
[[traffic]]
name = "all"
pattern = "permutation"
size = "300 KB"
controller = "lia"
subflows = 2
[[events]]
at = "20 ms"
link = "agg0.0-core0.0"
down = true
[stop]
at = "50 ms"
[record]
map = "1 ms"
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    folder = tmp_path_factory.mktemp("inside")
    (folder / "failure.toml").write_text(SCENARIO)
    return pathweave.run(folder / "failure.toml", seeds=1, out=folder / "out", progress=False)


def test_values_are_those_of_the_table(results: Results) -> None:
    scenario = results.scenarios[0]
    found = inside(scenario)
    assert found is not None
    data, variant = found.data, found.data["variants"][0]
    fabric = data["fabrics"][variant["fabric"]]
    assert data["bins"] == 50
    raw = zlib.decompress(base64.b64decode(variant["values"]))
    values = np.frombuffer(raw, np.uint8).reshape(len(data["metrics"]), -1, data["bins"])
    nodes = [name for name, _, _ in fabric["nodes"]]
    names = [f"{nodes[start]}->{nodes[end]}" for start, end in fabric["links"]]
    rows = scenario.runs[0].read("map")
    assert set(data["metrics"]) == {"utilisation", "queue", "drops"}, "nothing marks here"
    for time, link, share, queue in rows.select(
        "time_s", "link", "utilisation", "queue_mean"
    ).iter_rows():
        byte = values[0, names.index(link), round(time * 1000) - 1]
        if share is None:
            assert byte == DOWN
        else:
            assert byte / FULL == pytest.approx(share, abs=1 / FULL)
        byte = values[data["metrics"].index("queue"), names.index(link), round(time * 1000) - 1]
        largest = data["largest"]["queue"]
        assert (byte / FULL) ** 2 * largest == pytest.approx(queue, abs=2 * largest / FULL)
    down = (values[0] == DOWN).any(axis=1)
    assert [name for name, is_down in zip(names, down, strict=True) if is_down] == [
        "agg0.0->core0.0",
        "core0.0->agg0.0",
    ]
    assert rows.filter(pl.col("utilisation").is_null())["link"].n_unique() == 2


def test_layers_and_places(results: Results) -> None:
    found = inside(results.scenarios[0])
    assert found is not None
    nodes = found.data["fabrics"][0]["nodes"]
    level = {name: height for name, _, height in nodes}
    assert {level[f"h{host}"] for host in range(16)} == {0}
    assert level["edge0.0"] == 1
    assert level["agg3.1"] == 2
    assert level["core1.1"] == 3
    place = {name: x for name, x, _ in nodes}
    assert [place[f"h{host}"] for host in range(16)] == sorted(
        place[f"h{host}"] for host in range(16)
    )
    assert place["edge0.0"] == pytest.approx((place["h0"] + place["h1"]) / 2, abs=0.04)


def test_flows_and_their_links(results: Results) -> None:
    found = inside(results.scenarios[0])
    assert found is not None
    flows = results.scenarios[0].runs[0].read("flows")
    listed = found.data["variants"][0]["flows"]
    assert len(listed) == flows.height
    _, ends, start, _, _, paths = listed[0]
    assert ends == f"{flows['source'][0]} to {flows['destination'][0]}"
    assert start == pytest.approx(flows["start_s"][0])
    assert len(paths) == 2
    fabric = found.data["fabrics"][0]
    for path in paths:
        assert len(path) in (2, 4, 6)
        starts = [fabric["links"][link][0] for link in path]
        ends_of = [fabric["links"][link][1] for link in path]
        assert starts[1:] == ends_of[:-1]


UNEQUAL = """
title = "One variant ends much sooner"
[fabric]
kind = "dumbbell"
left = 1
bottleneck_rate = "100 Mbps"
bottleneck_delay = "10 us"
host_rate = "1 Gbps"
host_delay = "10 us"
queue = { limit = 2000 }
[[traffic]]
name = "all"
pattern = "flows"
size = "100 KB"
controller = "reno"
flows = [{ name = "one", from = "S1", to = "D1" }]
[variants.size."small"]
"traffic.all.size" = "100 KB"
[variants.size."large"]
"traffic.all.size" = "2 MB"
[record]
map = "1 ms"
"""


def test_runs_of_unequal_length_share_the_time(tmp_path: Path) -> None:
    results = pathweave.run(UNEQUAL, name="unequal", out=tmp_path, progress=False)
    found = inside(results.scenarios[0])
    assert found is not None
    data = found.data
    links = len(data["fabrics"][0]["links"])
    ended = {run.label: run.ended_s for run in results.scenarios[0].runs}
    assert data["end"] == max(ended.values())
    assert ended["large"] > 10 * ended["small"]
    busy: dict[str, float] = {}
    for variant in data["variants"]:
        raw = np.frombuffer(zlib.decompress(base64.b64decode(variant["values"])), np.uint8)
        assert raw.size == len(data["metrics"]) * links * data["bins"]
        utilisation = raw.reshape(len(data["metrics"]), links, data["bins"])[0]
        carried = utilisation.max(axis=0).nonzero()[0]
        busy[variant["label"]] = (carried.max() + 1) / data["bins"] * data["end"]
    for label, until in busy.items():
        assert until == pytest.approx(ended[label], abs=2e-3)


def test_paths_of_nodes_with_hyphens() -> None:
    pairs = [("tor-1", "s-1-x"), ("s-1-x", "h-2"), ("h-2", "s-1-x"), ("s-1-x", "tor-1")]
    links = {f"{one}->{other}": at for at, (one, other) in enumerate(pairs)}
    assert links_along("tor-1-s-1-x-h-2", links) == [0, 1]
    assert links_along("h-2-s-1-x-tor-1", links) == [2, 3]
    assert links_along("nowhere-1", links) == []


def test_it_keeps_to_its_budget_and_says_so(results: Results) -> None:
    whole = inside(results.scenarios[0])
    assert whole is not None
    sizes = [len(json.dumps(whole.data["variants"])), len(whole.data["variants"][0]["values"])]
    budget = sizes[0] - sizes[1] // 2
    found = inside(results.scenarios[0], budget=budget)
    assert found is not None
    assert found.data["bins"] == 20
    assert len(json.dumps(found.data["variants"])) <= budget
    assert "Recorded every 1 ms" in found.note


def test_without_a_recording_there_is_none(fake: None, tmp_path: Path) -> None:
    from conftest import write_scenario

    results = pathweave.run(write_scenario(tmp_path), out=tmp_path / "out", progress=False)
    assert inside(results.scenarios[0]) is None
