"""`pathweave solve` and `run --optimum` from the command line, against sums by hand."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import pathweave
from conftest import environment, run_here
from pathweave.errors import InputError
from pathweave.optimum import (
    DelayWeighted,
    MaxMin,
    ProportionalFairness,
    Tcp,
    Wutcp,
    Xmp,
    allocate,
    routing,
)
from pathweave.report.build import build_report
from pathweave.solving.objective import names, of_controller, parse
from pathweave.solving.shares import flow_shares, subflow_shares

LINKS = """
[fabric]
kind = "parallel-paths"
pairs = 2
rates = ["1 Gbps", "1 Gbps"]
delays = "100 us"
host_rate = "10 Gbps"
host_delay = "10 us"

[routing]
kind = "pinned"

[[traffic]]
name = "flows"
pattern = "flows"
size = "unlimited"
controller = "xmp"
"""

# Flow "both" may use both links and shares the second with "one", which leaves at half-time.
SCENARIO = (
    'title = "Two links"\n'
    + LINKS
    + """
flows = [
    { name = "both", from = "S1", to = "D1", subflows = 2, paths = [["A1", "B1"], ["A2", "B2"]] },
    { name = "one", from = "S2", to = "D2", paths = [["A2", "B2"]], stop = "20 ms" },
]

[variants.scheme.XMP]
"traffic.flows.controller" = "xmp"
[variants.scheme.LIA]
"traffic.flows.controller" = "lia"

[stop]
at = "40 ms"

[measure.phases]
early = ["10 ms", "20 ms"]
late = ["25 ms", "40 ms"]
"""
)
PAYLOAD = 1448 / 1500


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "links.toml"
    path.write_text(SCENARIO)
    return path


@dataclass(frozen=True)
class Done:
    """What a command left on the terminal."""

    stdout: str
    stderr: str


def command(*words: str | Path, expect: int = 0) -> Done:
    """Run the command line in this process: loading the solvers takes a second."""
    code, printed, said = run_here(*(str(word) for word in words))
    assert code == expect, said
    return Done(printed, said)


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of the scenario with an optimum beside them."""
    folder = tmp_path_factory.mktemp("beside")
    (folder / "links.toml").write_text(SCENARIO)
    command("run", folder / "links.toml", "--optimum", "--out", folder / "results")
    return folder / "results"


def test_solve_gives_each_flow_its_link_and_then_the_other_as_well(
    scenario: Path, tmp_path: Path
) -> None:
    command("solve", scenario, "--only", "scheme=XMP", "--out", tmp_path / "results")
    results = pathweave.load(tmp_path / "results" / "links" / "quick-optimum")
    phases = results.phases.sort("phase", "flow")["goodput_bps"].to_list()
    expected = [PAYLOAD * 1e9, PAYLOAD * 1e9, 2 * PAYLOAD * 1e9]
    assert phases == pytest.approx(expected, rel=1e-5)
    links = results.links.filter(pl.col("link") == "A2->B2")
    assert links["utilisation"].item() == pytest.approx(1.0, abs=5e-3)  # jitter before
    manifest = results.stored[0].manifest
    assert manifest["backend"] == "solve"
    assert manifest["optimum"]["utility"] == "proportional"
    assert manifest["optimum"]["worst_residual"] < 1e-6
    again = command("solve", scenario, "--only", "scheme=XMP", "--out", tmp_path / "results")
    assert "1 of 1 runs are there already" in again.stderr


def test_each_utility_has_a_folder_of_its_own(scenario: Path, tmp_path: Path) -> None:
    for utility in ("max-min", "alpha:alpha=2"):
        command("solve", scenario, "--only", "scheme=XMP", "--out", tmp_path, "--utility", utility)
    folders = {path.name for path in (tmp_path / "links").iterdir() if path.is_dir()}
    assert folders == {"quick-optimum-max-min", "quick-optimum-alpha-alpha-2"}


