"""Rankings on the terminal: each variant against the baseline, and how sure that is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.text import Text

from pathweave.results.advice import advise
from pathweave.results.merit import rankings
from pathweave.results.sentences import sentences
from pathweave.results.tables import ranking_table

if TYPE_CHECKING:
    from rich.console import Console

    from pathweave.results.merit import Ranking
    from pathweave.results.runs import StoredScenario

_STYLES = {"better": "green", "worse": "red", "baseline": "dim"}


def print_rankings(console: Console, scenario: StoredScenario, baseline: str | None) -> None:
    """Print what each variant is worth against the baseline, by workload."""
    found = rankings(scenario, baseline)
    if not found:
        return
    if len({run.seed for run in scenario.counted().runs}) < 2:
        console.print()
        console.print("One seed gives no interval. Use --seeds 3 or more to compare the variants.")
        return
    for ranking in found:
        _print(console, scenario, ranking)


def _print(console: Console, scenario: StoredScenario, ranking: Ranking) -> None:
    from pathweave.cli.terminal_table import show_table

    if ranking.standings:
        show_table(console, ranking_table(scenario, ranking), _STYLES)
    for line in (*sentences(ranking), *ranking.notes):
        console.print(Text(line))
    decided = advise(scenario, ranking)
    if decided:
        console.print()
        console.print(Text("Where the time goes:"))
        for line in decided:
            console.print(Padding(Text(f"- {line}"), (0, 0, 0, 2)))
