"""Tables that are wider than the terminal."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from pathweave.cli.terminal_table import plain_table
from pathweave.cli.wide_table import fitting

NAMES = ["DCTCP", "XMP-4", "a variant with a rather long name"]
HEADS = [f"quantity {place}" for place in range(9)]


def shown(width: int) -> list[str]:
    table = plain_table(*HEADS)
    for row, name in enumerate(NAMES):
        table.add_row(name, *(f"{row}{place}.123456" for place in range(len(HEADS))))
    console = Console(file=io.StringIO(), width=width)
    for part in fitting(console, table):
        console.print(part)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


@pytest.mark.parametrize("width", [50, 60, 80, 110, 300])
def test_every_cell_stands_whole_within_the_width(width: int) -> None:
    lines = shown(width)
    text = " ".join(lines)
    assert max(map(len, lines)) <= width
    for place, head in enumerate(HEADS):
        assert text.count(head) == 1
        assert all(text.count(f"{row}{place}.123456") == 1 for row in range(len(NAMES)))


def test_the_first_column_begins_each_part() -> None:
    assert " ".join(shown(300)).count("DCTCP") == 1
    assert " ".join(shown(110)).count("DCTCP") == 2


def test_parts_are_about_equally_wide() -> None:
    heads = [line for line in shown(110) if "quantity" in line]
    assert [line.count("quantity") for line in heads] == [5, 4]
