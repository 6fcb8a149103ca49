"""The judgement of routings, on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from pathweave.cli.tables import plain_table
from pathweave.results.read import find_runs
from pathweave.results.units import number, rate_unit, scale

if TYPE_CHECKING:
    from rich.console import Console

    from pathweave.running.session import Session

_CHOICES = {
    "given": "the paths of the routing",
    "rounded": "the largest of the relaxation",
    "best": "the best of all choices",
    "relaxed": "no limit on paths",
}


def print_routings(console: Console, session: Session) -> None:
    """A table of each run: its paths, better choices of as many, and all paths at once."""
    for scenario in find_runs([session.plan.folder]):
        for run in scenario.runs:
            found = run.manifest.get("optimum", {}).get("routing")
            if found is None:
                continue
            unit = rate_unit(found["relaxed"]["total_bps"])
            table = plain_table("total", "smallest flow", "utility")
            for name, text in _CHOICES.items():
                worth = found[name]
                if worth is None:
                    table.add_row(text, "too many", "", "")
                    continue
                rates = [worth["total_bps"] / scale(unit), worth["smallest_bps"] / scale(unit)]
                table.add_row(
                    text, *(number(rate) for rate in rates), number(worth["objective"], 7)
                )
            name = f"{run.label or scenario.name}, seed {run.seed}"
            console.print()
            console.print(
                Text(
                    f"Routing of {name}: {found['flows']:,} flows, {found['candidates']:,} paths;"
                    f" rates in {unit}, headers included"
                )
            )
            console.print(table)
