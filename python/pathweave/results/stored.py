"""The tables of stored runs, in today's form.

Folders that an earlier version wrote have a yes-or-no column `finished` in the table `flows`, which
was also true of flows that had been stopped, and completion times of those.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from pathweave.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import polars as pl


@contextmanager
def sound(path: Path) -> Iterator[None]:
    """Turn what Polars says of a damaged file into an `InputError` that names the file."""
    import polars as pl

    try:
        yield
    # A damaged file can make Polars panic, and a panic is no `Exception`.
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise InputError(
            f"{path} is damaged: {error}; `pathweave run --fresh` runs it again"
        ) from error


def scan_table(path: Path, name: str) -> pl.LazyFrame:
    """Table `name` in the Parquet file `path`, not yet read."""
    import polars as pl

    frame = pl.scan_parquet(path)
    if name != "flows":
        return frame
    with sound(path):
        columns = frame.collect_schema().names()
    return _with_end(frame, columns) if "end" not in columns and "finished" in columns else frame


def read_table(path: Path, name: str, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Table `name` in the Parquet file `path`: these columns, or all.

    Raises `InputError` with the file when it is damaged.
    """
    frame = scan_table(path, name)
    with sound(path):
        return (frame if columns is None else frame.select(columns)).collect()


def _with_end(frame: pl.LazyFrame, columns: Sequence[str]) -> pl.LazyFrame:
    """An earlier version's `flows` with `end` in place of `finished`."""
    import polars as pl

    # A flow of unlimited size has none here. A flow of size 0 delivers a byte.
    size = pl.col("size_bytes")
    whole = size.is_not_null() & (pl.col("delivered_bytes") >= size.clip(lower_bound=1))
    ended = (
        pl.when(pl.col("finished") & whole)
        .then(pl.lit("finished"))
        .when(pl.col("finished"))
        .then(pl.lit("stopped"))
        .otherwise(pl.lit("unfinished"))
        .alias("end")
    )
    order = ["end" if column == "finished" else column for column in columns]
    frame = frame.with_columns(ended)
    if "fct_s" in columns:
        time = pl.when(pl.col("end") == "finished").then(pl.col("fct_s"))
        frame = frame.with_columns(time.alias("fct_s"))
    return frame.select(order)
