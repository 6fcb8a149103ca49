"""Recorded flows in Parquet, as the comma-separated values that the core reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pathweave.errors import InputError
from pathweave.reading import TABLE_LIMIT, require_regular

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

_COLUMNS = ("start", "source", "destination", "bytes", "id", "after")


def as_text(path: Path) -> str:
    """The flows of a Parquet file as a list with headings.

    `start` is a number of seconds, a duration or a text; `after` may be a list of ids. Raises
    `InputError` with what cannot be read.
    """
    import polars as pl
    from polars.exceptions import PolarsError

    try:
        require_regular(path, TABLE_LIMIT)
        frame = pl.read_parquet(path, glob=False)
    except (OSError, PolarsError, pl.exceptions.PanicException) as error:
        raise InputError(str(error).splitlines()[0]) from error
    known = [name for name in frame.columns if name in _COLUMNS]
    for name in frame.columns:
        if name not in _COLUMNS:
            raise InputError(f'no column is called "{name}"; the columns are {", ".join(_COLUMNS)}')
    texts = [_text(frame, name) for name in known]
    return frame.select(texts).write_csv(quote_style="never")


def _text(frame: pl.DataFrame, name: str) -> pl.Expr:
    """A column as texts; picoseconds where nothing finer than nanoseconds is lost."""
    import polars as pl

    kind = frame.schema[name]
    column = pl.col(name)
    if isinstance(kind, pl.Duration):
        return (column.dt.total_nanoseconds().cast(pl.String) + " ns").alias(name)
    if isinstance(kind, pl.List):
        return column.cast(pl.List(pl.String)).list.join(" ").fill_null("")
    return column.cast(pl.String).fill_null("")
