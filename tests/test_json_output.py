"""`--json`: one document on standard output and nothing else, and messages on standard error."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import pathweave
from conftest import Command, write_scenario

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

AXES = 'scheme = ["DCTCP", "XMP-4"]'


def parsed(done: subprocess.CompletedProcess[str]) -> Any:
    """The document, which must be standard JSON: no NaN, nothing before or after."""

    def refuse(name: str) -> None:
        raise AssertionError(name)

    return json.loads(done.stdout, parse_constant=refuse)


def test_run_says_what_became_of_each_run(cli: Command, tmp_path: Path) -> None:
    write_scenario(tmp_path, axes=AXES, fake="flows = 40\njobs = 5")
    assert cli("run", "tab1.toml", "--only", "scheme=DCTCP").returncode == 0
    done = cli("run", "tab1.toml", "--seeds", "3", "--baseline", "XMP-4", "--json")
    assert done.returncode == 0, done.stderr
    assert "runs are there already" in done.stderr
    said = parsed(done)
    assert {run["state"] for run in said["runs"]} == {"present", "finished"}
    first = said["runs"][0]
    assert first == {
        "variant": "DCTCP",
        "axes": {"scheme": "DCTCP"},
        "seed": 1,
        "state": "present",
        "reason": "",
        "folder": "results/tab1/quick/dctcp-s1",
    }
    assert len(said["runs"]) == 6
    assert said["folder"] == "results/tab1/quick"
    results = pathweave.load(tmp_path / "results")
    found = said["results"]
    assert found["summary"] == json.loads(json.dumps(results.summary().to_dicts()))
    assert found["rankings"] == json.loads(json.dumps(results.rankings("XMP-4").to_dicts()))
    assert {row["baseline"] for row in found["rankings"]} == {"XMP-4"}
    assert found["seeds"] == [1, 2, 3]
    assert found["published"] == []


def test_a_failed_run_is_told_and_the_others_go_on(cli: Command, tmp_path: Path) -> None:
    write_scenario(tmp_path, axes=AXES, fake='flows = 5\nfail = ["XMP-4"]')
    done = cli("run", "tab1.toml", "--json")
    assert done.returncode == 1
    states = {run["variant"]: (run["state"], run["reason"]) for run in parsed(done)["runs"]}
    assert states["DCTCP"] == ("finished", "")
    assert states["XMP-4"] == ("failed", "packets are not conserved on link h0->s0")
    assert done.stderr.splitlines()[-1].startswith("error: XMP-4 failed: ")
    nothing = cli("run", "tab1.toml", "--only", "scheme=XMP-4", "--json")
    assert nothing.returncode == 1
    assert parsed(nothing)["results"] is None


def test_report_says_what_it_wrote(cli: Command, tmp_path: Path) -> None:
    write_scenario(tmp_path, axes=AXES, fake="flows = 30")
    for more in ((), ("--set", "fabric.k=4")):
        assert cli("run", "tab1.toml", "--seeds", "2", *more).returncode == 0
    (tmp_path / "results/tab1/quick/dctcp-s2/flows.parquet").write_bytes(b"PAR1 PAR1")
    done = cli("report", "results/tab1/quick", "results/tab1/quick-k=4", "--out", "page", "--json")
    assert done.returncode == 0, done.stderr
    said = parsed(done)
    assert said["page"] == "page/report.html"
    assert all((tmp_path / chart).stat().st_size > 0 for chart in said["charts"])
    written = {str(path.relative_to(tmp_path)) for path in (tmp_path / "page/charts").rglob("*.*")}
    assert set(said["charts"]) == written
    assert [each["settings"] for each in said["scenarios"]] == ["quick", "quick-k=4"]
    assert said["scenarios"][1]["rankings"][0]["quantity"] == "mean goodput of large"
    assert said["changes"]["differences"] == [{"key": "set", "a": "[]", "b": '["fabric.k=4"]'}]
    (left,) = said["left_out"]
    assert "dctcp-s2/flows.parquet is damaged" in left
    alone = cli("report", "results/tab1/quick", "--no-pictures", "--json")
    assert (parsed(alone)["charts"], parsed(alone)["changes"]) == ([], None)


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "broken.toml"),
        ("run", "nothing.toml"),
        ("report", "nothing"),
        ("results", "nothing"),
        ("compare", "nothing", "nothing"),
        ("explain", "xmpp"),
    ],
)
def test_an_error_is_one_line_on_standard_error(
    cli: Command, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    write_scenario(tmp_path, "broken", top="broken = 1")
    done = cli(*arguments, "--json")
    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: ")


def test_a_mistake_in_a_scenario_is_one_line_with_its_place(tmp_path: Path) -> None:
    """With the real core."""
    path = tmp_path / "wrong.toml"
    path.write_text('title = "x"\n[fabric]\nkind = "rign"\n')
    with pytest.raises(pathweave.ScenarioError) as caught:
        pathweave.run(path, out=tmp_path / "out", progress=False)
    assert len(caught.value.mistakes) == 2
    line = caught.value.in_one_line()
    assert line.startswith(f"{path}:1:1: the scenario has no traffic; add a table")
    assert line.endswith("(and 1 more)")
