"""The tables of stored runs, in today's form.

Folders that an earlier version wrote have a yes-or-no column `finished` in the table `flows`, which
was also true of flows that had been stopped, and completion times of those.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import polars as pl


def scan_table(path: Path, name: str) -> pl.LazyFrame:
    """Table `name` in the Parquet file `path`, not yet read."""
    import polars as pl

    frame = pl.scan_parquet(path)
    if name != "flows":
        return frame
    columns = frame.collect_schema().names()
    return _with_end(frame, columns) if "end" not in columns and "finished" in columns else frame


def read_table(path: Path, name: str, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Table `name` in the Parquet file `path`: these columns, or all."""
    frame = scan_table(path, name)
    return (frame if columns is None else frame.select(columns)).collect()


def _with_end(frame: pl.LazyFrame, columns: Sequence[str]) -> pl.LazyFrame:
    """An earlier version's `flows` with `end` in place of `finished`."""
    import polars as pl

    size = pl.col("size_bytes").fill_null(0)
    # A flow of size 0 delivers a byte.
    whole = (size > 0) & (pl.col("delivered_bytes") >= size)
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
