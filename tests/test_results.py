"""Results on disk and as frames."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import fake_core
import pathweave
from conftest import write_scenario
from pathweave.errors import InputError
from pathweave.results import write
from pathweave.results.costs import costs
from pathweave.results.fairness import fairness
from pathweave.results.jsonfile import read_json, write_json
from pathweave.results.read import find_runs


@dataclass
class Output:
    tables: dict[str, dict[str, Any]]
    counters: dict[str, int | float | str] = field(default_factory=dict)
    results_hash: str = "r"
    packet_hops: int = 10
    wall_s: float = 1.0
    cpu_s: float = 1.0
    peak_rss_mb: float = 1.0
    verdict: str = "stopped"
    notes: list[str] = field(default_factory=list)
    captures: list[dict[str, Any]] = field(default_factory=list)


def identity(run_hash: str = "h") -> write.Identity:
    variant = fake_core.Variant({}, "", "run", fake_core.NO_SETTINGS, {})
    return write.Identity(
        scenario="s", title="", size="", sets=(), variant=variant,  # pyright: ignore[reportArgumentType]
        seed=1, version="0", results_version="0", hash=run_hash, settings="h",
    )  # fmt: skip


def test_equal_tables_give_equal_bytes_in_many_row_groups(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    n = 3 * write.ROW_GROUP + 17
    names = [f"flow {i % 5000}" for i in range(n)]
    table = {"id": np.arange(n), "value": rng.normal(size=n), "name": names}
    for name in ("one", "two"):
        write.write_run(tmp_path / name, identity(), Output({"flows": table}))  # pyright: ignore[reportArgumentType]
    files = [(tmp_path / name / "flows.parquet").read_bytes() for name in ("one", "two")]
    assert files[0] == files[1]
    assert pl.read_parquet(tmp_path / "one/flows.parquet")["value"].to_numpy() == pytest.approx(
        table["value"]
    )


def test_nan_becomes_null_and_types_survive(tmp_path: Path) -> None:
    table = {
        "id": np.array([1, 2], dtype=np.int64),
        "fct_s": np.array([0.5, math.nan]),
        "finished": np.array([True, False]),
        "name": ["a", "ü"],
    }
    write.write_run(tmp_path / "run", identity(), Output({"flows": table}))  # pyright: ignore[reportArgumentType]
    frame = pl.read_parquet(tmp_path / "run/flows.parquet")
    assert frame["fct_s"].to_list() == [0.5, None]
    assert frame.dtypes == [pl.Int64, pl.Float64, pl.Boolean, pl.String]
    assert frame["name"].to_list() == ["a", "ü"]


def test_empty_tables_keep_their_columns(tmp_path: Path) -> None:
    table = {"id": np.array([], dtype=np.int64), "name": []}
    write.write_run(tmp_path / "run", identity(), Output({"jobs": table}))  # pyright: ignore[reportArgumentType]
    assert pl.read_parquet(tmp_path / "run/jobs.parquet").schema == {
        "id": pl.Int64,
        "name": pl.String,
    }


def test_broken_write_leaves_the_older_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "run"
    table = {"id": np.array([1])}
    write.write_run(folder, identity("old"), Output({"flows": table}))  # pyright: ignore[reportArgumentType]

    def full(*_: object) -> None:
        raise OSError("no space")

    monkeypatch.setattr(write, "write_table", full)
    with pytest.raises(OSError, match="no space"):
        write.write_run(folder, identity("new"), Output({"flows": table}))  # pyright: ignore[reportArgumentType]
    assert write.is_current(folder, "old")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_run_is_current_only_whole_and_with_its_hash(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    assert not write.is_current(folder, "h")
    write.write_run(folder, identity(), Output({"flows": {"id": np.array([1])}}))  # pyright: ignore[reportArgumentType]
    assert write.is_current(folder, "h")
    assert not write.is_current(folder, "other")
    whole = (folder / "flows.parquet").read_bytes()
    (folder / "flows.parquet").write_bytes(whole[:-1])
    assert not write.is_current(folder, "h")
    (folder / "flows.parquet").write_bytes(whole)
    assert write.is_current(folder, "h")
    (folder / "manifest.json").write_text("{ half")
    assert not write.is_current(folder, "h")


@pytest.mark.parametrize("content", [None, b"", b"PAR", b"PAR1 cut off", "foreign"])
def test_a_damaged_table_is_named_and_the_others_go_on(
    fake: None, tmp_path: Path, content: bytes | str | None
) -> None:
    path = write_scenario(tmp_path)
    whole = pathweave.run(path, out=tmp_path / "out", progress=False).flows
    table = tmp_path / "out/tab1/quick/xmp-4-incast-s1/flows.parquet"
    table.unlink()
    if content == "foreign":
        pl.DataFrame({"id": [1]}).write_parquet(table)
    elif isinstance(content, bytes):
        table.write_bytes(content)
    said = r"left out: .*xmp-4-incast-s1/flows\.parquet is (missing|damaged)"
    with pytest.warns(UserWarning, match=said):
        results = pathweave.load(tmp_path / "out")
    kept = pl.col("variant") != "XMP-4, Incast"
    assert results.flows.equals(whole.filter(kept))
    with pytest.raises(InputError, match=r"no run can be used: .*flows\.parquet is"):
        pathweave.load(table.parent)
    # The same command runs it again, and nothing else.
    assert pathweave.run(path, out=tmp_path / "out", progress=False).flows.equals(whole)
    assert pathweave.load(tmp_path / "out").flows.equals(whole)


def test_captures_are_files_of_the_run(tmp_path: Path) -> None:
    folder = tmp_path / "out" / "s" / "run"
    captures = [{"name": "large-3", "flow": 17, "packets": 2, "pcapng": b"\x0a\x0d"}]
    flows = {"id": np.array([17])}
    write.write_run(folder, identity(), Output({"flows": flows}, captures=captures))  # pyright: ignore[reportArgumentType]
    digest = hashlib.sha256(captures[0]["pcapng"]).hexdigest()  # pyright: ignore[reportArgumentType]
    assert read_json(folder / "manifest.json")["captures"] == {
        "large-3": {"flow": 17, "packets": 2, "sha256": digest}
    }
    stored = pathweave.load(tmp_path / "out").stored[0]
    assert stored.captures["large-3"].name == "packets-large-3.pcapng"
    assert stored.captures["large-3"].read_bytes() == b"\x0a\x0d"
    assert write.is_current(folder, "h")
    stored.captures["large-3"].unlink()
    assert not write.is_current(folder, "h")


def test_json_has_no_nan(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", {"b": math.nan, "a": [math.inf, 1.5], "c": {"d": -0.1}})
    assert read_json(tmp_path / "a.json") == {"a": [None, 1.5], "b": None, "c": {"d": -0.1}}
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_fairness_among_the_costs_is_that_of_phases(fake: None, tmp_path: Path) -> None:
    path = write_scenario(tmp_path, fake="flows = 30\nphases = true")
    out = tmp_path / "out"
    pathweave.run(path, seeds=2, only={"pattern": "Incast"}, out=out, progress=False)
    (scenario,) = find_runs([out])
    for label in ("DCTCP, Incast", "XMP-4, Incast"):
        indices: list[float] = []
        for run in scenario.runs:
            rows = fairness(run)
            if run.label == label and rows is not None:
                assert rows["phase"].n_unique() == 3
                of_all = rows.filter(pl.col("group") == "")["jain"].to_list()
                indices.append(sum(of_all) / len(of_all))
        assert len(indices) == 2
        assert costs(scenario, label).fairness == pytest.approx(sum(indices) / 2)


def test_run_and_load_from_a_notebook(fake: None, tmp_path: Path) -> None:
    path = write_scenario(tmp_path, fake="flows = 30\nseries = true\nphases = true")
    out = tmp_path / "out"
    results = pathweave.run(
        path, seeds=2, only={"pattern": "Incast"}, set={"fabric.k": 4}, out=out, progress=False
    )
    assert len(results) == 4
    tags = ["scenario", "settings", "backend", "variant", "scheme", "pattern", "seed"]
    assert results.flows.columns[:7] == tags
    assert results.flows.height == 4 * 30
    assert results.runs["scheme"].to_list() == ["DCTCP", "DCTCP", "XMP-4", "XMP-4"]
    assert results.where(scheme="XMP-4").flows["scheme"].unique().to_list() == ["XMP-4"]
    assert results.rates.height > 0
    assert results.phases["phase"].n_unique() == 3
    assert results.rtts["rtt_s"].is_between(0, 1).all()
    assert results.table("phase_links").is_empty()
    assert results.scan("queues").select(pl.col("packets").max()).collect().item() > 0
    summary = results.summary()
    assert summary["variant"].to_list() == ["DCTCP, Incast", "XMP-4, Incast"]
    assert summary["goodput_ci_bps"].is_not_null().all()
    assert "tables flows" in repr(results)
    again = pathweave.load(out)
    assert again.flows.equals(results.flows)
    one = pathweave.load(out / "tab1" / "quick-k=4" / "xmp-4-incast-s2")
    assert len(one) == 1
    assert one.runs["size"].to_list() == ["quick"]
    with pytest.raises(InputError):
        results.where(scheme="Vegas")
    with pytest.raises(KeyError, match="there are flows"):
        results.scan("nothing")


def test_a_mistake_in_a_notebook(fake: None, tmp_path: Path) -> None:
    path = write_scenario(tmp_path, top="broken = 1")
    with pytest.raises(pathweave.ScenarioError, match="unknown key"):
        pathweave.run(path, out=tmp_path / "out")
    path = write_scenario(tmp_path, fake='flows = 9\nfail = ["DCTCP, Incast"]')
    with pytest.raises(pathweave.PathweaveError, match="1 runs failed; DCTCP, Incast"):
        pathweave.run(path, out=tmp_path / "out", progress=False)


def test_an_axis_named_like_a_column_goes_by_another_name(fake: None, tmp_path: Path) -> None:
    path = write_scenario(tmp_path, axes='controller = ["a", "b"]')
    results = pathweave.run(path, out=tmp_path / "out", progress=False)
    assert set(results.flows["axis_controller"]) == {"a", "b"}
    assert set(results.flows["controller"]) == {"dctcp"}


def test_scenario_without_variants(fake: None, tmp_path: Path) -> None:
    path = write_scenario(tmp_path, axes="")
    results = pathweave.run(path, out=tmp_path / "out", progress=False)
    assert len(results) == 1
    assert results.summary().height == 1


def test_order_is_that_of_the_file(fake: None, tmp_path: Path) -> None:
    path = write_scenario(tmp_path, axes='scheme = ["Z", "A", "M"]\nk = ["20", "10"]')
    results = pathweave.run(path, out=tmp_path / "out", progress=False)
    labels = ["Z, 20", "Z, 10", "A, 20", "A, 10", "M, 20", "M, 10"]
    assert [run.label for run in results.stored] == labels
    assert results.summary()["variant"].to_list() == labels


def test_summary_counts_what_did_not_finish(fake: None, tmp_path: Path) -> None:
    path = write_scenario(tmp_path, axes="", fake="flows = 500")
    results = pathweave.run(path, out=tmp_path / "out", progress=False)
    flows = results.flows
    row = results.summary().row(0, named=True)
    left = flows.filter(pl.col("end") == "unfinished")
    assert row["unfinished"] == left.height > 0
    assert row["unfinished_bytes"] == left["delivered_bytes"].sum()
    done = flows.filter(pl.col("end") == "finished")
    assert row["goodput_mean_bps"] == pytest.approx(done["goodput_bps"].mean())
    # So many are unfinished that the tail is only known to be longer than the oldest of them.
    ages = 2.0 - left["start_s"]
    known = pl.concat([done["fct_s"], ages]).quantile(0.99, "linear")
    assert row["fct_p99_s"] == pytest.approx(known)
    assert row["fct_p99_at_least"]
    assert row["goodput_ci_bps"] is None
