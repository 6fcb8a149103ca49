"""The part of the report that says what changed from the first folder to the second."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pathweave.changes.changes import compare_sides
from pathweave.changes.present import (
    difference_text,
    method_lines,
    percent_text,
    population,
    setting_lines,
    summary,
    unit_of,
    value_text,
)
from pathweave.changes.side import side_of
from pathweave.errors import InputError
from pathweave.results.present import unit_text
from pathweave.results.tabular import Cell, Row, Section, Table, plain_columns

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pathweave.changes.changes import Changes
    from pathweave.changes.judge import Change
    from pathweave.results.runs import StoredScenario


@dataclass(frozen=True)
class Changed:
    """What is said of two settings of one scenario."""

    changes: Changes
    heading: str
    lines: list[str]
    tables: list[Table]
    notes: list[str]


def changed(folders: Sequence[Path], scenarios: Sequence[StoredScenario]) -> Changed | None:
    """The comparison of two folders, of which `scenarios` were read.

    None unless each holds runs of the same scenario with settings of its own, and the two have
    something to compare.
    """
    if len(folders) != 2:
        return None
    found = [
        [each for each in scenarios if each.folder.is_relative_to(folder.resolve())]
        for folder in folders
    ]
    if [len(each) for each in found] != [1, 1] or found[0] == found[1]:
        return None
    try:
        a, b = map(side_of, "AB", folders, found)
        return _presented(compare_sides(a, b))
    except InputError:  # other scenarios, no variant or quantity in common: a part for each is all
        return None


def _presented(changes: Changes) -> Changed:
    of_a, of_b = (side.scenario.folder.name for side in (changes.a, changes.b))
    lines = [
        f"A, the baseline: {of_a}. B: {of_b}.",
        *(line.strip() for line in setting_lines(changes)),
    ]
    return Changed(
        changes=changes,
        heading=changes.a.scenario.title or changes.a.scenario.name,
        lines=lines,
        tables=[_table(changes, variant.label) for variant in changes.variants],
        notes=[summary(changes), *method_lines(changes), *changes.notes],
    )


def _table(changes: Changes, label: str) -> Table:
    by_title: dict[str, list[Change]] = {}
    for each in changes.changes:
        if each.variant == label:
            by_title.setdefault(each.metric.title, []).append(each)
    sections: list[Section] = []
    for title, rows in by_title.items():
        unit = unit_of(*rows)
        heading = f"{title} ({unit_text(unit)})" if unit else title
        sections.append(
            Section(heading, [Row(each.metric.whose, "", _cells(each, unit)) for each in rows])
        )
    heads = ["A", "B", "B less A", "in %", "verdict"]
    return Table(
        label or changes.a.scenario.name,
        plain_columns(*heads),
        sections,
        population=population(changes),
    )


def _cells(change: Change, unit: str) -> list[Cell]:
    texts = (
        value_text(change, change.before, unit),
        value_text(change, change.after, unit),
        difference_text(change, unit),
        percent_text(change),
    )
    verdict = Cell(change.verdict, outside=change.verdict == "moved")
    return [*(Cell(text) for text in texts), verdict]
