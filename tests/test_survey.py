"""Every scheme on the same workloads: reading, composing, comparing, and the command."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from pathweave.cli.app import call
from pathweave.core import core
from pathweave.errors import InputError
from pathweave.surveying.document import workload_text
from pathweave.surveying.table import Cell, Gathered, Values, compare
from pathweave.surveying.workloads import compose, read_survey

SURVEY = Path(__file__).parent.parent / "survey"
SMALL = """
baseline = "DCTCP"
same_burst = "DCTCP, two"

[schemes]
"DCTCP" = { controller = "dctcp" }
"DCTCP, two" = { like = "DCTCP", burst_of = "Reno, two" }
"Reno, two" = { controller = { name = "uncoupled", of = "reno" }, subflows = 2, marks = "none" }

[[workload]]
name = "pair"
title = "Two flows on a dumbbell"
groups = ["flows"]
of = "flows"
"""
PAIR = """
title = "Two flows"
seed = 1

[fabric]
kind = "dumbbell"
left = 2
bottleneck_rate = "100 Mbps"
bottleneck_delay = "50 us"
queue = { limit = 50, mark = { kind = "step", k = 10 } }

[[traffic]]
name = "flows"
pattern = "flows"
size = "100 KB"
controller = "dctcp"
flows = [{ from = "S1", to = "D1" }, { from = "S2", to = "D2", start = "1 ms" }]

