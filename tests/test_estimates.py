"""`run --dry-run`: what runs would take, before anything is run."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest

import pathweave
from conftest import Command, real, write_scenario
from pathweave.cli.estimates import say_if_long
from pathweave.estimating.beginning import begin
from pathweave.estimating.estimate import Estimate, available_bytes, estimate_of, wall_s
from pathweave.estimating.flowing import flowing
from pathweave.results.read import find_runs
from pathweave.running.cores import share
from pathweave.running.session import Request, open_session

EXAMPLES = Path(__file__).parent.parent / "examples"
PAPERS = EXAMPLES.parent / "papers"
CLOSE = 0.5
"""Part by which an estimate of packet-hops may be off: rates are rough, losses are left out."""


@pytest.mark.parametrize(
    "scenario", [EXAMPLES / "leaf-spine-failure.toml", PAPERS / "xmp" / "fig4.toml"]
)
def test_packet_hops_are_near_those_of_the_run(scenario: Path, tmp_path: Path) -> None:
    session = open_session(Request(scenario, size="quick", seeds=1, root=tmp_path))
    results = pathweave.run(scenario, size="quick", seeds=1, out=tmp_path, progress=False)
    simulated = {
        run.label: run.manifest["counters"]["packet_hops"] for run in results.scenarios[0].runs
    }
    for task in session.plan.missing:
        found = flowing(task.identity.variant, task.identity.seed)
        expected = simulated[task.identity.variant.label]
        assert found == pytest.approx(expected, rel=CLOSE), task.label


def test_nothing_is_written_and_all_variants_have_a_row(tmp_path: Path) -> None:
    scenario = EXAMPLES / "leaf-spine-failure.toml"
    out = tmp_path / "results"
    done = real(tmp_path, "run", str(scenario), "--seeds", "2", "--out", str(out), "--dry-run")
    assert done.returncode == 0, done.stderr
    assert not out.exists()
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["variant", "runs", "packet-hops", "CPU", "time", "memory"]
    assert [line.split()[:2] for line in lines[1:5]] == [
        [name, "2"] for name in ("DCTCP", "LIA-4", "XMP-2", "XMP-4")
    ]
    assert re.search("8 runs: (about 0:0|less than a second)", done.stdout)
    assert "Nothing was written" in done.stdout


def test_for_programs(tmp_path: Path) -> None:
    scenario = EXAMPLES / "leaf-spine-failure.toml"
    out = tmp_path / "results"
    arguments = ["run", str(scenario), "--out", str(out), "--only", "scheme=DCTCP"]
    assert real(tmp_path, *arguments, "--seeds", "1").returncode == 0
    done = real(tmp_path, *arguments, "--seeds", "2", "--dry-run", "--json")
    found = json.loads(done.stdout)
    assert (found["present"], found["missing"]) == (1, 1)
    (estimate,) = found["estimates"]
    assert estimate["variant"] == "DCTCP"
    assert 0 < estimate["cpu_s"] < 60
    assert 20e6 < estimate["memory_bytes"] < 2e9
    assert done.stderr == ""


def test_without_missing_runs_there_is_nothing_to_estimate(cli: Command, tmp_path: Path) -> None:
    write_scenario(tmp_path)
    assert cli("run", "tab1.toml").returncode == 0
    done = cli("run", "tab1.toml", "--dry-run")
    assert done.returncode == 0
    assert done.stdout == "4 of 4 runs are there already\n"


LONG = """
title = "Half an hour of a link"
[fabric]
kind = "dumbbell"
left = 1
bottleneck_rate = "10 Gbps"
bottleneck_delay = "50 us"
host_rate = "10 Gbps"
host_delay = "25 us"
queue = { limit = 100 }
[[traffic]]
name = "flows"
pattern = "flows"
size = "unlimited"
controller = "reno"
flows = [{ name = "one", from = "S1", to = "D1" }]
[stop]
at = "1800 s"
"""


def test_a_long_run_is_announced_and_a_short_one_is_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "long.toml"
    path.write_text(LONG)
    session = open_session(Request(path, seeds=2, root=tmp_path))
    say_if_long(session, share(jobs=2), until=False)
    said = capsys.readouterr().err
    assert re.fullmatch(
        r"2 runs: about [0-9:]+ of wall time, 2 at a time, each [0-9.]+ MB\n", said
    ), said
    say_if_long(session, share(jobs=2), until=True)
    assert capsys.readouterr().err.startswith("at most 2 runs: about ")
    short = open_session(Request(path, seeds=1, sets=("stop.at=1 ms",), root=tmp_path))
    say_if_long(short, share(jobs=2), until=False)
    assert capsys.readouterr().err == ""


def test_a_setup_that_takes_long_is_left_alone(tmp_path: Path) -> None:
    """Nothing moved in the trial: the time is not known, and the run itself goes on."""
    scenario = EXAMPLES / "leaf-spine-failure.toml"
    session = open_session(Request(scenario, seeds=1, root=tmp_path))
    task = session.plan.missing[0]
    trial = begin(task.identity.variant, task.identity.seed, 0.1, setup_s=0.0)
    nothing = replace(trial, ended=False, packet_hops=0, fraction=0.0, moving_s=0.0)
    found = estimate_of("a", 1, task.identity.variant, task.identity.seed, nothing)
    assert found.cpu_s == math.inf
    assert found.packet_hops > 0


def test_until_is_read_before_anything_is_tried(tmp_path: Path) -> None:
    scenario = str(EXAMPLES / "leaf-spine-failure.toml")
    done = real(
        tmp_path, "run", scenario, "--out", str(tmp_path / "out"), "--dry-run", "--until", "bla"
    )
    assert done.returncode == 2
    done = real(
        tmp_path, "run", scenario, "--out", str(tmp_path / "out"), "--dry-run", "--until", "2%"
    )
    assert "the most that --until may take" in done.stdout


def test_map_leaves_an_interval_that_was_given(tmp_path: Path) -> None:
    scenario = str(EXAMPLES / "leaf-spine-failure.toml")
    out = tmp_path / "out"
    given = ["--set", 'record.map="5 ms"', "--map", "--only", "scheme=DCTCP", "--seeds", "1"]
    assert real(tmp_path, "run", scenario, "--out", str(out), *given).returncode == 0
    (run,) = (run for found in find_runs([out]) for run in found.runs)
    assert run.manifest["resolved"]["record"]["map"] == "5 ms"


def test_wall_time_is_shared_by_jobs_but_not_below_one_run() -> None:
    found = [Estimate("a", 3, 10.0, 1e6, 5e7), Estimate("b", 1, 30.0, 1e6, 5e7)]
    assert wall_s(found, share(jobs=1)) == 60.0
    assert wall_s(found, share(jobs=64)) >= 30.0
    large = [Estimate("a", 1, 10.0, 1e6, 5e7, most_threads=4)]
    assert wall_s(large, share(jobs=1)) == 10.0
    assert 2.5 < wall_s(large, share(threads=4)) < 5.0
    assert wall_s(large, share(threads=8)) == wall_s(large, share(threads=4))
    assert available_bytes() > 1e6
