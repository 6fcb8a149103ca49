"""Tables whose cells are texts, folded where they are too wide."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table


def text_table(*heads: str) -> Table:
    """An empty table with these columns."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    for head in heads:
        table.add_column(head, overflow="fold")
    return table
