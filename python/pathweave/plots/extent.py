"""What a value did between two samples, drawn as a band behind the line of its means."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from pathweave.plots.figure import quantity

if TYPE_CHECKING:
    from pathweave.plots.figure import Spec

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


def band(
    time: Spec, value: Spec, colour: Spec, frame: pl.DataFrame, *, several: bool
) -> list[Spec]:
    """The layer of the bands, where `frame` has them; fainter where several share a panel.

    `time`, `value` and `colour` are the encodings of the lines.
    """
    if "low" not in frame.columns:
        return []
    return [
        {
            "mark": {"type": "area", "opacity": 0.15 if several else 0.28},
            "transform": [{"filter": "isValid(datum.low)"}],
            "encoding": {
                "x": time,
                "y": quantity("low") | value,
                "y2": {"field": "high"},
                "color": colour,
                "detail": [{"field": "subflow", "type": "nominal"}],
            },
        }
    ]
