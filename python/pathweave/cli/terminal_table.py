"""Tables as a terminal shows them."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from pathweave.cli.wide_table import print_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

    from pathweave.results import tabular


_NAME_WIDTH = 11
"""Columns that names have at least, so that numbers do not fold them into single letters."""
_HEAD = 12
"""Columns of a head, which is folded at words."""


def show(console: Console, title: str, table: Table) -> None:
    """Print a table under its title."""
    console.print()
    console.print(Text(title))
    print_table(console, table)


def show_table(
    console: Console, table: tabular.Table, styles: Mapping[str, str] | None = None
) -> None:
    """Print a table with its caption and footnotes; of its columns those that are brief.

    `styles` gives texts of cells a style: {"better": "green"}.
    """
    show(console, table.caption, rich_table(table, styles or {}))
    for note in table.footnotes:
        console.print(Text(note))


def rich_table(table: tabular.Table, styles: Mapping[str, str]) -> Table:
    """A table for the terminal, of the columns that are brief."""
    kept = [place for place, column in enumerate(table.columns) if column.brief]
    found = plain_table(*("\n".join(wrap(table.columns[place].text, _HEAD)) for place in kept))
    for section in table.sections:
        if section.name:
            found.add_row(Text(section.name, style="italic"))
        for row in section.rows:
            found.add_row(row.name, *(_text(row.cells[place], styles) for place in kept))
    return found


def _text(cell: tabular.Cell, styles: Mapping[str, str]) -> Text:
    text = Text(cell.text, style=styles.get(cell.text, ""))
    if cell.note:
        text.append(f" {cell.note}", style="yellow" if cell.outside else "")
    return text


def plain_table(*heads: str) -> Table:
    """A table whose first column names the variant and the others hold numbers."""
    table = Table(
        box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim",
        show_edge=False,
    )  # fmt: skip
    table.add_column("", overflow="fold", min_width=_NAME_WIDTH)
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True, vertical="bottom")
    return table
