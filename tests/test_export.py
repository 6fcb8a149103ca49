"""`pathweave export`: one table of many runs, whatever their settings and axes."""

from __future__ import annotations

import io
import json
import resource
import subprocess
from typing import TYPE_CHECKING

import polars as pl
import pytest

import pathweave
from conftest import Command, environment, fake_command, write_scenario
from pathweave.results.wholefile import whole_file, write_whole

if TYPE_CHECKING:
    from pathlib import Path

FIRST = ["scenario", "settings", "backend", "variant", "scheme", "seed"]


@pytest.fixture
def results(fake: None, tmp_path: Path) -> Path:
    """Two settings of a scenario, and another scenario with another axis."""
    path = write_scenario(tmp_path, axes='scheme = ["DCTCP", "XMP-4"]', fake="flows = 12")
    out = tmp_path / "results"
    pathweave.run(path, seeds=2, out=out, progress=False)
    pathweave.run(path, set={"fabric.k": 4}, out=out, progress=False)
    other = write_scenario(tmp_path, "fig1", axes='pattern = ["Incast"]', fake="flows = 9")
    pathweave.run(other, out=out, progress=False)
    return out


@pytest.mark.filterwarnings("ignore:the runs of tab1 have different settings")
def test_csv_has_what_a_run_is_of_first(cli: Command, results: Path) -> None:
    done = cli("export", "results/tab1")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    table = pl.read_csv(io.StringIO(done.stdout))
    assert table.columns[: len(FIRST)] == FIRST
    assert set(table["settings"]) == {"quick", "quick-k=4"}
    truth = pathweave.load(results / "tab1").flows
    assert table.height == truth.height == 6 * 12
    assert table["goodput_bps"].equals(truth["goodput_bps"])
    assert table["seed"].to_list() == truth["seed"].to_list()


@pytest.mark.filterwarnings("ignore:the runs of tab1 have different settings")
def test_all_formats_say_the_same(cli: Command, results: Path, tmp_path: Path) -> None:
    for name in ("x.parquet", "x.csv", "x.json"):
        done = cli("export", "--out", name)
        assert done.returncode == 0, done.stderr
        assert done.stdout == ""
    table = pl.read_parquet(tmp_path / "x.parquet")
    assert table.columns[:7] == [
        "scenario",
        "settings",
        "backend",
        "variant",
        "pattern",
        "scheme",
        "seed",
    ]
    # The other scenario has no schemes; its axis is null in the first one.
    assert table.filter(pl.col("scenario") == "fig1")["scheme"].is_null().all()
    assert table.height == 6 * 12 + 9
    assert (
        table.sort("scenario")
        .select("scenario", "fct_s", "end")
        .equals(pathweave.load(results).flows.sort("scenario").select("scenario", "fct_s", "end"))
    )
    text = pl.read_csv(tmp_path / "x.csv", infer_schema_length=None)
    rows = json.loads((tmp_path / "x.json").read_text())
    assert text.columns == table.columns == list(rows[0])
    assert text["fct_s"].equals(table["fct_s"])
    assert [row["fct_s"] for row in rows] == table["fct_s"].to_list()
    assert [row["in_window"] for row in rows] == table["in_window"].to_list()
    before = (tmp_path / "x.parquet").read_bytes()
    assert cli("export", "--out", "x.parquet").returncode == 0
    assert (tmp_path / "x.parquet").read_bytes() == before
    assert cli("export", "--format", "json").stdout == (tmp_path / "x.json").read_text()


def test_where_chooses_runs_and_rows(cli: Command, results: Path) -> None:
    words = ("--where", "scheme=XMP-4", "--where", "seed=2", "--table", "links")
    table = pl.read_csv(io.StringIO(cli("export", "results/tab1", *words).stdout))
    assert set(table["variant"]) == {"XMP-4"}
    assert set(table["seed"]) == {2}
    one = cli("export", *words, "--where", "layer=core", "--where", "settings=quick")
    assert pl.read_csv(io.StringIO(one.stdout)).height == 128
    flags = cli("export", "--where", "in_window=false", "--format", "json")
    assert (flags.returncode, json.loads(flags.stdout)) == (0, [])
    ids = cli("export", "--where", "id=3", "--where", "scenario=fig1")
    assert pl.read_csv(io.StringIO(ids.stdout))["id"].to_list() == [3]


def test_runs_are_a_table_too(cli: Command, results: Path) -> None:
    table = pl.read_csv(io.StringIO(cli("export", "results/tab1", "--table", "runs").stdout))
    assert table.columns[: len(FIRST)] == FIRST
    assert table.height == 6
    assert set(table["verdict"]) == {"stopped"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--table", "flow"), 'no run has a table "flow"; did you mean "flows"'),
        (("--table", "xyz"), "there are flows, jobs, links, subflows, runs"),
        (("--where", "shceme=XMP-4"), 'has no column "shceme"; did you mean "scheme"'),
        (("--where", "scheme=XMP-5"), 'no row has scheme=XMP-5; did you mean "XMP-4"'),
        (("--where", "group=small"), "no row has group=small; there are large"),
        (("--where", "scheme"), "is not KEY=VALUE"),
        (("--where", "seed=one"), '"seed" holds numbers'),
        (("--where", "in_window=1"), '"in_window" is true or false'),
        (("--format", "parquet"), "name a file with --out"),
        (("--out", "table.txt"), "add --format"),
        (("--out", "results"), "results is a folder"),
    ],
)
def test_a_wrong_word_says_what_there_is(
    cli: Command, results: Path, words: tuple[str, ...], said: str
) -> None:
    done = cli("export", *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stdout == ""


def test_damaged_runs_are_named_and_the_others_go_on(cli: Command, results: Path) -> None:
    (results / "tab1/quick/dctcp-s1/flows.parquet").write_bytes(b"PAR1 PAR1")
    done = cli("export", "results/tab1")
    assert done.returncode == 0
    assert "left out: " in done.stderr
    assert "dctcp-s1/flows.parquet is damaged" in done.stderr
    table = pl.read_csv(io.StringIO(done.stdout))
    assert table.select("variant", "settings", "seed").unique().height == 5


@pytest.mark.parametrize("name", ["x.csv", "x.json", "x.parquet"])
def test_a_file_that_cannot_be_written_is_not_left_half(
    results: Path, tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_text("before")
    done = subprocess.run(
        fake_command(["export", "--table", "links", "--out", name]),
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        # A file may have 2 KB, as on a disk that is full after that.
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048)),
    )
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert "File too large" in done.stderr
    assert (tmp_path / name).read_text() == "before"
    assert not list(tmp_path.glob(".x*"))


def test_an_interruption_leaves_what_stood_there(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("before")

    def write() -> None:
        with whole_file(path) as draft:
            draft.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert path.read_text() == "before"
    assert [each.name for each in tmp_path.iterdir()] == ["x"]
    (tmp_path / "link").symlink_to(path)
    with whole_file(tmp_path / "link", follow=True) as draft:
        draft.write_text("after")
    assert path.read_text() == "after"
    assert (tmp_path / "link").is_symlink()
    write_whole(tmp_path / "link", b"apart")
    assert path.read_text() == "after"
    assert (tmp_path / "link").read_text() == "apart"


def test_a_device_is_written_to(cli: Command, process: Command, results: Path) -> None:
    done = process("export", "results/fig1", "--format", "csv", "--out", "/dev/stdout")
    assert done.stdout.splitlines()[0].startswith("scenario,settings,backend")
    full = cli("export", "results/fig1", "--format", "csv", "--out", "/dev/full")
    assert full.returncode == 1
    assert "No space left on device" in full.stderr
