"""Controllers against theory: the recorded table, and a part of the suite run again."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import pytest

from scripts_of_tree import script

suite = script("validation/theory/suite.py")

AGAIN = (
    "reno-loss-0.002-2ms",
    "dctcp-2",
    "bos-k20-1",
    "bos-k56-1",
    "xmp-marks-4",
    "xmp-proposition-1",
    "minimum-window-14",
    "minimum-window-16",
    "amp-on-beside-20",
    "increases-2-6",
    "dcm-inequality",
    "fcc-16",
    "fcc-high-4x3",
    "fcc-minimum-16x1",
    "fmptcp-proposition-1",
    "solve-dctcp-2-2",
)
"""Cases that take a second or two each, for every controller that the suite has one for."""
CASES = {case.name: case for case in suite.cases.cases()}
RECORDED: dict[str, Any] = json.loads(suite.TABLE.read_text())


def rows_of(name: str) -> list[Any]:
    return [suite.from_json(row) for row in RECORDED[name]["rows"]]


@pytest.mark.parametrize("name", AGAIN)
def test_cases_come_out_as_recorded(name: str) -> None:
    """The same verdicts, and numbers within a twentieth."""
    for now, before in zip(suite.judge(CASES[name]), rows_of(name), strict=True):
        assert (now.quantity, now.simulation, now.solution) == (
            before.quantity,
            before.simulation,
            before.solution,
        )
        if before.simulated is not None:
            assert now.simulated == pytest.approx(before.simulated, rel=0.05, abs=1e-3)
        if isinstance(before.solved, float):
            assert now.solved == pytest.approx(before.solved, rel=1e-6, abs=1e-9)


def test_the_table_has_every_row_with_the_verdict_of_its_numbers() -> None:
    assert list(RECORDED) == list(CASES)
    for name, case in CASES.items():
        assert [row.quantity for row in case.rows] == [row.quantity for row in rows_of(name)]
        for written, row in zip(RECORDED[name]["rows"], rows_of(name), strict=True):
            assert (written["simulation"], written["solution"]) == (row.simulation, row.solution)


def test_the_table_holds_what_was_predicted() -> None:
    predictions = json.loads(suite.PREDICTIONS.read_text())
    for name, case in CASES.items():
        suite.check_predicted(case)
        for row in RECORDED[name]["rows"]:
            entry = predictions[name][row["quantity"]]
            assert (entry["kind"], entry["size"]) == (row["kind"], row["size"])
            if entry["predicted"] is None:
                assert row["predicted"] is None
            else:
                assert row["predicted"] == pytest.approx(entry["predicted"], rel=1e-5)


def test_a_prediction_that_changes_is_refused() -> None:
    case = CASES["bos-k20-1"]
    row = dataclasses.replace(case.rows[0], predicted=0.9)
    with pytest.raises(SystemExit, match="does not have this prediction"):
        suite.judge(dataclasses.replace(case, rows=(row,)))


@pytest.mark.parametrize("name", ["bos-k20-1", "minimum-window-16", "fcc-16"])
def test_another_value_has_another_verdict(name: str) -> None:
    row = rows_of(name)[0]
    assert row.simulation == "agrees"
    row.simulated = row.predicted * 0.8
    assert row.simulation == "differs"
    row.simulated = math.nan
    assert row.simulation == "differs"


def test_rows_that_differ_are_explained_or_said_to_be_unexplained() -> None:
    readme = suite.README.read_text()
    assert suite.rewritten(readme, suite.section(*with_notes())) == readme
    for row in filter(suite.differing, suite.recorded()[0]):
        assert f"{row.case}, {row.quantity} (" in readme


def with_notes() -> tuple[Any, Any, float]:
    rows, spent = suite.recorded()
    return rows, suite.read_notes(), spent


def test_notes_are_about_rows_that_differ() -> None:
    differing = [f"{v.case}: {v.quantity}" for v in suite.recorded()[0] if suite.differing(v)]
    for key in suite.read_notes():
        assert any(name.startswith(key) for name in differing), key
