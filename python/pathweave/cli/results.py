"""`pathweave results`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pathweave.cli.options import Json  # noqa: TC001
from pathweave.results import layout

if TYPE_CHECKING:
    from rich.console import Console

    from pathweave.results.inventory import Entry


def results(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(help="Folders with results; results if not given.", metavar="[DIR]..."),
    ] = None,
    json: Json = False,
) -> None:
    """List the results that are there: settings, runs, size, age and state.

    Runs of one line share their settings. Where a scenario was run with several settings, what
    differs is said below.

    Example: pathweave results results/tab1
    """
    from pathweave.cli.console import output, print_json
    from pathweave.results import inventory
    from pathweave.results.read import search

    found = search(folders or [layout.DEFAULT_ROOT])
    entries = inventory.inventory(found)
    others = inventory.elsewhere(found)
    if json:
        print_json(inventory.document(entries, others))
        return
    _print(output(), entries, others)


def _print(console: Console, entries: list[Entry], others: list[str]) -> None:
    from pathweave.cli.terminal_table import plain_table
    from pathweave.cli.wide_table import print_table
    from pathweave.results.units import size_text

    table = plain_table("runs", "size", "age", "version", "state")
    for entry in entries:
        table.add_row(
            f"{entry.name}/{entry.settings}",
            str(entry.runs),
            size_text(entry.bytes),
            age(time.time() - entry.written_s),
            entry.version,
            entry.state,
        )
    print_table(console, table)
    said: set[tuple[str, str]] = set()
    for entry in entries:
        if entry.differences and (entry.name, entry.backend) not in said:
            said.add((entry.name, entry.backend))
            console.print()
            console.print(f"{entry.name} was run with different settings:", markup=False)
            for line in entry.differences:
                console.print(f"  {line}", markup=False, soft_wrap=True)
    reasons = [reason for entry in entries for reason in entry.unusable] + others
    if reasons:
        console.print()
        console.print("Left out:")
        for reason in reasons:
            console.print(f"  {reason}", markup=False, soft_wrap=True)


def age(seconds: float) -> str:
    """A length of time in one unit: "40 s", "3 h", "12 d"."""
    for size, unit in ((86_400.0, "d"), (3_600.0, "h"), (60.0, "min")):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(seconds, 0.0):.0f} s"
