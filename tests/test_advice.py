"""The adviser: what decided an answer, in shares of the difference."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import polars as pl
import pytest

import pathweave
from conftest import real
from pathweave.results.advice import advise
from pathweave.results.advice.profile import profile
from pathweave.results.advice.reruns import is_gone
from pathweave.results.costs import Costs
from pathweave.results.measures import Measure
from pathweave.results.merit import Standing, rankings
from pathweave.results.places import by_place, ports_by_place
from pathweave.results.read import find_runs
from pathweave.statistics.paired import paired_difference

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

LEAF_SPINE = """
[fabric]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 4
host_rate = "10 Gbps"
uplink_rate = "10 Gbps"
host_delay = "2 us"
uplink_delay = "2 us"
queue = {{ limit = {limit}, mark = {{ kind = "step", k = 30 }} }}
{fabric}

[routing]
kind = "ecmp"

[transport]
preset = "linux"
initial_rto = "{initial}"
minimum_rto = "{minimum}"

[[traffic]]
name = "web"
pattern = "poisson"
load = {load}
layer = "rack"
size = "{size}"
controller = "dctcp"

{events}

[stop]
at = "5 ms"
drain = true
limit = "3 s"

[variants.scheme]
DCTCP = {{}}
{rival}

[report]
baseline = "DCTCP"
quantity = "{quantity}"
"""
LIA = 'LIA-4 = { "traffic.web.controller" = "lia", "traffic.web.subflows" = 4 }'
XMP = 'XMP-4 = { "traffic.web.controller" = "xmp", "traffic.web.subflows" = 4 }'


def _scenario(**given: object) -> str:
    values: dict[str, object] = {
        "limit": 100, "fabric": "", "initial": "5 ms", "minimum": "5 ms", "load": 0.3,
        "size": "30 KB", "events": "", "rival": LIA, "quantity": "mean fct of web",
    }  # fmt: skip
    return LEAF_SPINE.format(**(values | given))


def _advice(tmp_path: Path, text: str, sets: Mapping[str, object] | None = None) -> list[str]:
    path = tmp_path / "case.toml"
    path.write_text(text)
    pathweave.run(path, seeds=2, out=tmp_path / "results", set=sets, progress=False)
    (scenario,) = (
        found
        for found in find_runs([tmp_path / "results"])
        if len(found.settings.sets) == len(sets or {})
    )
    (ranking,) = rankings(scenario)
    return advise(scenario, ranking)


def _one(lines: Sequence[str], words: str) -> str:
    found = [line for line in lines if words in line]
    assert len(found) == 1, lines
    return found[0]


def test_parts_of_a_difference_add_up(tmp_path: Path) -> None:
    path = tmp_path / "case.toml"
    path.write_text(_scenario())
    pathweave.run(path, seeds=2, out=tmp_path / "results", progress=False)
    (scenario,) = find_runs([tmp_path / "results"])
    (ranking,) = rankings(scenario)
    for standing in ranking.standings:
        runs = [run for run in scenario.runs if run.label == standing.label]
        found = profile(runs, ranking.subject)
        assert found is not None
        assert found.total == pytest.approx(standing.mean, rel=1e-9)
        slowdown = profile(runs, Measure("slowdown", "mean", "web"))
        assert slowdown is not None
        value = [value.value for _, value in Measure("slowdown", "mean", "web").by_run(runs)]
        assert slowdown.total == pytest.approx(sum(value) / len(value), rel=1e-9)


def test_short_flows_that_fit_into_more_initial_windows_are_named(tmp_path: Path) -> None:
    lines = _advice(tmp_path, _scenario(rival=XMP))
    line = _one(lines, "initial windows")
    assert "100 % of the flows fit into the initial windows of XMP-4 (40 packets)" in line
    assert "and not of DCTCP (10)" in line
    # Nothing is claimed, but how to test it.
    assert line.endswith("--set transport.initial_window_per=connection --seeds 2`")
    _advice(tmp_path, _scenario(rival=XMP), {"transport.initial_window_per": "connection"})
    (scenario, _) = find_runs([tmp_path / "results"])
    (ranking,) = rankings(scenario)
    line = _one(advise(scenario, ranking), "initial windows")
    assert "transport.initial_window_per = connection the difference is" in line


def test_waiting_for_a_timer_is_named_with_its_share_and_a_shorter_one(
    tmp_path: Path,
) -> None:
    text = _scenario(limit=32, load=0.6, minimum="200 ms", initial="200 ms", size="200 KB")
    lines = _advice(tmp_path, text)
    line = _one(lines, "waiting for a retransmission timer")
    assert "LIA-4's completion time is waiting for a retransmission timer" in line
    assert "the minimum RTO is 200 ms" in line
    assert "To test it: `pathweave run" in line


def test_flows_that_began_on_a_dead_path_are_counted(tmp_path: Path) -> None:
    events = '[[events]]\nat = "0 s"\nlink = "leaf0-spine0"\ndown = true\n'
    text = _scenario(events=events).replace(
        'kind = "ecmp"', 'kind = "ecmp"\ndetection_delay = "2 ms"'
    )
    lines = _advice(tmp_path, text)
    line = _one(lines, "began on a path that was down")
    assert "routing.detection_delay" in line
    assert "fabric.down" in line


def test_drops_are_told_by_place(tmp_path: Path) -> None:
    path = tmp_path / "case.toml"
    text = _scenario(
        fabric='host_queue = { limit = 8, mark = { kind = "none" } }', load=0.6, size="200 KB"
    )
    path.write_text(text.replace('preset = "linux"', 'preset = "textbook"'))
    pathweave.run(path, seeds=2, out=tmp_path / "results", progress=False)
    (scenario,) = find_runs([tmp_path / "results"])
    (ranking,) = rankings(scenario)
    line = _one(advise(scenario, ranking), "drops are at the hosts' own ports")
    assert "transport.host_port" in line
    runs = [run for run in scenario.runs if run.label == "LIA-4"]
    places = by_place(runs)
    assert places["place"].to_list() == ["own port", "uplink", "receiver's port"]
    total = sum(run.read("links")["drops"].sum() for run in runs) / len(runs)
    assert places["drops"].sum() == pytest.approx(total)
    own = pl.col("link").str.starts_with("h")
    counted = sum(run.read("links").filter(own)["drops"].sum() for run in runs) / len(runs)
    assert places["drops"][0] == pytest.approx(counted)
    # What goes in comes out, but for drops and what the window cuts off.
    assert places["load"][0] == pytest.approx(places["load"][2], rel=0.2)


@pytest.mark.parametrize(
    ("before", "after", "gone"),
    [
        ((40.0, 10.0), (2.0, 5.0), True),
        ((40.0, 10.0), (-3.0, 5.0), True),
        # A wide interval holds everything, and shows nothing.
        ((40.0, 10.0), (37.0, 49.0), False),
        # What chance explained before was not there.
        ((10.0, 30.0), (0.5, 1.0), False),
        ((-40.0, 10.0), (-30.0, 5.0), False),
        ((40.0, 10.0), (2.0, 300.0), False),
    ],
)
def test_a_cause_is_claimed_only_where_a_rerun_has_removed_the_difference(
    before: tuple[float, float], after: tuple[float, float], gone: bool
) -> None:
    def standing(percent: float, half: float) -> Standing:
        base = {1: 100.0 - half, 2: 100.0 + half}
        ours = {seed: value + percent for seed, value in base.items()}
        ours[1] -= half / 6.3533
        ours[2] += half / 6.3533  # so that two pairs give about this interval
        difference = paired_difference(ours, base)
        none = Costs.__new__(Costs)
        return Standing(
            "V", "V", "", ours, False, unfinished=0.0, costs=none, difference=difference
        )

    assert is_gone(standing(*before), standing(*after)) is gone


def test_links_between_switches_of_a_graph_are_no_hosts_ports(tmp_path: Path) -> None:
    path = tmp_path / "graph.toml"
    path.write_text("""