[stop]
at = "100 ms"
"""


def write_survey(folder: Path, text: str = SMALL) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "survey.toml").write_text(text)
    (folder / "pair.toml").write_text(PAIR)
    return folder


def test_every_controller_of_the_project_is_in_the_survey() -> None:
    survey = read_survey(SURVEY)
    controllers = [scheme.controller for scheme in survey.schemes if not scheme.burst_of]
    used = {each if isinstance(each, str) else str(each["name"]) for each in controllers}
    known = {entry["name"] for entry in core().controllers()}
    assert used == known


@pytest.mark.parametrize("name", [each.name for each in read_survey(SURVEY).workloads])
def test_workloads_are_scenarios_with_all_schemes(name: str, tmp_path: Path) -> None:
    survey = read_survey(SURVEY)
    workload = next(each for each in survey.workloads if each.name == name)
    path = compose(survey, workload, tmp_path)
    scenario = core().load(str(path), None, [], [], None)
    assert scenario.axes["scheme"] == [scheme.name for scheme in survey.schemes]
    for variant in scenario.variants:
        scheme = next(each for each in survey.schemes if each.name == variant.label)
        if scheme.burst_of:
            continue
        resolved = json.loads(variant.resolved)
        mark = resolved["fabric"]["queue"]["mark"]["kind"]
        # A queue that marks in proportion is a linear rule from 0 on.
        assert mark == {"proportional": "linear"}.get(scheme.marks, scheme.marks)
        groups = {group["name"]: group for group in resolved["traffic"]}
        for group in workload.groups:
            assert groups[group]["subflows"] == scheme.subflows
            wanted = workload.controllers.get(scheme.name, scheme.controller)
            name_of = wanted if isinstance(wanted, str) else wanted["name"]
            assert groups[group]["controller"]["name"] == name_of
        assert {workload.of, workload.jobs} - {""} <= set(groups)


def test_the_same_burst_is_a_single_path_with_as_many_initial_packets(tmp_path: Path) -> None:
    survey = read_survey(write_survey(tmp_path))
    path = compose(survey, survey.workloads[0], tmp_path / "out")
    scenario = core().load(str(path), None, [], [], None)
    groups = {
        variant.label: json.loads(variant.resolved)["traffic"][0] for variant in scenario.variants
    }
    windows = {name: group["transport"]["initial_window"] for name, group in groups.items()}
    assert windows == {"DCTCP": 10, "DCTCP, two": 20, "Reno, two": 10}
    subflows = {name: group["subflows"] for name, group in groups.items()}
    assert subflows == {"DCTCP": 1, "DCTCP, two": 1, "Reno, two": 2}
    assert groups["DCTCP, two"]["controller"]["name"] == "dctcp"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("baseline = 1\n", "'schemes' is missing"),
        (SMALL.replace('baseline = "DCTCP"', 'baseline = "XMP"'), 'no scheme "XMP" for a baseline'),
        (SMALL.replace('t = "DCTCP, two"', 't = "TCP"'), 'no scheme "TCP" for a baseline'),
        (
            SMALL.replace('burst_of = "Reno, two"', 'burst_of = "XMP"'),
            'scheme "DCTCP, two": there is no scheme "XMP"',
        ),
        (
            SMALL.replace('like = "DCTCP", ', "subflows = 2, "),
            'unknown key "subflows"; known are burst_of, like',
        ),
        (SMALL.replace("subflows = 2", "subflow = 2"), 'unknown key "subflow"'),
        (SMALL.replace('marks = "none"', 'marks = "some"'), "marks must be one of step, none"),
        (SMALL.replace('"pair"', '"triple"'), "there is no triple.toml"),
        (f"{SMALL}controllers = {{ XMP = 'xmp' }}\n", 'no scheme "XMP"'),
        ("[schemes", "survey.toml"),
        (f"bottom = 1\n{SMALL}", 'unknown key "bottom"; known are baseline, same_burst, schemes'),
        (
            SMALL.replace("subflows = 2", "subflows = 'two'"),
            "subflows must be a whole number from 1 on, not 'two'",
        ),
        (
            SMALL.replace('of = "flows"', 'of = "flow"'),
            'no traffic group is called "flow"; pair.toml has flows',
        ),
        (
            SMALL.replace('["flows"]', '"flows"'),
            "groups must be a list of names, not 'flows'",
        ),
        (
            SMALL.replace('{ controller = "dctcp" }', '"dctcp"'),
            "scheme \"DCTCP\" must be a table with a controller, not 'dctcp'",
        ),
        (SMALL.replace("subflows = 2", "subflows = 0"), "whole number from 1 on, not 0"),
    ],
)
def test_mistakes_are_named(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"survey\.toml") as raised:
        read_survey(write_survey(tmp_path, text))
    assert said in str(raised.value)


def values(*numbers: float, at_least: bool = False) -> Values:
    return Values(dict(enumerate(numbers, start=1)), at_least)


GATHERED: Gathered = {
    "goodput": {
        "DCTCP": values(100e6, 101e6, 99e6, 100e6, 102e6),
        "DCTCP, two": values(125e6, 127e6, 124e6, 126e6, 128e6),
        "Reno, two": values(120e6, 122e6, 119e6, 120e6, 121e6),
    },
    "rtt": {
        "DCTCP": values(1e-3, 1.1e-3, 0.9e-3, 1.0e-3, 1.05e-3),
        "Reno, two": values(1.1e-3, 0.9e-3, 1.0e-3, 1.02e-3, 1.0e-3),
    },
    "slowdown_p99_short": {
        "DCTCP": values(2.0, 2.0),
        "Reno, two": values(200.0, 300.0, at_least=True),
    },
}


def test_differences_are_paired_and_judged_by_what_is_better(tmp_path: Path) -> None:
    table = compare(read_survey(write_survey(tmp_path)), GATHERED)
    goodput: Cell = table["goodput"]["Reno, two"]
    assert goodput.compared is not None
    assert goodput.compared.outcome == "better"
    assert goodput.compared.difference.percent == pytest.approx(19.92, abs=0.01)
    # Against as many initial packets the same scheme is worse.
    assert goodput.same_burst is not None
    assert goodput.same_burst.outcome == "worse"
    assert goodput.same_burst.difference.percent == pytest.approx(-4.44, abs=0.01)
    single = table["goodput"]["DCTCP, two"]
    assert single.compared is not None
    assert single.same_burst is None
    rtt = table["rtt"]["Reno, two"]
    assert rtt.compared is not None
    assert rtt.compared.outcome == "not told apart"
    assert table["goodput"]["DCTCP"].compared is None
    # Of a lower bound there is no difference.
    assert table["slowdown_p99_short"]["Reno, two"].compared is None
    fewer = {"rtt": {name: values(*reversed(range(1, 6))) for name in ("DCTCP",)}}
    assert compare(read_survey(tmp_path), fewer)["rtt"]["DCTCP"].compared is None


def test_a_table_shows_values_differences_and_verdicts(tmp_path: Path) -> None:
    survey = read_survey(write_survey(tmp_path))
    text = workload_text(survey, survey.workloads[0], compare(survey, GATHERED))
    assert text.splitlines() == [
        "### Two flows on a dumbbell",
        "",
        "A timeout takes 200 ms or more, that of a first packet 1 s.",
        "",
        "| scheme | goodput (Mbps) | slowdown under 100 KB, p99 | RTT (ms) |",
        "|---|---|---|---|",
        "| DCTCP | 100.4 ± 1.4 | 2.000 ± 0 | 1.010 ± 0.092 |",
        "| DCTCP, two | 126.0 ± 2.0 (+25 % ▲) |  |  |",
        "| Reno, two | 120.4 ± 1.4 (+20 % ▲; -4 % ▼) | at least 250 | 1.004 ± 0.088 (-1 % ≈) |",
    ]


def test_the_command_writes_numbers_page_and_picture(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_survey(tmp_path / "survey")
    arguments = ["survey", "--folder", str(folder), "--out", str(tmp_path / "out")]
    arguments += ["--seeds", "2", "--problems", "2", "--record"]
    assert not call(arguments)
    shown = capsys.readouterr().out
    assert "| Reno, two |" in shown
    assert "of the optimum (%)" in shown
    assert "slowdown from 100 KB to 1 MB, p50 | slowdown from 100 KB to 1 MB, p99" in shown
    record = folder / "measured.json"
    first = record.read_bytes()
    measured = json.loads(first)["workloads"]["pair"]["columns"]["goodput"]
    assert set(measured) == {"DCTCP", "DCTCP, two", "Reno, two"}
    assert set(measured["DCTCP"]["values"]) == {"1", "2"}
    page = (tmp_path / "docs" / "survey.md").read_text()
    assert "### Two flows on a dumbbell" in page
    picture = (tmp_path / "docs" / "images" / "survey.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    # The composed scenario is there for `pathweave run`, and nothing is run again.
    composed = tomllib.loads((tmp_path / "out" / "pair.toml").read_text())
    assert set(composed["variants"]["scheme"]) == {"DCTCP", "DCTCP, two", "Reno, two"}
    assert not call(arguments)
    assert not re.search("done|started", capsys.readouterr().err)
    assert record.read_bytes() == first


def test_workloads_that_are_not_run_keep_their_numbers(tmp_path: Path) -> None:
    second = SMALL[SMALL.index("[[workload]]") :].replace("pair", "later")
    folder = write_survey(tmp_path / "survey", f"{SMALL}{second}")
    (folder / "later.toml").write_text(PAIR)
    arguments = ["--folder", str(folder), "--out", str(tmp_path / "out")]
    arguments += ["--seeds", "2", "--problems", "0", "--record"]
    record = folder / "measured.json"
    call(["survey", "pair", *arguments])
    before = json.loads(record.read_text())["workloads"]["pair"]
    call(["survey", "later", *arguments])
    after = json.loads(record.read_text())["workloads"]
    assert set(after) == {"pair", "later"}
    assert after["pair"] == before
    record.write_text('{"format": 2, "workloads": 1}')
    with pytest.raises(InputError, match="damaged"):
        call(["survey", "pair", *arguments])


def test_unknown_workloads_are_refused(tmp_path: Path) -> None:
    folder = write_survey(tmp_path / "survey")
    with pytest.raises(InputError, match='no workload "triple"; there are pair'):
        call(["survey", "triple", "--folder", str(folder)])
