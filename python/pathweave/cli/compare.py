"""`pathweave compare`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pathweave.cli.exits import FAILED
from pathweave.cli.options import Json  # noqa: TC001
from pathweave.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from pathweave.changes.changes import Changes
    from pathweave.changes.judge import Change

_PERCENTAGE = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*%\s*")


def compare(
    a: Annotated[Path, typer.Argument(help="Folder with results, the baseline.", metavar="A")],
    b: Annotated[Path, typer.Argument(help="Folder with other results of it.", metavar="B")],
    at: Annotated[
        str | None,
        typer.Option(
            help="Only this phase, or this time: a name, or FROM..TO.", metavar="PHASE|TIME"
        ),
    ] = None,
    relevant: Annotated[
        str,
        typer.Option(help="Smallest change that counts, in % of A's mean.", metavar="PERCENT"),
    ] = "1%",
    quantity: Annotated[
        list[str] | None,
        typer.Option(
            help='Only this, such as "p99 slowdown of web under 100 KB"; may be repeated.',
            metavar="QUANTITY",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Compare two sets of results of one scenario: what has moved from A to B.

    Says what differs in the settings, then for each variant and quantity how much changed, and
    whether chance explains it. The exit code is 0 when nothing has moved, 1 when something has.

    Example: pathweave compare results/fig1/quick results/fig1/quick-limit=50 --at "two flows"
    """
    from pathweave.changes.changes import compare_folders
    from pathweave.cli.console import output, print_json

    changes = compare_folders(
        a, b, at=at, relevant=parse_percentage(relevant), quantities=quantity or ()
    )
    if json:
        print_json(changes.to_json())
    else:
        print_changes(output(), changes)
    if changes.moved:
        raise typer.Exit(FAILED)


def parse_percentage(text: str) -> float:
    """Read "1%" as 0.01; raises `InputError` for what is not a percentage."""
    found = _PERCENTAGE.fullmatch(text)
    if found is None:
        raise InputError(f'--relevant "{text}" is not a percentage; write 1% or 0.5%')
    return float(found[1]) / 100


def print_changes(console: Console, changes: Changes) -> None:
    """Print what differs and what changed, a table for each variant."""
    from rich.text import Text

    from pathweave.changes.present import introduction, population, summary

    for line in introduction(changes):
        console.print(line, markup=False, soft_wrap=True)
    console.print(f"Values are over {population(changes)}.", markup=False, soft_wrap=True)
    for variant in changes.variants:
        if not variant.identical:
            _print_variant(console, changes, variant.label)
    if changes.notes:
        console.print()
    for note in changes.notes:
        console.print(note, markup=False, soft_wrap=True)
    console.print()
    console.print(Text(summary(changes), "bold"), soft_wrap=True)


def _print_variant(console: Console, changes: Changes, label: str) -> None:
    """Print a variant's table, its rows under a line for each quantity."""
    from rich.padding import Padding
    from rich.text import Text

    from pathweave.changes.present import difference_text, percent_text, unit_of, value_text
    from pathweave.cli.terminal_table import plain_table
    from pathweave.results.present import unit_text

    here = [each for each in changes.changes if each.variant == label]
    shown: dict[str, list[Change]] = {}
    same: dict[str, int] = {}
    for each in here:
        title = each.metric.title
        if each.verdict == "identical":
            same[title] = same.get(title, 0) + 1
        else:
            shown.setdefault(title, []).append(each)
    table = plain_table("A", "B", "B less A\nin %", "verdict")
    for title, rows in shown.items():
        unit = unit_of(*rows)
        table.add_row(Text(f"{title} ({unit_text(unit)})" if unit else title, "italic"))
        for each in rows:
            style = {"moved": "yellow", "irrelevant": "dim"}.get(each.verdict, "")
            # A baseline of 0 has no percentage.
            change = percent_text(each) or difference_text(each, unit) + (
                f" {unit_text(unit)}" if unit else ""
            )
            table.add_row(
                Padding(Text(each.metric.whose or "all"), (0, 0, 0, 2)),
                value_text(each, each.before, unit),
                value_text(each, each.after, unit),
                change,
                Text(each.verdict, style),
            )
    console.print()
    console.print(Text(label or changes.a.scenario.name, "bold"))
    if shown:
        console.print(table)
    if same:
        names = (f"{title[0].lower()}{title[1:]}" for title in same)
        words = (
            f"{name} ({n})" if n > 1 else name for name, n in zip(names, same.values(), strict=True)
        )
        console.print(f"Identical: {', '.join(words)}", markup=False)