[fabric]
kind = "graph"
hosts = ["a", "b"]
switches = ["s1", "c", "s2"]
cables = [
  { link = "a-s1", rate = "1 Gbps", delay = "1 us" },
  { link = "s1-c", rate = "1 Gbps", delay = "1 us" },
  { link = "c-s2", rate = "1 Gbps", delay = "1 us" },
  { link = "s2-b", rate = "1 Gbps", delay = "1 us" },
]
[[traffic]]
name = "flow"
pattern = "flows"
controller = "reno"
flows = [{ from = "a", to = "b", size = "100 KB" }]
""")
    pathweave.run(path, out=tmp_path / "results", progress=False)
    (scenario,) = find_runs([tmp_path / "results"])
    ports = ports_by_place(scenario.runs[0])
    places = dict(zip(ports["link"].to_list(), ports["place"].to_list(), strict=True))
    assert places["a->s1"] == "own port"
    assert places["s2->b"] == "receiver's port"
    assert places["s1->c"] == places["c->s2"] == "link"


WINDOW_LIMITED = """
[fabric]
kind = "dumbbell"
left = 2
right = 2
host_rate = "10 Gbps"
bottleneck_rate = "10 Gbps"
bottleneck_delay = "50 us"

[transport]
preset = "textbook"
receive_window = "20 KB per subflow"

