"""Thinning of long series so that a picture of them stays the same."""

from __future__ import annotations

import polars as pl


def thin(frame: pl.DataFrame, keys: list[str], bins: int) -> pl.DataFrame:
    """At most four points a bin of time: the first, the smallest, the largest and the last.

    `frame` has `time_s`, `value` and `keys`; each series is cut into `bins` equal stretches of the
    time that all of them span together. Peaks and troughs survive. The result is sorted by keys and
    time.
    """
    start, end = frame["time_s"].min(), frame["time_s"].max()
    if not isinstance(start, int | float) or not isinstance(end, int | float) or end <= start:
        return frame.sort(*keys, "time_s")
    width = (end - start) / bins
    place = ((pl.col("time_s") - start) / width).floor().clip(0, bins - 1).cast(pl.Int32)
    ordered = frame.sort(*keys, "time_s", maintain_order=True).with_columns(place.alias("_bin"))
    kept = ordered.group_by(*keys, "_bin", maintain_order=True).agg(
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