def test_run_with_optimum_says_what_share_each_flow_had(beside: Path) -> None:
    results = pathweave.load(beside)
    optimum = results.table("optimum").filter(pl.col("scheme") == "XMP").sort("phase", "flow")
    early = optimum.filter(pl.col("phase") == "early")
    assert early["optimum_bps"].to_list() == pytest.approx([PAYLOAD * 1e9] * 2, rel=1e-5)
    share = (early["goodput_bps"] / early["optimum_bps"]).to_list()
    assert early["share"].to_list() == pytest.approx(share)
    # All of what XMP's second subflow had should have gone over the first.
    had = (
        results.table("phase_subflows")
        .filter((pl.col("scheme") == "XMP") & (pl.col("phase") == "early") & (pl.col("flow") == 0))
        .sort("subflow")["goodput_bps"]
    )
    off = early.filter(pl.col("flow") == 0)["split_distance"].item()
    assert off == pytest.approx(had[1] / had.sum(), abs=1e-6)
    assert early.filter(pl.col("flow") == 1)["split_distance"].item() is None


# Two flows that can trade two links, and a flow that should leave its second link to another.
PARTS = (
    'title = "Two parts"\n'
    + LINKS.replace("pairs = 2", "pairs = 4").replace('"1 Gbps", ', '"1 Gbps", ' * 3)
    + """
flows = [
    { from = "S1", to = "D1", subflows = 2, paths = [["A1", "B1"], ["A2", "B2"]] },
    { from = "S2", to = "D2", subflows = 2, paths = [["A1", "B1"], ["A2", "B2"]] },
    { from = "S3", to = "D3", subflows = 2, paths = [["A3", "B3"], ["A4", "B4"]] },
    { from = "S4", to = "D4", paths = [["A4", "B4"]] },
]

[stop]
at = "10 ms"
"""
)


def test_one_flow_s_tie_does_not_hide_another_s_distance(tmp_path: Path) -> None:
    (tmp_path / "parts.toml").write_text(PARTS)
    command("run", tmp_path / "parts.toml", "--optimum", "--out", tmp_path / "r")
    optimum = pathweave.load(tmp_path / "r").table("optimum").sort("flow")
    assert optimum["split_unique"].to_list() == [False, False, True, True]
    distance = optimum["split_distance"].to_list()
    assert distance[0] is None
    assert distance[1] is None
    assert 0.0 < distance[2] < 0.5
    assert distance[3] is None  # nothing to split


def test_an_optimum_that_is_there_is_not_solved_again(scenario: Path, tmp_path: Path) -> None:
    words = ("run", scenario, "--optimum", "--only", "scheme=XMP", "--out", tmp_path)
    first = command(*words)
    assert 'Goodput of "flows" in % of the optimum (proportional)' in first.stdout
    assert first.stderr.count("solved") == 1
    assert "solved" not in command(*words).stderr
    assert command(*words, "--utility", "max-min").stderr.count("solved") == 1


def test_the_report_shows_the_shares(beside: Path, tmp_path: Path) -> None:
    page = build_report([beside / "links"], tmp_path, pictures=False).read_text()
    assert "Ours beside the optimum" in page
    assert "Share of the optimum by flow" in page
    assert "Utility: proportional. Solved with clarabel" in page
    assert "off the best split" in page


def test_a_fresh_simulation_leaves_no_stale_optimum(scenario: Path, tmp_path: Path) -> None:
    command("run", scenario, "--optimum", "--out", tmp_path)
    command("run", scenario, "--fresh", "--out", tmp_path)
    assert pathweave.load(tmp_path).table("optimum").is_empty()


def test_documented_columns_are_those_of_the_tables(beside: Path) -> None:
    reference = (Path(__file__).parent.parent / "docs" / "results.md").read_text()
    run = pathweave.load(beside).stored[0]
    for table in ("optimum", "optimum_subflows"):
        for column in pl.read_parquet_schema(run.path(table)):
            assert f"`{column}`" in reference, f"{table}: {column}"
    for key in json.loads((run.folder / "optimum.json").read_text()):
        assert f"`{key}`" in reference, key


def test_a_limit_ends_a_run_and_says_so(scenario: Path, tmp_path: Path) -> None:
    words = ("solve", scenario, "--problems", "1", "--only", "scheme=XMP", "--out", tmp_path)
    assert "ended after 1 different sets" in " ".join(command(*words).stderr.split())
    run = pathweave.load(tmp_path).stored[0]
    assert run.manifest["verdict"] == "stopped"
    assert any("ended after 1 different sets of flows" in note for note in run.manifest["notes"])
    # It says so on the terminal too, and a larger limit goes further.
    words = ("solve", scenario, "--only", "scheme=XMP", "--out", tmp_path)
    again = command(*words, "--problems", "1")
    assert "1 of 1 runs are there already" in again.stderr
    assert "ended after 1" not in " ".join(command(*words).stderr.split())
    assert pathweave.load(tmp_path).stored[0].manifest["verdict"] == "stopped"
    assert not pathweave.load(tmp_path).stored[0].manifest["optimum"]["truncated"]


