"""Simulation, testbed and optimum of one scenario side by side, from made-up results."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from hashlib import sha256
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import fake_core
import fake_linux
from pathweave.report.backends import goodput_tables, played_tables, queue_tables
from pathweave.report.build import build_report
from pathweave.results import backends, layout
from pathweave.results.backends import comparisons
from pathweave.results.jsonfile import write_json
from pathweave.results.read import find_runs
from pathweave.results.schema import TABLES, kind_of, typed
from pathweave.results.settings import Settings
from pathweave.results.stored import digest
from pathweave.results.testbed import PlayedOutput
from pathweave.results.write import Identity, write_run

NAMES = ("Alone", "Both")
PATHS = (1, 2)


def blank(name: str, columns: dict[str, list[Any]]) -> dict[str, Any]:
    """A table of the core with these columns, the others empty of meaning."""
    rows = len(next(iter(columns.values())))
    values = {"whole": 0, "number": None, "flag": True, "text": ""}
    empty = {column: [values[kind_of(name, column)]] * rows for column in TABLES[name]}
    return dict(typed(name, empty | columns))


def tables(rates: dict[str, float], queue: float | None) -> dict[str, Any]:
    """Two flows, the second of two subflows that have 0.25 and 0.75 of its rate; two phases."""
    mbps = [1e6 * rates[name] for name in NAMES]
    split = [mbps[0], 0.25 * mbps[1], 0.75 * mbps[1]]
    phases = ["early", "late"]
    return {
        "flows": blank(
            "flows",
            {
                "id": [0, 1], "name": list(NAMES), "group": ["large"] * 2, "subflows": list(PATHS),
                "goodput_bps": mbps, "end": ["unfinished"] * 2,
            },
        ),
        "subflows": blank(
            "subflows", {"flow": [0, 1, 1], "subflow": [0, 0, 1], "goodput_bps": split}
        ),
        "links": blank(
            "links",
            {"link": ["A->B", "B->C"], "layer": ["x", "x"], "queue_mean": [queue, queue and 0.1]},
        ),
        "phases": blank(
            "phases",
            {
                "phase": [name for name in phases for _ in NAMES], "flow": [0, 1] * 2,
                "goodput_bps": [2 * mbps[0], 2 * mbps[1], 0.0, 0.0],
            },
        ),
        "phase_links": blank(
            "phase_links",
            {"phase": phases, "link": ["A->B"] * 2, "queue_mean": [queue, queue and queue + 2]},
        ),
        "rates": blank(
            "rates",
            {"time_s": [0.1, 0.2] * 2, "flow": [0, 0, 1, 1], "subflow": [0] * 4,
             "rate_bps": [mbps[0], mbps[0], mbps[1], mbps[1]]},
        ),
    }  # fmt: skip


OPTIMUM = {
    "utility": "proportional", "solvers": {"Clarabel": 1}, "worst_residual": 1e-9,
    "tolerance": 1e-6,
}  # fmt: skip


def write(
    root: Path,
    backend: str,
    seed: int,
    rates: dict[str, float],
    queue: float | None = None,
    **about: Any,
) -> Path:
    """One run of the scenario "two" on a backend."""
    variant = fake_core.Variant({"scheme": "XMP"}, "XMP", "xmp", fake_core.NO_SETTINGS, {})
    stretch = about.pop("stretch", 10) if backend == "testbed" else None
    words = ("optimum",) if backend == "solve" else ()
    if stretch is not None:
        words = ("testbed", *([f"stretch{stretch}"] if stretch != 1 else []))
    settings = Settings("-".join(("h", *words)), "h", {}, "quick", (), "0", words)
    folder = root / "two" / settings.name
    identity = Identity(
        scenario="two", title="Two flows", size="quick", sets=(), variant=variant,  # pyright: ignore[reportArgumentType]
        seed=seed, version="0", results_version="0",
        hash=sha256(f"{words} {seed}".encode()).hexdigest(), settings=settings.hash,
        backend=backend,
    )  # fmt: skip
    value = fake_linux.output({}, valid=about.pop("valid", True), stretch=stretch or 1)
    value["testbed"]["lateness_s"]["p99"] = about.pop("late_s", 9e-4)
    played = replace(PlayedOutput.from_json(value), tables=tables(rates, queue))
    plain = fake_core.Output(tables(rates, queue), {}, "r", 1, 1.0, 1.0)
    write_run(
        folder / layout.run_name("xmp", seed),
        identity,
        played if backend == "testbed" else plain,  # pyright: ignore[reportArgumentType]
        optimum=OPTIMUM if backend == "solve" else None,
    )
    write_json(
        folder / layout.SCENARIO,
        {"name": "two", "title": "Two flows", "size": "quick", "axes": [["scheme", ["XMP"]]],
         "groups": ["large"], "expected": [], "settings": settings.to_json()},
    )  # fmt: skip
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Three simulated runs, three valid and one invalid played ones, one solved."""
    for seed, alone in ((1, 9.0), (2, 10.0), (3, 11.0)):
        write(tmp_path, "simulate", seed, {"Alone": alone, "Both": 20.0}, queue=5.0)
    for seed, alone in ((1, 8.0), (2, 9.0), (3, 10.0)):
        write(tmp_path, "testbed", seed, {"Alone": alone, "Both": 22.0}, 7.5, late_s=1e-4 * seed)
    write(tmp_path, "testbed", 4, {"Alone": 500.0, "Both": 0.0}, 90.0, valid=False, late_s=0.01)
    write(tmp_path, "solve", 1, {"Alone": 10.5, "Both": 19.5})
    return tmp_path


