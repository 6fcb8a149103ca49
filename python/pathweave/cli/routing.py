"""The judgement of routings, on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from pathweave.cli.terminal_table import plain_table
from pathweave.results.read import find_runs
from pathweave.results.routing import judgements
from pathweave.results.units import number, rate_unit, scale

if TYPE_CHECKING:
    from rich.console import Console

    from pathweave.running.pool import Outcome
    from pathweave.running.session import Session


def print_routings(console: Console, session: Session, outcome: Outcome) -> None:
    """A table of each run: its paths, better choices of as many, and all paths at once."""
    done = [task.folder for task in (*session.plan.present, *outcome.finished)]
    for scenario in find_runs(done) if done else ():
        for found in judgements(scenario):
            unit = rate_unit(found.about["relaxed"]["total_bps"])
            table = plain_table("total", "smallest flow", "utility")
            for name, text in found.choices.items():
                worth = found.worth(name)
                if worth is None:
                    table.add_row(text, "too many", "", "")
                    continue
                rates = [worth["total_bps"] / scale(unit), worth["smallest_bps"] / scale(unit)]
                table.add_row(
                    text, *(number(rate) for rate in rates), number(worth["objective"], 7)
                )
            console.print()
            console.print(Text(f"{found.title}; rates in {unit}, headers included"))
            console.print(table)