def test_of_many_intervals_a_sample_is_taken_and_said(scenario: Path, tmp_path: Path) -> None:
    words = ("run", scenario, "--optimum", "--problems", "2", "--only", "scheme=XMP")
    done = command(*words, "--out", tmp_path)
    assert "the optimum is of 2 of" in " ".join(done.stderr.split())
    run = pathweave.load(tmp_path).stored[0]
    assert run.optimum is not None
    assert run.optimum["asked"] == 2 < run.optimum["intervals"]


def test_of_a_sample_only_flows_that_were_seen_have_a_share(scenario: Path, tmp_path: Path) -> None:
    """The one moment is at half-time, and flow "one" comes after it."""
    text = SCENARIO.replace('stop = "20 ms"', 'start = "25 ms"')
    scenario.write_text(text[: text.index("[measure.phases]")])
    words = ("run", scenario, "--optimum", "--problems", "1", "--only", "scheme=XMP")
    done = command(*words, "--out", tmp_path)
    assert "1 of 2 flows have no share of their own" in " ".join(done.stderr.split())
    results = pathweave.load(tmp_path)
    whole = results.table("optimum").filter(pl.col("phase") == "").sort("flow")
    assert whole["moments"].to_list() == [1, 0]
    assert whole["seen"].to_list() == pytest.approx([25 / 40, 0.0], abs=1e-3)  # jitter
    assert whole["optimum_bps"][0] == pytest.approx(2 * PAYLOAD * 1e9, rel=1e-5)
    assert whole["share"][0] == whole["goodput_bps"][0] / whole["optimum_bps"][0]
    assert whole["share"][1] is None
    assert whole["optimum_bps"][1] is None
    assert whole["goodput_bps"][1] > 0
    page = build_report([tmp_path / "links"], tmp_path / "page", pictures=False).read_text()
    assert "flows with a share" in page
    assert "1 of 2 flows have no share of their own" in page


@pytest.mark.parametrize("words", [("solve",), ("run", "--optimum")])
def test_a_controller_without_a_utility_is_refused_before_anything_runs(
    words: tuple[str, ...], scenario: Path, tmp_path: Path
) -> None:
    words = (*words, "--utility", "controller", "--out", str(tmp_path / "r"))
    done = command(words[0], scenario, *words[1:], expect=2)
    assert "LIA: lia is not known to maximise a utility" in done.stderr
    assert not (tmp_path / "r").exists()
    command("solve", scenario, *words[-4:], "--only", "scheme=XMP")  # which has one


def test_a_listed_flow_s_own_controller_counts(tmp_path: Path) -> None:
    """The group's is nobody's, when each flow of the list has its own."""
    path = tmp_path / "own.toml"
    text = COLLISION.replace('controller = "xmp"', 'controller = "lia"')
    path.write_text(text.replace("{ from", '{ controller = "reno", from', 1))
    words = ("solve", path, "--utility", "controller", "--out", tmp_path / "r")
    assert "lia is not known" in command(*words, expect=2).stderr
    path.write_text(text.replace("{ from", '{ controller = "reno", from'))
    command(*words)


def test_a_routing_is_not_judged_by_controllers_that_cannot(tmp_path: Path) -> None:
    path = tmp_path / "collision.toml"
    path.write_text(COLLISION.replace('controller = "xmp"', 'controller = "ewtcp"'))
    words = ("solve", path, "--utility", "controller", "--out", tmp_path / "r")
    assert "--routing needs a utility" in command(*words, "--routing", expect=2).stderr
    assert not (tmp_path / "r").exists()


