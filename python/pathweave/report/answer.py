"""The first screen of a report: the question, and the answer that the numbers give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pathweave.plots.forest import forest_figure
from pathweave.plots.heat import heat_figure
from pathweave.report.swept import swept_table
from pathweave.results.merit import rankings
from pathweave.results.sentences import sentences
from pathweave.results.tables import ranking_table

if TYPE_CHECKING:
    from pathweave.plots.figure import Figure
    from pathweave.plots.palette import Palette
    from pathweave.results.merit import Ranking
    from pathweave.results.runs import StoredScenario
    from pathweave.results.tabular import Table


@dataclass(frozen=True)
class Answer:
    """What a scenario asks, and what came out."""

    question: str
    sentences: list[str]
    tables: list[Table]
    notes: list[str]
    figure: Figure | None
    """Differences to the baseline; None where there are none to draw."""


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
        tables=[_table(scenario, ranking, palette) for ranking in found if ranking.standings],
        notes=notes,
        figure=heat_figure(found) or forest_figure(scenario, found, palette),
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


def _table(scenario: StoredScenario, ranking: Ranking, palette: Palette) -> Table:
    if ranking.sweep is not None:
        return swept_table(ranking, ranking.sweep)

    def colour(name: str) -> str:
        return palette.colour(name) if name in palette.schemes else ""

    return ranking_table(scenario, ranking, colour)
