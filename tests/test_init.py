"""`pathweave init`, with the real core: what it writes is sound and runs."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from conftest import environment, real
from pathweave.core import core
from pathweave.starter import FABRICS, PATTERNS, WORKLOADS, scenario


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("fabric", FABRICS)
def test_every_choice_is_a_sound_scenario(fabric: str, pattern: str) -> None:
    names = [entry["name"] for entry in core().controllers()]
    for rate in ("10 Mbps", "400 Mbps", "1 Gbps", "100 Gbps"):
        text = scenario(fabric, rate, names, pattern, 'a "title" with \\ in it')
        for size in ("quick", "long"):
            loaded = core().load_text(text, "x", ".", size, [], [], None)
            # One single path has the same burst as all that have several subflows.
            assert len(loaded.variants) == len(names) + 1


@pytest.mark.parametrize("rate", ["10 Gbps", "25 Gbps", "100 Gbps", "400 Gbps"])
@pytest.mark.parametrize("fabric", FABRICS)
def test_nothing_that_it_writes_is_warned_of(fabric: str, rate: str) -> None:
    """That is, `check --strict` is content: K, timeouts, packets, loads, bursts and ends fit."""
    for pattern in PATTERNS:
        for workload in WORKLOADS if pattern == "poisson" else ("web-search",):
            names = ["dctcp", "xmp", "lia", "amp", "spray"]
            text = scenario(fabric, rate, names, pattern, "x", workload=workload)
            for size in ("quick", "long"):
                loaded = core().load_text(text, "x", ".", size, [], [], None)
                assert len(loaded.variants) == 6
                said = {warning for each in loaded.variants for warning in each.warnings(1)}
                assert not said, (pattern, workload, size)
            stop = tomllib.loads(text)["stop"]
            assert stop["drain"], "flows end"
            assert "limit" in stop


def test_a_multipath_scheme_stands_beside_a_single_path_with_its_burst() -> None:
    text = scenario("fat-tree", "10 Gbps", ["lia", "cubic", "xmp"], "permutation", "x")
    loaded = core().load_text(text, "x", ".", None, [], [], None)
    windows = {
        each.label: json.loads(each.resolved)["traffic"][0]["transport"]["initial_window"]
        for each in loaded.variants
    }
    assert windows == {"cubic": 10, "cubic, same burst": 40, "lia-4": 10, "xmp-4": 10}
    # Without a single path among the controllers DCTCP is one.
    text = scenario("star", "10 Gbps", ["lia"], "permutation", "x")
    loaded = core().load_text(text, "x", ".", None, [], [], None)
    assert [each.label for each in loaded.variants] == ["dctcp, same burst", "lia-2"]


def test_times_sizes_and_k_follow_the_rate() -> None:
    def tables(rate: str) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        made = tomllib.loads(scenario("leaf-spine", rate, ["dctcp"], "permutation", "x"))
        return made["fabric"]["queue"], made["traffic"][0], made["transport"]

    queue, traffic, transport = tables("1 Gbps")
    assert (queue["mark"]["k"], queue["limit"], traffic["size"]) == (10, 100, "5 MB")
    assert "data_packet" not in transport
    queue, traffic, transport = tables("400 Gbps")
    assert (queue["mark"]["k"], queue["limit"], traffic["size"]) == (20, 100, "50 MB")
    assert (transport["data_packet"], transport["minimum_rto"]) == ("9000 B", "5 ms")


ASKED = (
    *("--fabric", "leaf-spine", "--hosts", "64", "--leaves", "8", "--spines", "4"),
    *("--rate", "25 Gbps", "--uplink-rate", "100 Gbps", "--workload", "web-search"),
    *("--load", "0.6", "--down", "leaf0-spine0", "--controllers", "dctcp,xmp,lia,amp,spray"),
)


def test_a_whole_question_can_be_asked(tmp_path: Path) -> None:
    """Which control for web search on 64 hosts, with one link failed?"""
    done = real(tmp_path, "init", "web.toml", *ASKED)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    assert real(tmp_path, "check", "web.toml", "--strict").returncode == 0
    made = tomllib.loads((tmp_path / "web.toml").read_text())
    fabric, (traffic,) = made["fabric"], made["traffic"]
    assert (fabric["leaves"], fabric["spines"], fabric["hosts_per_leaf"]) == (8, 4, 8)
    assert (fabric["host_rate"], fabric["uplink_rate"]) == ("25 Gbps", "100 Gbps")
    assert fabric["down"] == "leaf0-spine0"
    assert (traffic["load"], traffic["layer"]) == (0.6, "rack")
    assert list(made["variants"]["scheme"]) == [
        *("dctcp", "dctcp, same burst", "xmp-4", "lia-4", "amp-4", "dctcp, spray"),
    ]
    short = ("--seeds", "1", "--set", "stop.at=100 us")
    assert real(tmp_path, "run", "web.toml", *short).returncode == 0


def test_says_what_is_likely_not_meant(tmp_path: Path) -> None:
    """A load near 1 is more than the hosts carry, headers included; the file is written."""
    done = real(tmp_path, "init", "web.toml", "--rate", "10 Gbps", "--load", "0.99")
    assert done.returncode == 0
    assert "warning: traffic.flows.load: " in done.stderr
    assert (tmp_path / "web.toml").is_file()
    assert real(tmp_path, "check", "web.toml").returncode == 0
    assert real(tmp_path, "check", "web.toml", "--strict").returncode == 1
    run = real(tmp_path, "run", "web.toml", "--seeds", "1", "--set", "stop.at=100 us")
    assert run.returncode == 0
    assert run.stderr.count("warning: traffic.flows.load") == 1
    again = real(tmp_path, "run", "web.toml", "--seeds", "1", "--set", "stop.at=100 us")
    assert "warning: " not in again.stderr, "nothing is run"


def test_what_it_writes_is_checked_and_runs(tmp_path: Path) -> None:
    arguments = ("--fabric", "star", "--rate", "100 Mbps", "--controllers", "reno,xmp")
    done = real(tmp_path, "init", "first.toml", *arguments, "--pattern", "many-to-one")
    assert done.returncode == 0, done.stderr
    assert "pathweave run first.toml" in done.stdout
    assert real(tmp_path, "check", "first.toml", "--size", "long").returncode == 0
    run = real(tmp_path, "run", "first.toml", "--seeds", "1", "--set", "stop.at=20 ms")
    assert run.returncode == 0, run.stderr
    assert (tmp_path / "results/first/quick-at=20ms/reno-s1/manifest.json").is_file()
    assert (tmp_path / "results/first/quick-at=20ms/xmp-2-s1/manifest.json").is_file()


def test_defaults_need_no_terminal_and_nothing_is_overwritten(tmp_path: Path) -> None:
    assert real(tmp_path, "init").returncode == 0
    path = tmp_path / "scenario.toml"
    before = path.read_text()
    assert 'kind = "fat-tree"' in before
    again = real(tmp_path, "init", "--fabric", "star")
    assert again.returncode == 2
    assert again.stderr == "error: scenario.toml is there already; --force replaces it\n"
    assert path.read_text() == before
    assert real(tmp_path, "init", "--fabric", "star", "--force").returncode == 0
    assert 'kind = "star"' in path.read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--fabric", "fat-three"], 'did you mean "fat-tree"?'),
        (["--controllers", "xmpp"], 'did you mean "xmp"?'),
        (["--controllers", ","], "at least one controller"),
        (["--pattern", "bursts"], 'there is no pattern "bursts" to begin with'),
        (["--rate", "fast"], "fast"),
        (["--hosts", "20"], "a fat-tree cannot have 20 hosts"),
        (
            ["--fabric", "leaf-spine", "--hosts", "30"],
            "30 hosts do not spread over 4",
        ),
        (["--spines", "2"], "--spines is not for a fabric of kind fat-tree"),
        (["--workload", "web-serch"], 'did you mean "web-search"?'),
        (["--load", "2"], "a load of 2 makes no scenario"),
        (["--load", "0.5", "--pattern", "random"], "are for --pattern poisson"),
        (["--down", "edge0.0-core0.0"], "core0.0"),
        (["--rate", "-1 Gbps"], "-1 Gbps"),
        (["--title", "\x1b[31m"], "control character"),
        (["nowhere/x.toml"], "cannot write nowhere/x.toml"),
    ],
)
def test_mistakes_leave_no_file(tmp_path: Path, arguments: list[str], said: str) -> None:
    done = real(tmp_path, "init", *arguments)
    assert done.returncode in (1, 2)
    assert done.stderr.startswith("error: ")
    assert said in done.stderr
    assert not list(tmp_path.iterdir())


def test_asks_on_a_terminal_for_what_is_left_open(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "pathweave", "init", "--rate", "10 Gbps"],
        cwd=tmp_path,
        env=environment(TERM="dumb"),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    os.write(ours, b"leaf-spine\n\nrandom\n")
    said = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        said += part
    os.close(ours)
    assert process.wait(timeout=60) == 0, said
    text = (tmp_path / "scenario.toml").read_text()
    assert 'kind = "leaf-spine"' in text
    assert 'host_rate = "10 Gbps"' in text
    assert 'pattern = "random"' in text
    assert '[variants.scheme."dctcp"]' in text
    assert b"Fabric (" in said
    assert b"Rate of" not in said