def test_goodput_of_each_backend(root: Path) -> None:
    (comparison,) = comparisons(find_runs([root]))
    (table,) = goodput_tables(comparison)
    assert table.title == "Goodput: XMP"
    assert table.heads == [
        "simulation (Mbps), 3 runs",
        "testbed, stretch 10 (Mbps), 3 valid runs",
        "optimum (Mbps), 1 run",
    ]
    whole, early, late = table.sections
    assert [section.name for section in table.sections] == ["the whole window", "early", "late"]
    rows = {row.name: [(cell.text, cell.note) for cell in row.cells] for row in whole.rows}
    # The interval of 9, 10, 11: t of two degrees of freedom over the root of 3.
    half = f"{4.303 / math.sqrt(3):.1f}"
    assert rows["Alone"] == [(f"10.00 ± {half}", ""), (f"9.000 ± {half}", "−10.0 %"), ("10.50", "")]
    assert rows["Both"] == [("20.00 ± 0", ""), ("22.00 ± 0", "+10.0 %"), ("19.50", "")]
    assert [row.name for row in whole.rows] == [
        "Alone", "Both", "Both, subflow 1", "Both, subflow 2",
    ]  # fmt: skip
    assert rows["Both, subflow 2"][1] == ("16.50 ± 0", "+10.0 %")
    assert [row.name for row in early.rows] == list(NAMES)
    assert early.rows[1].cells[1].text == "44.00 ± 0"
    # Nothing cannot be divided by.
    assert [(cell.text, cell.note) for cell in late.rows[0].cells] == [
        ("0 ± 0", ""), ("0 ± 0", ""), ("0", ""),
    ]  # fmt: skip


def test_many_flows_are_compared_by_group(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backends, "FEW", 1)
    (comparison,) = comparisons(find_runs([root]))
    (table,) = goodput_tables(comparison)
    assert table.title == "Mean goodput of flows: XMP"
    (row,) = table.sections[0].rows
    assert row.name == "large"
    # Of flows of 10 and 20 Mbps, and of 9 and 22.
    assert [cell.text.split()[0] for cell in row.cells] == ["15.00", "15.50", "15.00"]
    assert row.cells[1].note == "+3.3 %"


def test_queues_of_each_backend(root: Path) -> None:
    (comparison,) = comparisons(find_runs([root]))
    (table,) = queue_tables(comparison)
    assert table.heads == [
        "simulation (packets), 3 runs",
        "testbed, stretch 10 (packets), 3 valid runs",
    ]
    # The other link is idle.
    assert [[row.name for row in section.rows] for section in table.sections] == [["A->B"]] * 3
    late = table.sections[2].rows[0].cells
    assert [(cell.text, cell.note) for cell in late] == [("7.000 ± 0", ""), ("9.500 ± 0", "+2.5")]


def test_how_the_runs_went(root: Path) -> None:
    played = next(s for s in find_runs([root]) if s.backend == "testbed, stretch 10")
    (table,) = played_tables(played)
    (row,) = table.sections[0].rows
    texts = [cell.text for cell in row.cells]
    # The latest of the valid runs, of 18 ms; an invalid one says nothing.
    assert texts[:3] == ["3", "1", "300 us, 1.7 % of the base RTT of 18.0 ms"]


