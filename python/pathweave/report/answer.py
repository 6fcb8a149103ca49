"""The first screen of a report: the question, and the answer that the numbers give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pathweave.report.swept import swept_table
from pathweave.report.tables import Cell, Row, Section, Table
from pathweave.results.merit import LEVEL, rankings
from pathweave.results.present import (
    cost_columns,
    difference_text,
    interval_text,
    seeds_text,
    share_text,
    unit_of,
)
from pathweave.results.sentences import sentences
from pathweave.statistics.holm import CORRECTION

if TYPE_CHECKING:
    from pathweave.plots.palette import Palette
    from pathweave.results.merit import Ranking, Standing
    from pathweave.results.read import StoredScenario


@dataclass(frozen=True)
class Answer:
    """What a scenario asks, and what came out."""

    question: str
    sentences: list[str]
    tables: list[Table]
    notes: list[str]


def answer(scenario: StoredScenario, palette: Palette, baseline: str | None) -> Answer:
    """The answer of a scenario's results; without tables where there is nothing to compare."""
    found = rankings(scenario, baseline)
    said: list[str] = []
    notes: list[str] = []
    for ranking in found:
        said += sentences(ranking)
        notes += [note for note in ranking.notes if note not in notes]
    if found and len({run.seed for run in scenario.counted().runs}) < 2:
        notes.append("One seed gives no interval. Use --seeds 3 or more to compare the variants.")
    return Answer(
        question=scenario.report.get("question", _question(found)),
        sentences=said,
        tables=[_table(ranking, palette) for ranking in found if ranking.standings],
        notes=notes,
    )


def _question(found: list[Ranking]) -> str:
    if not found:
        return ""
    what = " and ".join(ranking.subject.text for ranking in found)
    if (sweep := found[0].sweep) is not None and sweep.axis == found[0].axis:
        subject = f"value of {sweep.axis}"
    else:
        subject = ""
    best = "largest" if found[0].subject.larger_is_better else "smallest"
    return " ".join(f"Which {subject} has the {best} {what}?".split())


def _table(ranking: Ranking, palette: Palette) -> Table:
    if ranking.sweep is not None:
        return swept_table(ranking, ranking.sweep)
    unit = unit_of(ranking)
    in_unit = f" ({unit})" if unit else ""
    pairs = {each.difference.pairs for each in ranking.standings if each.difference is not None}
    seeds = f"{seeds_text(min(pairs))}; " if pairs else ""
    title = ranking.subject.text
    paid = cost_columns(ranking)
    rows = [
        Row(each.name, _colour(each, palette), [*_cells(each, ranking, unit), *rest])
        for place, each in enumerate(ranking.standings)
        for rest in [[Cell(texts[place]) for _, texts in paid]]
    ]
    heads = [
        f"value{in_unit}",
        f"against {ranking.baseline}{in_unit}",
        "in %",
        "verdict",
        "unfinished",
        *(head for head, _ in paid),
    ]
    sections = [
        Section(
            panel,
            [row for row, each in zip(rows, ranking.standings, strict=True) if each.panel == panel],
        )
        for panel in ranking.panels
    ]
    how = f"paired by seed ({seeds}95 % intervals; {CORRECTION}, {100 * LEVEL:.0f} %)"
    return Table(f"{title[0].upper()}{title[1:]}, {how}", heads, sections)


def _colour(each: Standing, palette: Palette) -> str:
    return palette.colour(each.name) if each.name in palette.schemes else ""


def _cells(each: Standing, ranking: Ranking, unit: str) -> list[Cell]:
    outcome = each.verdict.outcome if each.verdict is not None else "not ranked"
    if each.name == ranking.baseline:
        outcome = "baseline"
    left = f"{100 * each.unfinished:.1f} %" if each.unfinished else "0"
    texts = (
        interval_text(each, unit),
        difference_text(each, unit),
        share_text(each),
        outcome,
        left,
    )
    return [Cell(text, outside=outcome == "worse" and text == outcome) for text in texts]
