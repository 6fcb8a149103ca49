"""Tables as data: what the terminal, the page and JSON show of one and the same value."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Align = Literal["left", "right"]


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    head: str
    unit: str = ""
    """Of its numbers, as people write it; empty for none, and where cells have their own."""
    align: Align = "right"
    brief: bool = True
    """Whether it is also on the terminal, which has room for few."""

    @property
    def text(self) -> str:
        """The head with its unit: "mean goodput (Mbps)"."""
        return f"{self.head} ({self.unit})" if self.unit else self.head


@dataclass(frozen=True)
class Cell:
    """Text of a cell, and a smaller note beside it."""

    text: str
    outside: bool = False
    """Whether it is marked: worse, changed, or outside a published value's tolerance."""
    note: str = ""


@dataclass(frozen=True)
class Row:
    """A row named by a variant; `colour` is that of its scheme, empty where it has none here."""

    name: str
    colour: str
    cells: list[Cell]


@dataclass(frozen=True)
class Section:
    """Rows under a name on the other axes; the name is empty when there are none."""

    name: str
    rows: list[Row]


@dataclass(frozen=True)
class Table:
    """A table with a heading, the units of its columns, and whom its values are over."""

    title: str
    columns: list[Column]
    sections: list[Section] = field(default_factory=list)
    population: str = ""
    """Whose values they are: "all flows of the window"; empty where columns or rows say so."""
    footnotes: tuple[str, ...] = ()

    @property
    def heads(self) -> list[str]:
        """The heads of the columns with their units."""
        return [column.text for column in self.columns]

    @property
    def caption(self) -> str:
        """The heading with the population."""
        return f"{self.title}. Over {self.population}" if self.population else self.title

    def to_json(self) -> dict[str, Any]:
        """As a JSON object, with the texts that people see."""
        return {
            "title": self.title,
            "population": self.population,
            "columns": [
                {"head": column.head, "unit": column.unit, "align": column.align}
                for column in self.columns
            ],
            "sections": [
                {
                    "name": section.name,
                    "rows": [
                        {
                            "name": row.name,
                            "cells": [
                                {"text": cell.text, "note": cell.note, "outside": cell.outside}
                                for cell in row.cells
                            ],
                        }
                        for row in section.rows
                    ],
                }
                for section in self.sections
            ],
            "footnotes": list(self.footnotes),
        }


def plain_columns(*heads: str) -> list[Column]:
    """Columns of numbers with these heads."""
    return [Column(head) for head in heads]
