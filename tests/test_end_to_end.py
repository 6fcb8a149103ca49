"""The whole line with the compiled core: from a scenario file to results and a report.

These tests do not fall back on anything: without the extension they fail.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import polars as pl
import pytest

import pathweave
from conftest import PACKAGE, environment, real
from pathweave.core import core

SCENARIO = """
title = "A small fabric"
seed = 1

[fabric]
kind = "fat-tree"
k = 4
rate = "1 Gbps"
delay = "20 us"
queue = { limit = 100, mark = { kind = "step", k = 10 } }

[routing]
kind = "ecmp"

[transport]
preset = "xmp-2013"

[[traffic]]
name = "large"
pattern = "permutation"
size = { kind = "uniform", min = "100 KB", max = "400 KB" }

[variants.scheme."DCTCP"]
"traffic.large.controller" = "dctcp"
[variants.scheme."XMP-2"]
"traffic.large.controller" = "xmp"
"traffic.large.subflows" = 2

[stop]
at = "{until}"

[record]
queues = "1 ms"
windows = "1 ms"
rates = "1 ms"
"""
EXAMPLES = Path(__file__).parent.parent / "examples"
RUNS = {"dctcp-s1", "dctcp-s2", "xmp-2-s1", "xmp-2-s2"}
FLOW_COLUMNS = {
    "id", "name", "group", "job", "controller", "subflows", "source", "destination", "location",
    "start_s", "end_s", "size_bytes", "delivered_bytes", "end", "in_window", "fct_s",
    "fct_ideal_s", "goodput_bps", "retransmits", "timeouts", "marks", "rtt_mean_s", "rtt_p99_s",
}  # fmt: skip
LINK_COLUMNS = {
    "link", "layer", "capacity_bps", "bytes", "packets", "utilisation", "drops", "marks",
    "queue_mean", "queue_p99",
}  # fmt: skip


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    return write(tmp_path, "200 ms")


def write(folder: Path, until: str) -> Path:
    path = folder / "small.toml"
    path.write_text(SCENARIO.replace("{until}", until))
    return path


def tree(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "timing.json"
    }


def test_run_and_report(scenario: Path, tmp_path: Path) -> None:
    done = real(tmp_path, "run", "small.toml", "--seeds", "2")
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "results" / "small"
    assert {path.name for path in (folder / "quick").iterdir() if path.is_dir()} == RUNS
    assert 'Flows of "large"' in done.stdout
    for text in (done.stdout, done.stderr):
        assert "\x1b" not in text
    assert max(len(line) for line in done.stdout.splitlines()) <= 80
    report = real(tmp_path, "report", "results/small")
    assert report.returncode == 0, report.stderr
    page = folder / "report" / "report.html"
    assert str(page.relative_to(tmp_path)) in report.stdout
    charts = re.findall(r'class="chart" id="s1-([a-z0-9-]+)"', page.read_text())
    assert {"goodput-cdf", "fct-cdf", "slowdown-by-size", "utilisation-by-layer"} <= set(charts)
    assert {"rates-over-time", "windows-over-time", "queues-over-time"} <= set(charts)
    assert all((folder / f"report/charts/{chart}.png").is_file() for chart in charts)


def test_tables_have_the_columns_that_are_promised(scenario: Path, tmp_path: Path) -> None:
    results = pathweave.run(scenario, out=tmp_path / "out", progress=False)
    assert set(results.flows.columns) >= FLOW_COLUMNS
    assert set(results.links.columns) >= LINK_COLUMNS
    assert set(results.subflows.columns) >= {"flow", "subflow", "goodput_bps"}
    assert results.where(scheme="XMP-2").flows["subflows"].unique().to_list() == [2]
    done = results.flows.filter(pl.col("end") == "finished")
    assert done.height > 0
    assert (done["delivered_bytes"] == done["size_bytes"]).all()
    assert (done["fct_s"] >= done["fct_ideal_s"] * 0.999).all()
    assert results.links["utilisation"].is_between(0, 1).all()
    assert (results.rates["rate_bps"] >= 0).all()
    summary = results.summary()
    assert summary["variant"].to_list() == ["DCTCP", "XMP-2"]
    assert pathweave.load(tmp_path / "out").flows.equals(results.flows)


def test_equal_bits_from_one_and_two_jobs(scenario: Path, tmp_path: Path) -> None:
    for jobs in ("1", "2"):
        done = real(
            tmp_path, "run", "small.toml", "--seeds", "2", "--jobs", jobs, "--out", f"out{jobs}"
        )
        assert done.returncode == 0, done.stderr
    one, two = tree(tmp_path / "out1"), tree(tmp_path / "out2")
    assert sorted(one) == sorted(two)
    assert [name for name in one if one[name] != two[name]] == []


def test_seeds_and_variants_differ(scenario: Path, tmp_path: Path) -> None:
    results = pathweave.run(scenario, seeds=2, out=tmp_path / "out", progress=False)
    assert results.runs["results_hash"].n_unique() == 4


def test_interrupted_and_resumed_equals_uninterrupted(tmp_path: Path) -> None:
    write(tmp_path, "1 s")
    arguments = ["run", "small.toml", "--seeds", "2", "--jobs", "1", "--out"]
    process = subprocess.Popen(
        [sys.executable, "-m", "pathweave", *arguments, "broken"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    end = time.monotonic() + 120
    while not list(tmp_path.glob("broken/small/quick/*/manifest.json")) and process.poll() is None:
        assert time.monotonic() < end
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    _, messages = process.communicate(timeout=60)
    kept = len(list(tmp_path.glob("broken/small/quick/*/manifest.json")))
    assert process.returncode == 1, messages
    assert 1 <= kept < 4
    resumed = real(tmp_path, *arguments, "broken")
    assert resumed.returncode == 0, resumed.stderr
    assert f"{kept} of 4 runs are there already" in resumed.stderr
    assert real(tmp_path, *arguments, "whole").returncode == 0
    assert tree(tmp_path / "broken") == tree(tmp_path / "whole")


def test_second_start_runs_only_what_has_changed(scenario: Path, tmp_path: Path) -> None:
    assert real(tmp_path, "run", "small.toml").returncode == 0
    again = real(tmp_path, "run", "small.toml")
    assert "2 of 2 runs are there already" in again.stderr
    text = scenario.read_text().replace('subflows" = 2', 'subflows" = 3')
    scenario.write_text(text)
    changed = real(tmp_path, "run", "small.toml")
    assert changed.returncode == 0, changed.stderr
    assert "1 of 2 runs are there already" in changed.stderr


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("k = 4\n", "k = 5\n", "5"),
        ('rate = "1 Gbps"', 'rate = "1"', "rate"),
        ('kind = "ecmp"', 'kind = "ecpm"', "ecmp"),
        ('title = "A small fabric"', "titel = 1", "titel"),
        ('name = "large"', 'name = "large', "small.toml"),
    ],
)
def test_mistake_in_a_scenario(
    scenario: Path, tmp_path: Path, old: str, new: str, said: str
) -> None:
    scenario.write_text(scenario.read_text().replace(old, new))
    done = real(tmp_path, "run", "small.toml")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "panicked" not in done.stderr
    assert re.search(r"small\.toml:\d+:\d+", done.stderr)
    assert said in done.stderr
    assert not (tmp_path / "results").exists()
    with pytest.raises(pathweave.ScenarioError):
        pathweave.run(scenario, out=tmp_path / "out", progress=False)


def test_options_that_name_nothing(scenario: Path, tmp_path: Path) -> None:
    for wrong in (
        ["--only", "scheme=Vegas"],
        ["--only", "size=3"],
        ["--size", "huge"],
        ["--set", "fabric.q=3"],
        ["--set", "fabric.k"],
    ):
        done = real(tmp_path, "run", "small.toml", *wrong)
        assert done.returncode == 2, (wrong, done.stderr)
        assert "Traceback" not in done.stderr


def test_only_keeps_the_axes_of_the_file(scenario: Path, tmp_path: Path) -> None:
    results = pathweave.run(
        scenario, only={"scheme": "XMP-2"}, out=tmp_path / "out", progress=False
    )
    assert len(results) == 1
    assert results.scenarios[0].axes == {"scheme": ["DCTCP", "XMP-2"]}


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("controllers", {"reno", "dctcp", "bos", "xmp", "lia", "cubic"}),
        ("routings", {"ecmp", "two-level", "pinned"}),
        ("fabrics", {"dumbbell", "fat-tree", "leaf-spine"}),
        ("patterns", {"permutation", "random", "incast"}),
        ("operations", {"ring-all-reduce", "all-to-all"}),
        ("distributions", {"web-search", "memcached-etc"}),
        ("presets", {"xmp-2013"}),
    ],
)
def test_lists(tmp_path: Path, kind: str, names: set[str]) -> None:
    done = real(tmp_path, "list", kind, "--json")
    assert done.returncode == 0, done.stderr
    assert {entry["name"] for entry in json.loads(done.stdout)} >= names
    shown = real(tmp_path, "list", kind)
    assert max(len(line) for line in shown.stdout.splitlines()) <= 80


def test_schema_is_json(tmp_path: Path) -> None:
    schema = json.loads(real(tmp_path, "schema").stdout)
    assert "fabric" in schema["properties"]


@pytest.mark.parametrize("scenario", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.stem)
def test_examples_are_valid_and_ask_a_question(scenario: Path, tmp_path: Path) -> None:
    done = real(tmp_path, "check", str(scenario))
    assert done.returncode == 0, done.stderr
    assert "question" in tomllib.loads(scenario.read_text())["report"]


def test_command_is_installed() -> None:
    beside = PACKAGE / "bin/pathweave"
    command = beside if beside.is_file() else Path(sys.executable).with_name("pathweave")
    done = subprocess.run(
        [command, "--version"], env=environment(), capture_output=True, text=True, check=True
    )
    version = r"\d+\.\d+\.\d+\S*"
    assert re.fullmatch(rf"pathweave {version} \(results of {version}\)\n", done.stdout)


LARGE = """
title = "A fabric that is worth several threads"

