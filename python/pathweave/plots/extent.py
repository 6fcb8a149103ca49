"""What a value did between two samples, drawn as a band behind the line of its means."""

from __future__ import annotations

import altair as alt
import polars as pl

EXTENT_NOTE = "Line: mean; band: least to greatest value between two samples."


def with_extent(frame: pl.DataFrame, columns: tuple[str, str, str] | None) -> pl.DataFrame:
    """The frame with the mean as `value`, and minimum and maximum as `low` and `high`.

    `columns` are minimum, mean and maximum. They are left out as they are where the run did not
    record them, and where rows come at every change, so that nothing was between them.
    """
    if columns is None or any(name not in frame.columns for name in columns):
        return frame.drop(columns or (), strict=False)
    low, mean, high = columns
    if bool((frame[low] == frame[high]).all()):
        return frame.drop(columns)
    renamed = [
        pl.coalesce(column, "value").cast(pl.Float64).alias(name)
        for column, name in ((mean, "value"), (low, "low"), (high, "high"))
    ]
    return frame.with_columns(renamed).drop(columns)


def with_band(
    line: alt.Chart, time: alt.X, frame: pl.DataFrame, colour: alt.Color, *, several: bool
) -> alt.Chart | alt.LayerChart | alt.FacetChart:
    """The lines on their bands, where the frame has them; fainter where several share a panel."""
    if "low" not in frame.columns:
        return line
    band = (
        alt.Chart()
        .mark_area(opacity=0.15 if several else 0.28, clip=True)
        .encode(x=time, y=alt.Y("low:Q"), y2="high:Q", color=colour, detail="subflow:N")
    )
    return alt.layer(band, line)