def page_of(*folders: Path) -> str:
    page = build_report(folders, folders[0].parent / "page", pictures=False).read_text()
    text = page[: page.index("<script>")]
    return " ".join(unescape(re.sub("<[^>]+>", " ", text)).split())


def test_page_has_all_of_it(root: Path) -> None:
    folders = [
        root / name for name in ("two/quick", "two/quick-testbed-stretch10", "two/quick-optimum")
    ]
    text = page_of(*folders)
    for said in (
        "Two flows: side by side",
        "Testbed, stretch 10",
        "Kernel 6.18.5",
        "Runs 3 valid, 1 invalid",
        "300 us, 1.7 % of the base RTT of 18.0 ms",
        "−10.0 %",
        "Rates over time",
        "Two flows (testbed, stretch 10)",
        "Two flows (optimum)",
        "XMP, seed 4: invalid and left out, departures were too late",
        "no two runs are alike",
    ):
        assert said in text
    assert "500.0" not in text[: text.index("Run it again")]


def test_one_backend_has_nothing_beside_it(root: Path) -> None:
    assert "side by side" not in page_of(root / "two/quick")
    assert "side by side" not in page_of(root / "two/quick-testbed-stretch10")


def test_without_simulation_there_is_no_difference(root: Path) -> None:
    (comparison,) = comparisons(
        find_runs([root / "two/quick-testbed-stretch10", root / "two/quick-optimum"])
    )
    (table,) = goodput_tables(comparison)
    assert [head.split(" (")[0] for head in table.heads] == ["testbed, stretch 10", "optimum"]
    assert not any(
        cell.note for section in table.sections for row in section.rows for cell in row.cells
    )


def test_stretches_are_columns_of_their_own(root: Path) -> None:
    write(root, "testbed", 1, {"Alone": 5.0, "Both": 20.0}, stretch=1)
    (comparison,) = comparisons(find_runs([root]))
    assert [column.name for column in comparison.columns] == [
        "simulation", "testbed", "testbed, stretch 10", "optimum",
    ]  # fmt: skip
    (table,) = goodput_tables(comparison)
    assert table.sections[0].rows[0].cells[1].note == "−50.0 %"


def test_variant_without_a_valid_run_is_named_not_shown(tmp_path: Path) -> None:
    simulated = write(tmp_path, "simulate", 1, {"Alone": 9.0, "Both": 20.0})
    played = write(tmp_path, "testbed", 1, {"Alone": 9.0, "Both": 20.0}, valid=False)
    assert comparisons(find_runs([simulated, played])) == []
    text = page_of(simulated, played)
    assert "XMP: no valid run" in text
    assert "Runs 0 valid, 1 invalid" in text


def test_optimum_beside_the_simulation_stands_beside_the_testbed(root: Path) -> None:
    for seed in (1, 2, 3):
        folder = root / f"two/quick/xmp-s{seed}"
        same = {"phase": [""], "flow": np.array([1], dtype=np.uint64), "optimum_bps": [18e6]}
        pl.DataFrame(same).write_parquet(folder / "optimum.parquet")
        pl.DataFrame(
            {
                "phase": ["", ""], "flow": np.array([1, 1], dtype=np.uint64),
                "subflow": np.array([0, 1], dtype=np.uint64), "optimum_bps": [6e6, 12e6],
            }
        ).write_parquet(folder / "optimum_subflows.parquet")  # fmt: skip
        tables = {
            name: {"rows": rows, "sha256": digest(folder / f"{name}.parquet")}
            for name, rows in (("optimum", 1), ("optimum_subflows", 2))
        }
        about = OPTIMUM | {"results_hash": "r", "tables": tables}
        write_json(folder / "optimum.json", about)
    scenarios = find_runs([root / "two/quick", root / "two/quick-testbed-stretch10"])
    (comparison,) = comparisons(scenarios)
    (table,) = goodput_tables(comparison)
    assert table.heads[2] == "optimum (Mbps), 3 runs"
    rows = {row.name: row.cells[2].text for row in table.sections[0].rows}
    assert rows == {
        "Alone": "–", "Both": "18.00 ± 0", "Both, subflow 1": "6.000 ± 0",
        "Both, subflow 2": "12.00 ± 0",
    }  # fmt: skip
    # Solved alone, there is no need for it.
    (comparison,) = comparisons(find_runs([root]))
    assert [column.alongside for column in comparison.columns] == [False] * 3
