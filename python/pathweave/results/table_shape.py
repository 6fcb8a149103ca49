"""What tables of runs must look like: folders from elsewhere may have others, digests and all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pathweave.errors import InputError
from pathweave.results.schema import TABLES, kind_of

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from pathweave.results.schema import Kind

_KEYS: Final = {
    "flows": ("id", "group"),
    "subflows": ("flow", "subflow"),
    "links": ("link",),
    "jobs": ("group", "job"),
    "collectives": ("group", "job"),
    "phases": ("phase", "flow"),
    "phase_subflows": ("phase", "flow", "subflow"),
    "phase_links": ("phase", "link"),
    "rates": ("time_s", "flow", "subflow"),
    "windows": ("time_s", "flow", "subflow"),
    "rtts": ("time_s", "flow", "subflow"),
    "suspensions": ("time_s", "flow", "subflow"),
    "queues": ("time_s", "link"),
    "waits": ("flow", "wait", "waited_s"),
    "map": ("time_s", "link"),
    "recoveries": ("at_s", "flow"),
}
"""Columns that say what a row is of: every version has written them."""

_HELD: dict[Kind, str] = {
    "whole": "whole numbers",
    "number": "numbers",
    "flag": "true and false",
    "text": "texts",
}


def check_types(path: Path, table: str, types: pl.Schema) -> None:
    """Raise `InputError` for a column of another type than the core writes."""
    for column in TABLES.get(table, ()):
        found = types.get(column)
        if found is not None and not _is(kind_of(table, column), found):
            held = _HELD[kind_of(table, column)]
            raise InputError(f"{path}: the column {column} has {held}, not {found}")


def check_keys(path: Path, table: str, types: pl.Schema) -> None:
    """Raise `InputError` where a column is missing that says what rows are of.

    Others may be: earlier versions did not write all of them.
    """
    missing = [column for column in _KEYS.get(table, ()) if column not in types]
    if missing:
        raise InputError(f"{path} has no column {missing[0]}")


def check_values(path: Path, table: str, frame: pl.DataFrame) -> None:
    """Raise `InputError` for nulls and negative numbers where the core writes none."""
    for column in TABLES.get(table, ()):
        kind = kind_of(table, column)
        if column not in frame.columns or kind == "number":
            continue
        values = frame[column]
        if values.null_count():
            raise InputError(f"{path}: the column {column} has empty fields")
        if kind == "whole" and values.dtype.is_signed_integer() and (values < 0).any():
            raise InputError(f"{path}: the column {column} has negative numbers")


def _is(kind: Kind, found: pl.DataType) -> bool:
    """Whether a column that holds this may have such a type; one without a value has none."""
    import polars as pl

    if found == pl.Null:
        return True
    match kind:
        case "whole":
            return found.is_integer()
        case "number":
            return found.is_numeric()
        case "flag":
            return found == pl.Boolean
        case "text":
            return found == pl.String
