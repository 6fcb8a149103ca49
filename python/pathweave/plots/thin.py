"""Thinning of long series: by extremes, so that a picture stays the same, or by means."""

from __future__ import annotations

import polars as pl


def thin(frame: pl.DataFrame, keys: list[str], bins: int) -> pl.DataFrame:
    """At most four points a bin of time: the first, the smallest, the largest and the last.

    `frame` has `time_s`, `value` and `keys`; each series is cut into `bins` equal stretches of the
    time that all of them span together. Peaks and troughs survive. The result is sorted by keys and
    time.
    """
    ordered = frame.sort(*keys, "time_s", maintain_order=True)
    if _span(frame) <= 0:
        return ordered
    kept = ordered.with_columns(_bin(frame, bins).alias("_bin"))
    kept = kept.group_by(*keys, "_bin", maintain_order=True).agg(
        pl.int_range(pl.len()).alias("_row"),
        pl.col("time_s"),
        pl.col("value"),
        pl.concat_list(
            pl.lit(0, pl.Int64),
            pl.col("value").arg_min().cast(pl.Int64),
            pl.col("value").arg_max().cast(pl.Int64),
            (pl.len() - 1).cast(pl.Int64),
        )
        .first()
        .alias("_keep"),
    )
    return (
        kept.explode("_row", "time_s", "value", empty_as_null=True)
        .filter(pl.col("_row").cast(pl.Int64).is_in(pl.col("_keep")))
        .drop("_row", "_keep", "_bin")
        .sort(*keys, "time_s", maintain_order=True)
    )


def average(frame: pl.DataFrame, keys: list[str], bins: int) -> pl.DataFrame:
    """The mean of `value` in each of `bins` stretches of time, at the mean time of its samples.

    Where there are columns `low` and `high`, their least and greatest value.
    """
    if _span(frame) <= 0:
        return frame.sort(*keys, "time_s")
    return (
        frame.with_columns(_bin(frame, bins).alias("_bin"))
        .group_by(*keys, "_bin", maintain_order=True)
        .agg(
            pl.col("time_s").mean(),
            pl.col("value").mean(),
            pl.col("^low$").min(),
            pl.col("^high$").max(),
        )
        .drop("_bin")
        .sort(*keys, "time_s", maintain_order=True)
    )


def _span(frame: pl.DataFrame) -> float:
    return float(frame.select(pl.max("time_s") - pl.min("time_s")).item() or 0.0)


def _bin(frame: pl.DataFrame, bins: int) -> pl.Expr:
    start = float(frame.select(pl.min("time_s")).item())
    width = _span(frame) / bins
    return ((pl.col("time_s") - start) / width).floor().clip(0, bins - 1).cast(pl.Int32)
