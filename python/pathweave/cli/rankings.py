"""Rankings on the terminal: each variant against the baseline, and how sure that is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from pathweave.results.merit import LEVEL, rankings
from pathweave.results.present import (
    difference_text,
    interval_text,
    seeds_text,
    share_text,
    unit_of,
)
from pathweave.results.sentences import sentences
from pathweave.statistics.holm import CORRECTION

if TYPE_CHECKING:
    from rich.console import Console

    from pathweave.results.merit import Ranking
    from pathweave.results.read import StoredScenario


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
        _print(console, ranking)


def _print(console: Console, ranking: Ranking) -> None:
    from pathweave.cli.tables import plain_table
    from pathweave.cli.wide_table import print_table

    unit = unit_of(ranking)
    pairs = {each.difference.pairs for each in ranking.standings if each.difference is not None}
    table = plain_table("value", f"against\n{ranking.baseline}", "in %", "verdict")
    several = len(ranking.panels) > 1
    for panel in ranking.panels:
        if several:
            table.add_row(Text(panel, style="italic"))
        for each in ranking.standings:
            if each.panel == panel:
                table.add_row(
                    each.name,
                    interval_text(each, unit),
                    difference_text(each, unit),
                    share_text(each),
                    _verdict(each.name, ranking, each.verdict.outcome if each.verdict else ""),
                )
    in_unit = f", in {unit}" if unit else ""
    over = f"{seeds_text(min(pairs))}, " if pairs else ""
    title = f"{ranking.subject.text}{in_unit}: paired by seed ({over}95 % intervals; {CORRECTION},"
    console.print()
    console.print(Text(f"{title[0].upper()}{title[1:]} {LEVEL:.0%})".replace("5%", "5 %")))
    print_table(console, table)
    for line in (*sentences(ranking), *ranking.notes):
        console.print(Text(line))


def _verdict(name: str, ranking: Ranking, outcome: str) -> Text:
    if name == ranking.baseline:
        return Text("baseline", style="dim")
    style = {"better": "green", "worse": "red"}.get(outcome, "")
    return Text(outcome or "not ranked", style=style)