[[traffic]]
name = "bulk"
pattern = "flows"
controller = "reno"
flows = [{ from = "S1", to = "D1", size = "20 MB" }]

[variants.scheme]
Reno = {}
Reno-4 = { "traffic.bulk.controller" = "uncoupled", "traffic.bulk.subflows" = 4 }

[report]
baseline = "Reno"
quantity = "mean fct of bulk"
"""


def test_the_rerun_that_is_named_makes_a_test_of_a_cause(tmp_path: Path) -> None:
    """Four receive windows are faster than one, and without a limit there is no difference."""
    (tmp_path / "windows.toml").write_text(WINDOW_LIMITED)
    first = real(tmp_path, "run", "windows.toml", "--seeds", "3", "--out", "here")
    assert first.returncode == 0, first.stderr
    line = _one(_advice_in(tmp_path / "here"), "receive window")
    assert "the whole difference between Reno-4 and Reno" in line.replace("The", "the")
    text, _, command = line.partition(" To test it: ")
    assert "cause" not in text
    program, *arguments = shlex.split(command.strip("`"))
    assert program == "pathweave"
    assert arguments[-4:] == ["--set", "transport.receive_window=unlimited", "--seeds", "3"]
    # One window for all subflows makes both wait: the difference is gone, and nothing is shown.
    other = [word.replace("=unlimited", "=20 KB") for word in arguments]
    assert real(tmp_path, *other).returncode == 0
    line = _one(_advice_in(tmp_path / "here"), "receive window")
    assert line.startswith(f"{text} With transport.receive_window = 20 KB the difference is ")
    assert line.endswith(f" To test it: {command}")
    assert "cause" not in line
    again = real(tmp_path, *arguments)
    assert again.returncode == 0, again.stderr
    line = _one(_advice_in(tmp_path / "here"), "receive window")
    assert line.startswith(text)
    claim = line.removeprefix(text)
    number = r"[+-]\d+ ± \d+ %"
    expected = (
        r" This is the cause: with transport\.receive_window = unlimited"
        rf" the difference is {number}, not {number}\."
    )
    assert re.fullmatch(expected, claim), claim


def _advice_in(folder: Path) -> list[str]:
    """The advice about the runs of a folder that were made without `--set`."""
    (scenario,) = (each for each in find_runs([folder]) if not each.settings.sets)
    (ranking,) = rankings(scenario)
    return advise(scenario, ranking)