[fabric]
kind = "fat-tree"
k = 8
rate = "10 Gbps"
delay = "10 us"
queue = { limit = 100, mark = { kind = "step", k = 20 } }

[[traffic]]
name = "large"
pattern = "permutation"
rounds = 1
size = "unlimited"
controller = "xmp"
subflows = 4

[stop]
at = "1 ms"
"""


def test_threads_change_nothing_but_the_time(tmp_path: Path) -> None:
    scenario = tmp_path / "large.toml"
    scenario.write_text(LARGE)
    hashes: set[str] = set()
    for threads in (1, 2, 3):
        out = tmp_path / f"on-{threads}"
        words = ["run", "large.toml", "--threads", str(threads), "--out", str(out)]
        done = real(tmp_path, *words)
        assert done.returncode == 0, done.stderr
        (manifest,) = out.rglob("manifest.json")
        hashes.add(json.loads(manifest.read_text())["results_hash"])
        (timing,) = out.rglob("timing.json")
        assert json.loads(timing.read_text())["cpu_s"] > 0
    assert len(hashes) == 1
    variant = core().load(str(scenario), None, [], [], None).variants[0]
    assert variant.prepare(1).most_threads >= 3


def test_the_events_of_a_flow_are_printed_and_nothing_is_kept(tmp_path: Path) -> None:
    write(tmp_path, "20 ms")
    choice = ("--only", "scheme=DCTCP", "--seeds", "1")
    done = real(tmp_path, "run", "small.toml", *choice, "--trace-events", "flow=0")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert all(re.match(r"\d+\.\d{9} s  subflow 0  window ", line) for line in lines)
    assert f"{len(lines)} events of flow 0; no results are kept" in done.stderr
    assert not (tmp_path / "results").exists()
    for wrong, said in [
        ((*choice, "--trace-events", "flow=9999"), (1, "nothing has happened to flow 9999")),
        ((*choice, "--trace-events", "3"), (2, "write flow=3")),
        (("--trace-events", "flow=0"), (2, "choose one with --only and --seeds 1")),
    ]:
        done = real(tmp_path, "run", "small.toml", *wrong)
        assert (done.returncode, said[1] in done.stderr) == (said[0], True), done.stderr
