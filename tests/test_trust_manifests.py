"""What a manifest says is checked: its shape by whoever reads it, its values by `verify`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from conftest import Command, write_scenario
from pathweave.results.jsonfile import read_json
from pathweave.results.stored import digest

AXES = 'scheme = ["DCTCP", "XMP-4"]'
RUN = "results/tab1/quick/xmp-4-s1"
Change = Callable[[dict[str, Any]], object]


@pytest.fixture
def made(cli: Command, tmp_path: Path) -> Path:
    """A folder with results; the one run is changed by tests."""
    write_scenario(tmp_path, axes=AXES)
    assert cli("run", "tab1.toml").returncode == 0
    return tmp_path


def edit(path: Path, change: Change) -> None:
    value = json.loads(path.read_text())
    change(value)
    path.write_text(json.dumps(value))


def _triple(manifest: dict[str, Any]) -> None:
    manifest["counters"] = {name: 3 * value for name, value in manifest["counters"].items()}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_triple, "counters.drops: 36, 12 in the repetition"),
        (_triple, "counters.packet_hops: 180000000, 60000000 in the repetition"),
        (lambda m: m["counters"].update(ended_s=0.5), "counters.ended_s: 0.5, 2.0 in the"),
        (lambda m: m["counters"].pop("drops"), "counters.drops: None, 12 in the repetition"),
        (lambda m: m["counters"].update(more=1), "counters.more: 1, None in the repetition"),
        (lambda m: m.update(verdict="finished"), "verdict: finished, stopped in the repetition"),
        (lambda m: m.update(notes=["all is well"]), "notes differ"),
        (lambda m: m.update(hash="0" * 64), "hash: it is not that of the scenario and the seed"),
        (lambda m: m["variant"].update(hash="0" * 64), "variant.hash: it is not that of the"),
        (lambda m: m["tables"]["flows"].update(rows=1), "flows: 40 rows, 1 in the manifest"),
        (lambda m: m.update(settings="x"), "settings: the hash in manifest.json is not that in"),
        (lambda m: m.update(magic=1), "manifest.json: the key magic is none that runs have"),
    ],
)
def test_verify_names_what_a_manifest_has_otherwise(
    cli: Command, made: Path, change: Change, said: str
) -> None:
    edit(made / RUN / "manifest.json", change)
    done = cli("verify", "results")
    assert done.returncode == 1
    assert f"  {said}" in done.stdout
    assert "1 of 2 runs: the same to the last bit" in done.stdout


def test_verify_compares_tables_whatever_the_hash_says(cli: Command, made: Path) -> None:
    path = made / RUN / "flows.parquet"
    pl.read_parquet(path).with_columns(pl.col("goodput_bps") * 2).write_parquet(path)
    hashed = digest(path)
    edit(made / RUN / "manifest.json", lambda m: m["tables"]["flows"].update(sha256=hashed))
    done = cli("verify", "results")
    assert done.returncode == 1
    assert "flows: goodput_bps differ" in done.stdout


@pytest.mark.parametrize("options", [(), ("--hashes",)])
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda t: t.update(wall_s="long"), "wall_s must be a number, not 'long'"),
        (lambda t: t.update(cpu_s=-1), "cpu_s must be a number from 0 on, not -1"),
        (lambda t: t.update(machine=["a"]), "machine must be a text, not a list"),
        (lambda t: t.update(seed=1), "unknown key 'seed'"),
    ],
)
def test_verify_looks_at_the_shape_of_timing(
    cli: Command, made: Path, change: Change, said: str, options: tuple[str, ...]
) -> None:
    edit(made / RUN / "timing.json", change)
    done = cli("verify", "results", *options)
    assert done.returncode == 1
    assert f"timing.json: {said}" in done.stdout
    assert cli("report", "results", "--no-pictures").returncode == 0


def test_verify_looks_at_the_types_of_columns(cli: Command, made: Path) -> None:
    path = made / RUN / "flows.parquet"
    pl.read_parquet(path).with_columns(pl.col("fct_s").cast(pl.String)).write_parquet(path)
    hashed = digest(path)
    edit(made / RUN / "manifest.json", lambda m: m["tables"]["flows"].update(sha256=hashed))
    done = cli("verify", "results", "--hashes")
    assert done.returncode == 1
    assert "flows: the column fct_s has numbers, not String" in done.stdout


def test_verify_compares_the_hashes_of_settings(cli: Command, made: Path) -> None:
    edit(made / "results/tab1/quick/scenario.json", lambda a: a["settings"]["scenario"].update(x=1))
    done = cli("verify", "results", "--hashes")
    assert done.returncode == 1
    assert "scenario.json: its hashes are not those of its settings" in done.stdout


def test_verify_says_when_hashes_are_of_another_version(cli: Command, made: Path) -> None:
    edit(made / RUN / "manifest.json", lambda m: m.update(results_version="9"))
    assert "its hashes are of version 9 of results" in cli("verify", "results").stderr


@pytest.mark.parametrize(
    ("table", "change"),
    [
        ("flows", pl.col("start_s").cast(pl.String)),
        ("flows", pl.lit(None).cast(pl.String).alias("group")),
        ("flows", pl.lit(-1).alias("id")),
        ("links", pl.lit(True).alias("link")),
        ("links", None),
    ],
)
def test_tables_of_another_shape_are_named(
    cli: Command, made: Path, table: str, change: pl.Expr | None
) -> None:
    """Digests say nothing: who changes a table can write its digest, too."""
    path = made / RUN / f"{table}.parquet"
    frame = pl.read_parquet(path)
    frame = frame.drop("link") if change is None else frame.with_columns(change)
    frame.write_parquet(path)
    hashed = digest(path)
    edit(made / RUN / "manifest.json", lambda m: m["tables"][table].update(sha256=hashed))
    for verb in (
        ("report", "results", "--no-pictures"),
        ("compare", "results", "results"),
        ("trace", "results", "xmp-4-s1"),
        ("results", "results"),
    ):
        done = cli(*verb)
        assert "Traceback" not in done.stderr, verb
        assert done.returncode in (0, 1, 2)
    assert f"{table}.parquet" in " ".join(cli("report", "results", "--no-pictures").stderr.split())


SHAPES: list[tuple[Change, str]] = [
    (lambda m: m["counters"].update(packet_hops="many"), "counters.packet_hops must be a number"),
    (lambda m: m["counters"].update(drops="twelve"), "counters.drops must be a number"),
    (lambda m: m["counters"].update(ended_s=None), "counters.ended_s must be a number, not null"),
    (lambda m: m.update(counters=[1]), "counters must be a table, not a list"),
    (lambda m: m.update(seed="1"), "seed must be a whole number, not '1'"),
    (lambda m: m.update(seed=2**63), "seed must be a whole number from 0 on"),
    (lambda m: m.update(notes="none"), "notes must be a list"),
    (lambda m: m.update(notes=[1]), "notes[0] must be a text, not 1"),
    (lambda m: m.update(pathweave=1), "pathweave must be a text, not 1"),
    (lambda m: m.update(backend="magic"), "backend must be"),
    (lambda m: m["variant"].update(axes={"scheme": 1}), "variant.axes.scheme must be a text"),
    (lambda m: m["variant"].update(slug="../../x"), "variant.slug must be a part of a file's"),
    (lambda m: m["scenario"].update(name="../x"), "scenario.name must be a part of a file's"),
    (lambda m: m.update(results_hash="../x"), "results_hash must be a hash"),
    (lambda m: m["tables"].update({"../x": {}}), "a key of tables must be the name of a table"),
    (lambda m: m["captures"].update({"a/b": {}}), "a key of captures must be a part of a file's"),
    (lambda m: m["resolved"]["measure"].update(phases={"a": [1, 2]}), "measure.phases.a[0] must"),
    (lambda m: m["resolved"].update(traffic=[5]), "resolved.traffic[0] must be a table, not 5"),
    (lambda m: m.pop("verdict"), "verdict is missing"),
]


@pytest.mark.parametrize(("change", "said"), SHAPES)
def test_a_manifest_of_another_shape_is_named(
    cli: Command, made: Path, change: Change, said: str
) -> None:
    """By every verb that reads it; `run` runs it again."""
    edit(made / RUN / "manifest.json", change)
    verbs = [
        ("results",),
        ("report", "results", "--no-pictures"),
        ("export", "results"),
        ("compare", "results", "results"),
        ("verify", "results"),
        ("merge", "results", "--into", "all"),
    ]
    for verb in verbs:
        done = cli(*verb)
        text = " ".join((done.stdout + done.stderr).split())
        assert "Traceback" not in text
        if verb[0] != "report":  # it is on the page
            assert f"{RUN}/manifest.json: " in text, verb
            assert said in text, verb
    page = (made / "results/report/report.html").read_text()
    assert f"{RUN}/manifest.json: " in page
    assert cli("run", "tab1.toml").returncode == 0
    read_json(made / RUN / "manifest.json")
    assert cli("verify", "results").returncode == 0


@pytest.mark.parametrize(
    "change",
    [
        lambda a: a.update(asked=5),
        lambda a: a.update(asked={"DCTCP": "x"}),
        lambda a: a.update(phases=5),
        lambda a: a.update(axes=5),
        lambda a: a.update(groups=[5]),
        lambda a: a.update(title=5),
        lambda a: a.update(report={"baseline": 5}),
        lambda a: a.update(expected=[{"quantity": "magic"}]),
        lambda a: a.update(sweeps=5),
        lambda a: a["settings"].update(set=5),
    ],
)
def test_a_scenario_of_another_shape_is_not_believed(
    cli: Command, made: Path, change: Change
) -> None:
    edit(made / "results/tab1/quick/scenario.json", change)
    assert cli("report", "results", "--no-pictures").returncode == 0
    assert cli("compare", "results", "results").returncode == 0
    assert cli("results").returncode == 0
    done = cli("verify", "results")
    assert done.returncode == 1
    assert "scenario.json: " in done.stdout
    assert cli("run", "tab1.toml").returncode == 0
    assert cli("verify", "results").returncode == 0
