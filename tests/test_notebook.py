"""`pathweave.run` and `pathweave.explain` as notebooks and scripts use them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import pathweave
from conftest import environment, write_scenario
from pathweave.errors import InputError, PathweaveError, ScenarioError

SHORT = """
[fabric]
kind = "fat-tree"
k = 4
rate = "1 Gbps"
delay = "10 us"

[[traffic]]
name = "large"
pattern = "permutation"
rounds = 1
size = "unlimited"
controller = "xmp"
subflows = 2

[stop]
at = "2 ms"
"""
EXAMPLES = Path(__file__).parent.parent / "examples"
TEXT = 'title = "Made up"\n[axes]\nscheme = ["DCTCP", "XMP-4"]\n[fake]\nflows = 5\n'
TABLE: dict[str, Any] = {
    "title": "Made up",
    "axes": {"scheme": ["DCTCP", "XMP-4"]},
    "fake": {"flows": 5},
}


def test_an_error_is_one_line_without_causes(fake: None, tmp_path: Path) -> None:
    path = write_scenario(tmp_path, top="broken = 1")
    with pytest.raises(ScenarioError) as caught:
        pathweave.run(path, out=tmp_path / "out", progress=False)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    inner = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert inner[-1] == "guarded"
    assert "open_session" not in inner
    shown = caught.value._render_traceback_()
    assert shown[0] == "ScenarioError:"
    assert "unknown key `broken`" in shown[1]
    with pytest.raises(InputError) as caught_input:
        pathweave.run(tmp_path / "nowhere.toml", progress=False)
    (line,) = caught_input.value._render_traceback_()
    assert line == f"InputError: {tmp_path / 'nowhere.toml'} is not there"


def test_a_failed_run_is_an_error(fake: None, tmp_path: Path) -> None:
    path = write_scenario(tmp_path, fake='flows = 5\nfail = ["DCTCP, Incast"]')
    with pytest.raises(PathweaveError, match="1 runs failed; DCTCP, Incast: packets are not"):
        pathweave.run(path, out=tmp_path / "out", progress=False)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_stays_one(fake: None, tmp_path: Path, number: signal.Signals) -> None:
    path = write_scenario(tmp_path, fake="flows = 5\nseconds = 60")
    ours = threading.main_thread().ident
    assert ours is not None

    def interrupt() -> None:
        folder = tmp_path / "out/tab1/quick/scenario.json"
        end = time.monotonic() + 30
        while not folder.exists() and time.monotonic() < end:
            time.sleep(0.01)
        signal.pthread_kill(ours, number)

    sender = threading.Thread(target=interrupt)
    sender.start()
    with pytest.raises(KeyboardInterrupt, match="finished runs are kept"):
        pathweave.run(path, out=tmp_path / "out", progress=False)
    sender.join()


@pytest.mark.parametrize("scenario", [TEXT, TABLE], ids=["text", "dictionary"])
def test_a_scenario_needs_no_file(
    fake: None, tmp_path: Path, scenario: str | dict[str, Any]
) -> None:
    results = pathweave.run(scenario, out=tmp_path / "out", progress=False)
    assert sorted(set(results.flows["scheme"])) == ["DCTCP", "XMP-4"]
    assert (tmp_path / "out/notebook/quick/xmp-4-s1/manifest.json").is_file()
    only = {"scheme": "DCTCP"}
    pathweave.run(scenario, name="mine", only=only, out=tmp_path / "out", progress=False)
    about = json.loads((tmp_path / "out/mine/quick/scenario.json").read_text())
    assert about["axes"] == [["scheme", ["DCTCP", "XMP-4"]]]
    assert not (tmp_path / "out/mine/quick/xmp-4-s1").exists()


@pytest.mark.parametrize("name", ["a/b", ".hidden", "x\x1b[2J", "y" * 101, " z"])
def test_names_that_no_folder_can_have(fake: None, tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="cannot name results"):
        pathweave.run(TEXT, name=name, out=tmp_path, progress=False)
    assert not list(tmp_path.iterdir())


def test_what_is_no_scenario_is_refused(fake: None, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not list"):
        pathweave.run([1], progress=False)  # pyright: ignore[reportArgumentType]
    with pytest.raises(InputError, match=r"traffic\[0\]\.size is None; a scenario holds"):
        pathweave.run({"traffic": [{"size": None}]}, progress=False)
    with pytest.raises(InputError, match="leave name out"):
        pathweave.run(tmp_path / "tab1.toml", name="other", progress=False)


def test_dictionaries_become_the_toml_that_says_the_same() -> None:
    import tomllib

    from pathweave.running.texts import to_toml

    table: dict[str, Any] = {
        "fabric": {"kind": "star", "queue": {"mark": {"k": 10, "odd key": [1, 2.5, True]}}},
        "title": 'quotes " and \\ and \x1b and \x7f and ä 😀 and\nlines',
        "traffic": [{"name": "a", "flows": [{"from": "S1"}, {"from": "S2"}]}, {"name": "b"}],
        "variants": {"scheme": {"XMP 4": {"traffic.a.subflows": 4}, "none": {}}},
        "seed": [1, 2],
        "empty": [],
        "small": 1e-9,
        "large": float("inf"),
    }
    assert tomllib.loads(to_toml(table)) == table


def test_explain_is_there_too(fake: None) -> None:
    assert repr(pathweave.explain("xmp")).startswith("xmp (controller)\nWhat it does.")
    with pytest.raises(InputError, match='did you mean "xmp"') as caught:
        pathweave.explain("xmpp")
    assert caught.value.__suppress_context__


@pytest.mark.parametrize("example", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_examples_run(example: Path, tmp_path: Path) -> None:
    """With the real core."""
    done = subprocess.run(
        [sys.executable, str(example)],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "results/two-flows").is_dir()
    assert "DCTCP" in done.stdout
    assert 'did you mean "dctcp" (controller)' in done.stdout


def test_mistakes_in_texts_name_line_and_place(tmp_path: Path) -> None:
    """With the real core: files that a scenario names are those of the working folder."""
    with pytest.raises(ScenarioError) as caught:
        pathweave.run('title = "x"\n[fabric]\nkind = "rign"\n', name="mine", progress=False)
    assert "mine:3:8" in str(caught.value)
    assert '"ring"' in str(caught.value)
    assert os.fspath(tmp_path) not in str(caught.value)


@pytest.mark.usefixtures("fake")
def test_results_show_themselves(tmp_path: Path) -> None:
    path = write_scenario(tmp_path, axes='scheme = ["DCTCP", "<b>XMP</b>"]')
    results = pathweave.run(path, seeds=3, out=tmp_path / "out", progress=False)
    shown = results._repr_html_()
    assert shown.count("<table>") == shown.count("</table>") >= 1
    assert "&lt;b&gt;XMP" in shown
    assert "<b>XMP" not in shown
    assert "<script" not in shown
    assert "3 seeds" in shown


@pytest.mark.usefixtures("fake")
def test_rankings_are_a_frame(tmp_path: Path) -> None:
    report = '[report]\nquantity = "goodput"'
    path = write_scenario(tmp_path, axes='scheme = ["DCTCP", "XMP-4"]', more=report)
    results = pathweave.run(path, seeds=4, out=tmp_path / "out", progress=False)
    (found,) = results.rankings(baseline="XMP-4").filter(name="DCTCP").iter_rows(named=True)
    means = (
        results.flows.filter("in_window")
        .group_by("seed", "scheme")
        .agg(pl.col("goodput_bps").mean())
        .pivot(on="scheme", index="seed", values="goodput_bps")
    )
    differences = means["DCTCP"] - means["XMP-4"]
    assert found["value"] == pytest.approx(means["DCTCP"].mean())
    assert found["difference"] == pytest.approx(differences.mean())
    # Student's t of three degrees of freedom.
    spread = differences.std()
    assert isinstance(spread, float)
    assert found["difference_half"] == pytest.approx(3.18245 * spread / 2, rel=1e-4)
    assert (found["baseline"], found["seeds"]) == ("XMP-4", 4)
    with pytest.raises(pathweave.InputError, match="no variant"):
        results.rankings(baseline="Vegas")


@pytest.mark.usefixtures("fake")
def test_a_notebook_writes_a_report(tmp_path: Path) -> None:
    path = write_scenario(tmp_path, axes='scheme = ["DCTCP", "XMP-4"]')
    results = pathweave.run(path, out=tmp_path / "out", progress=False)
    page = results.report(tmp_path / "page", pictures=False)
    assert "<!doctype html>" in page.read_text().lower()


@pytest.mark.usefixtures("fake")
def test_a_table_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    path = write_scenario(tmp_path, axes="")
    results = pathweave.run(path, out=tmp_path / "out", progress=False)
    with pytest.raises(
        pathweave.InputError, match='there is no table "flow"; did you mean "flows"'
    ):
        results.table("flow")
    assert results.table("recoveries").is_empty()


def test_a_short_run_loads_what_a_run_needs(tmp_path: Path) -> None:
    """Loading modules takes most of the time of a short run: those that judge or draw stay out."""
    script = f"""
import sys
import pathweave

pathweave.run({SHORT!r}, out={str(tmp_path)!r}, progress=False).flows
print(*sorted(sys.modules))
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(done.stdout.split())
    assert {"pathweave.notebook", "polars"} <= loaded
    assert not loaded & {
        "cvxpy",
        "pathweave.changes.changes",
        "pathweave.report",
        "pathweave.statistics.survival",
        "scipy",
        "vl_convert",
    }
