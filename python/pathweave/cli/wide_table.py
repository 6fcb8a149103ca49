"""A table that is wider than its terminal, as several below each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.measure import Measurement
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.table import Column


def print_table(console: Console, table: Table) -> None:
    """Print a table as wide as the console allows, or its parts with an empty line between."""
    for place, part in enumerate(fitting(console, table)):
        if place:
            console.print()
        console.print(part)


def fitting(console: Console, table: Table) -> list[Table]:
    """The table itself where the console is wide enough, else parts of its columns.

    Each part begins with the first column, which names the rows, and has at least one more. There
    are no more parts than it takes, and they are about equally wide.
    """
    parts = _parts(console, table, console.width)
    if len(parts) == 1:
        return [table]
    narrow, wide = 1, console.width
    while narrow < wide:
        middle = (narrow + wide) // 2
        if len(_parts(console, table, middle)) > len(parts):
            narrow = middle + 1
        else:
            wide = middle
    return _parts(console, table, wide)


def _parts(console: Console, table: Table, width: int) -> list[Table]:
    """Parts of at most this width, as far as one column beside the names has room in it."""
    names, *others = table.columns
    parts: list[list[Column]] = [[]]
    for column in others:
        tried = _of(table, [names, *parts[-1], column])
        if parts[-1] and _width(console, tried) > width:
            parts.append([])
        parts[-1].append(column)
    return [_of(table, [names, *part]) for part in parts]


def _width(console: Console, table: Table) -> int:
    """Columns of the console that the table takes when nothing in it is folded or cut."""
    return Measurement.get(console, console.options.update(max_width=10_000), table).maximum


def _of(table: Table, columns: Sequence[Column]) -> Table:
    """A table of these columns with the look of `table`."""
    part = Table(
        box=table.box, pad_edge=table.pad_edge, padding=table.padding,
        header_style=table.header_style, show_edge=table.show_edge,
    )  # fmt: skip
    for column in columns:
        part.add_column(
            column.header, justify=column.justify, vertical=column.vertical,
            overflow=column.overflow, no_wrap=column.no_wrap, min_width=column.min_width,
        )  # fmt: skip
    for cells in zip(*(column.cells for column in columns), strict=True):
        part.add_row(*cells)
    return part