def test_another_utility_s_optimum_is_not_shown_for_one_that_failed(tmp_path: Path) -> None:
    path = tmp_path / "spray.toml"
    text = COLLISION.replace('kind = "pinned"', 'kind = "spray"')
    path.write_text(re.sub(r", paths = .*]] }", " }", text))
    words = ("run", path, "--optimum", "--out", tmp_path / "r")
    assert "of the optimum (proportional)" in command(*words).stdout
    # Which the core refuses where packets are spread.
    failed = command(*words, "--utility", "wutcp", expect=1)
    assert 'Flows of "flows"' in failed.stdout
    assert "of the optimum" not in failed.stdout
    assert "of the optimum (proportional)" in command(*words).stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fair", 'unknown utility "fair"; known are proportional, alpha'),
        ("alpha", 'utility "alpha" has a parameter missing or unknown'),
        ("alpha:2", "write alpha:key=value"),
        ("xmp:gamma=2", 'utility "xmp:gamma=2" has a parameter missing or unknown'),
        ("xmp:beta=-1", "beta is -1"),
        ("xmp:beta=four", 'beta is "four"; it must be a number'),
        ("xmp:beta=4,5", "write xmp:key=value"),
        ("wutcp:omega=1,half", 'omega is "half"; it must be a number'),
        ("wutcp:omega=1/m,1/m", 'omega is "1/m"; it must be a number'),
        ("wutcp:omega=1,-1", "omega is -1"),
    ],
)
def test_a_wrong_utility_is_refused_with_what_is_known(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse(text)


def test_a_wrong_utility_is_refused_before_anything_runs(scenario: Path, tmp_path: Path) -> None:
    out = tmp_path / "results"
    done = command("run", scenario, "--optimum", "--utility", "fair", "--out", out, expect=2)
    assert "unknown utility" in done.stderr
    assert not out.exists()


def test_utilities_by_name() -> None:
    assert parse("proportional").utility == ProportionalFairness()
    assert parse("xmp:beta=6").utility == Xmp(6.0)
    assert parse("wutcp:omega=1/m^2").utility == Wutcp("1/m^2")
    assert parse("wutcp:omega=1,0.5").utility == Wutcp((1.0, 0.5))
    assert parse("wutcp:1,0.5") == parse("wutcp:omega=1,0.5")
    assert parse("max-min:over=subflows").utility == MaxMin("subflows")
    assert parse("delay-weighted:weight=1/T").utility == DelayWeighted(1.0, "1/T")
    assert parse("delay-weighted:alpha=2,weight=3").utility == DelayWeighted(2.0, 3.0)
    assert parse("controller").of("xmp", {"beta": 5.0}) == Xmp(5.0)
    assert set(names()) >= {"controller", "eutcp", "tcp", "delay-weighted"}


def test_ewtcp_and_uncoupled_are_weighted_tcp() -> None:
    assert of_controller("ewtcp", {}) == Wutcp("1/m^2")
    assert of_controller("uncoupled", {"of": "reno"}) == Wutcp(1.0)
    assert of_controller("reno", {}) == Tcp()
    assert of_controller("reno", {}, subflows=2) == Wutcp(1.0)


# A flow with a subflow on each link, and one flow beside it on each.
UNEQUAL = (
    'title = "Unequal RTTs"\n'
    + LINKS.replace('"100 us"', '["5 ms", "15 ms"]')
    + """
flows = [
    { name = "both", from = "S1", to = "D1", subflows = 2, paths = [["A1", "B1"], ["A2", "B2"]] },
    { name = "near", from = "S2", to = "D2", paths = [["A1", "B1"]] },
    { name = "far", from = "S2", to = "D2", paths = [["A2", "B2"]] },
]

[stop]
at = "1 s"

[measure]
from = "500 ms"
"""
)
REFUSED = "maximises a utility only where all subflows of a flow have the same RTT"


def solved_for(
    controller: str, folder: Path, text: str = UNEQUAL, *, expect: int = 0
) -> tuple[str, Path]:
    """What the terminal says, in one line, and the results of each flow's own utility."""
    path = folder / "own.toml"
    path.write_text(text.replace('controller = "xmp"', f"controller = {controller}"))
    words = ("solve", path, "--utility", "controller", "--out", folder / "r")
    return " ".join(command(*words, expect=expect).stderr.split()), folder / "r"


@pytest.mark.parametrize(
    ("controller", "near", "far"),
    [('"fcc"', 4 / 7, 4 / 7), ('{ name = "fcc", alpha_total = 100 }', 1 / 2, 1)],
)
def test_fcc_s_weight_is_its_alpha_total(
    tmp_path: Path, controller: str, near: float, far: float
) -> None:
    """RTTs are T and 3 T, and Y the first flow's x_1 + x_2 / 3. Prices are a/Y, a/(3 Y) and a/s.

    With a = 1/RTT both other flows have Y, so Y = (1 - Y) 4/3. With one a for all the far one would
    have 3 Y: more than the second link, which it has to itself. Then Y = x_1 = 1 - Y.
    """
    _, folder = solved_for(controller, tmp_path)
    flows = pathweave.load(folder).flows
    rates = dict(zip(flows["name"], flows["goodput_bps"] / PAYLOAD / 1e9, strict=True))
    assert rates["near"] == pytest.approx(near, rel=5e-3)  # RTTs also have transmission times
    assert rates["far"] == pytest.approx(far, rel=5e-3)


@pytest.mark.parametrize(
    ("controller", "instead"),
    [
        ('"amp"', "xmp:beta=4"),
        ('"eutcp"', "eutcp:gamma=1.05"),
        ('"semicoupled"', "tcp"),
    ],
)
def test_what_is_maximised_for_equal_rtts_only_is_refused_for_others(
    tmp_path: Path, controller: str, instead: str
) -> None:
    said, folder = solved_for(controller, tmp_path, expect=1)
    assert f"{controller[1:-1]} {REFUSED}" in said
    assert "a flow has base RTTs from 10.05 to 30.05 ms" in said
    assert f"choose a common --utility, such as {instead}" in said
    assert not list(folder.rglob("manifest.json"))
    solved_for(controller, tmp_path, UNEQUAL.replace("15 ms", "5 ms"))


@pytest.mark.parametrize("controller", ["xmp", "wutcp", "ewtcp", "uncoupled", "fcc"])
def test_other_utilities_are_solved_for_any_rtts(tmp_path: Path, controller: str) -> None:
    solved_for(f'"{controller}"', tmp_path)


def test_reno_s_subflows_are_tcps_of_their_own(tmp_path: Path) -> None:
    """Each link has two TCPs with equal RTTs, one of them a subflow of the first flow."""
    _, folder = solved_for('"reno"', tmp_path)
    rates = pathweave.load(folder).subflows["goodput_bps"]
    assert rates.to_list() == pytest.approx([PAYLOAD * 0.5e9] * 4, rel=1e-3)


@pytest.mark.parametrize(
    ("controller", "message"),
    [
        ('"bos"', "bos on several subflows runs on each by itself"),
        ('{ name = "uncoupled", of = "bos" }', "uncoupled bos is not known to maximise a utility"),
    ],
)
def test_several_uncoupled_bos_are_refused(tmp_path: Path, controller: str, message: str) -> None:
    expect = 1 if controller == '"bos"' else 2  # the first only when its subflows are known
    assert message in solved_for(controller, tmp_path, expect=expect)[0]


@pytest.mark.parametrize("controller", ["amp", "eutcp"])
def test_flows_may_have_rtts_of_their_own(tmp_path: Path, controller: str) -> None:
    """Prices are a flow's own marginal utility: windows are equal on a link."""
    text = (
        UNEQUAL[: UNEQUAL.index('    { name = "both"')]
        + UNEQUAL[UNEQUAL.index('    { name = "near"') :]
    )
    solved_for(f'"{controller}"', tmp_path, text)


def test_a_list_of_omegas_has_one_for_each_subflow(tmp_path: Path) -> None:
    """On one link rates are as omega where windows are long: both subflows have one price."""
    path = tmp_path / "weights.toml"
    both = '{ from = "S1", to = "D1", subflows = 2, paths = [["A1", "B1"], ["A1", "B1"]] },'
    text = COLLISION[: COLLISION.index("flows = [")] + f"flows = [{both}]\n\n[stop]\nat = '1 s'\n"
    path.write_text(text.replace("100 us", "10 ms"))
    words = ("solve", path, "--utility", "wutcp:omega=1,0.5", "--out", tmp_path / "r")
    command(*words)
    rates = pathweave.load(tmp_path / "r").subflows.sort("subflow")["goodput_bps"]
    assert rates[0] / rates[1] == pytest.approx(2, rel=1e-3)
    words = ("solve", path, "--utility", "wutcp:omega=1,1,1", "--out", tmp_path / "r")
    assert "3 values of omega for 2 subflows" in " ".join(command(*words, expect=1).stderr.split())


def test_interruption_ends_the_search_for_a_routing(tmp_path: Path) -> None:
    """Ctrl-C comes with the first choice of paths that the search tries."""
    path = tmp_path / "collision.toml"
    path.write_text(COLLISION)
    real, calls = allocate.allocate, 0

    def interrupting(*arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        # After three relaxations, the given, the rounded and the smallest-price choice and the
        # prices for its second flow comes the relaxation of the search, and then its first choice.
        if calls == 9:
            os.kill(os.getpid(), signal.SIGINT)
        return real(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(routing, "allocate", interrupting)
        done = command("solve", path, "--routing", "--out", tmp_path / "r", expect=1)
    assert "interrupted: 0 of 1 runs are kept" in done.stderr
    assert calls == 9
    assert not list((tmp_path / "r").rglob("manifest.json"))


def test_interruption_keeps_what_is_solved(tmp_path: Path) -> None:
    scenario = tmp_path / "slow.toml"
    scenario.write_text(SLOW)
    running = subprocess.Popen(
        [sys.executable, "-m", "pathweave", "solve", str(scenario), "--out", str(tmp_path / "r")],
        stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment(),
    )  # fmt: skip
    assert running.stderr is not None
    for line in running.stderr:
        if line.startswith("started"):
            running.send_signal(signal.SIGINT)
            break
    _, rest = running.communicate(timeout=60)
    assert running.returncode == 1
    assert "interrupted: 0 of 2 runs are kept" in rest
    assert not list((tmp_path / "r").rglob("manifest.json"))


# Thousands of arrivals, each a change.
SLOW = """
title = "Slow"

[fabric]
kind = "fat-tree"
k = 4
rate = "1 Gbps"
delay = "10 us"

[[traffic]]
name = "small"
pattern = "poisson"
size = "100 KB"
flows_per_second = 20000

[variants.scheme.Reno]
"traffic.small.controller" = "reno"
[variants.scheme.CUBIC]
"traffic.small.controller" = "cubic"

[stop]
at = "10 s"
"""


# Both flows over the first of two bottlenecks.
COLLISION = (
    'title = "Collision"\n'
    + LINKS
    + """
flows = [
    { from = "S1", to = "D1", paths = [["A1", "B1"]] },
    { from = "S2", to = "D2", paths = [["A1", "B1"]] },
]

[stop]
at = "10 ms"
"""
)


def test_a_routing_is_judged_by_the_best_choice_of_paths(tmp_path: Path) -> None:
    scenario = tmp_path / "collision.toml"
    scenario.write_text(COLLISION)
    done = command("solve", scenario, "--routing", "--out", tmp_path / "results")
    routing = pathweave.load(tmp_path / "results").stored[0].manifest["optimum"]["routing"]
    assert (routing["flows"], routing["candidates"]) == (2, 4)
    assert routing["given"]["total_bps"] == pytest.approx(1e9, rel=1e-6)
    assert routing["smallest"]["total_bps"] == pytest.approx(2e9, rel=1e-6)
    assert routing["best"]["total_bps"] == pytest.approx(2e9, rel=1e-6)
    assert routing["relaxed"]["total_bps"] == pytest.approx(2e9, rel=1e-6)
    assert "the best of all choices" in done.stdout
    again = command("solve", scenario, "--routing", "--out", tmp_path / "results")
    assert "1 of 1 runs are there already" in again.stderr
    folder = tmp_path / "results" / "collision" / "quick-optimum-routing"
    page = build_report([folder], tmp_path / "page", pictures=False).read_text()
    assert "Routing of Collision, seed 1: 2 flows, 4 paths" in page
    assert "total (Mbps)" in page
    rows = dict(re.findall(r'<th scope="row">([^<]*)</th>\s*<td[^>]*>([^<]*)</td>', page))
    assert rows["the paths of the routing"] == "1,000"
    assert rows["the smallest prices, flow by flow"] == "2,000"
    assert rows["the best of all choices"] == "2,000"
    assert rows["no limit on paths"] == "2,000"


def test_a_routing_is_not_judged_by_max_min(tmp_path: Path) -> None:
    scenario = tmp_path / "collision.toml"
    scenario.write_text(COLLISION)
    words = ("solve", scenario, "--routing", "--utility", "max-min", "--out", tmp_path / "r")
    assert "--routing needs a utility" in command(*words, expect=2).stderr
    assert not (tmp_path / "r").exists()


def test_utilities_of_subflows_are_refused_where_packets_are_spread(tmp_path: Path) -> None:
    scenario = tmp_path / "spray.toml"
    text = COLLISION.replace('kind = "pinned"', 'kind = "spray"')
    scenario.write_text(re.sub(r", paths = .*]] }", " }", text))
    done = command(
        "solve", scenario, "--utility", "wutcp:omega=1/m", "--out", tmp_path / "r", expect=1
    )
    assert "spread over several paths" in " ".join(done.stderr.split())
    command("solve", scenario, "--out", tmp_path / "r")
    total = pathweave.load(tmp_path / "r").flows["goodput_bps"].sum()
    assert total == pytest.approx(2 * PAYLOAD * 1e9, rel=1e-2)  # the starts differ


def test_a_routing_of_which_a_flow_has_no_path_is_judged_without_it(tmp_path: Path) -> None:
    scenario = tmp_path / "down.toml"
    down = '\n[[events]]\nat = "0 s"\nlink = "S2-A1"\ndown = true\n'
    scenario.write_text(COLLISION + down)
    command("solve", scenario, "--routing", "--out", tmp_path / "r")
    routing = pathweave.load(tmp_path / "r").stored[0].manifest["optimum"]["routing"]
    assert routing["flows"] == 1


def test_a_damaged_optimum_is_solved_again(scenario: Path, tmp_path: Path) -> None:
    words = ("run", scenario, "--optimum", "--only", "scheme=XMP", "--out", tmp_path)
    command(*words)
    folder = pathweave.load(tmp_path).stored[0].folder
    (folder / "optimum.json").write_text("{")
    assert pathweave.load(tmp_path).stored[0].optimum is None
    assert command(*words).stderr.count("solved") == 1
    (folder / "optimum.parquet").write_bytes(b"cut off")
    assert pathweave.load(tmp_path).stored[0].optimum is None


def test_utilities_without_an_optimum_are_refused(scenario: Path, tmp_path: Path) -> None:
    done = command("run", scenario, "--utility", "max-min", "--out", tmp_path / "r", expect=2)
    assert "add --optimum" in done.stderr


def test_shares_by_hand() -> None:
    tables = {
        "flows": pl.DataFrame({"id": [0, 1], "goodput_bps": [30.0, 50.0]}),
        "subflows": pl.DataFrame(
            {"flow": [0, 0, 1], "subflow": [0, 1, 0], "goodput_bps": [10.0, 20.0, 50.0]}
        ),
    }
    solved = pl.DataFrame(
        {
            "phase": ["", ""],
            "flow": [0, 1],
            "goodput_bps": [40.0, 40.0],
            "time_s": [1.0, 1.0],
            "seen": [1.0, 1.0],
            "moments": [0, 0],
            "split_unique": [True, True],
        }
    )
    split = pl.DataFrame(
        {
            "phase": ["", "", ""],
            "flow": [0, 0, 1],
            "subflow": [0, 1, 0],
            "goodput_bps": [40.0, 0.0, 40.0],
        }
    )
    subflows = subflow_shares(split, tables)
    flows = flow_shares(solved, subflows, tables)
    assert flows["share"].to_list() == [0.75, 1.25]
    # Two thirds of the first flow's traffic are on the wrong subflow.
    assert flows["split_distance"].to_list() == [pytest.approx(2 / 3), None]
    doubtful = flow_shares(solved.with_columns(split_unique=pl.lit(value=False)), subflows, tables)
    assert doubtful["split_distance"].to_list() == [None, None]
    # Of a sample, flows count that were seen for half of their life, or often.
    for seen, moments, enough in ((0.5, 1, True), (0.49, 19, False), (0.01, 20, True)):
        sample = solved.with_columns(seen=pl.Series([1.0, seen]), moments=pl.Series([30, moments]))
        shares = flow_shares(sample, subflows, tables)["share"].to_list()
        assert shares == [0.75, 1.25 if enough else None]
        swapped = flow_shares(sample.with_columns(flow=1 - pl.col("flow")), subflows, tables)
        assert (swapped.sort("flow")["split_distance"][0] is not None) == enough
