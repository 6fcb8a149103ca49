"""Spread of a quantity by category: smallest, 10th percentile, median, 90th, largest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from pathweave.plots.figure import Figure, data, in_panels, panel_size, scheme_colour
from pathweave.plots.palette import PAPER_LIGHT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pathweave.plots.frames import Source

_CAPTION = "Line: smallest to largest; bar: 10th to 90th percentile; dot: median. All seeds."


def spread_figure(
    source: Source,
    frame: pl.DataFrame,
    name: str,
    title: str,
    axis: str,
    categories: Sequence[str],
    *,
    top: float | None = None,
) -> Figure | None:
    """A figure of the column `value` by the column `category`, scheme beside scheme.

    `categories` gives their order, `top` the end of the y axis where that is known.
    """
    frame = frame.drop_nulls("value")
    if frame.is_empty():
        return None
    value = pl.col("value")
    spread = frame.group_by("scheme", "panel", "category", maintain_order=True).agg(
        value.min().alias("low"),
        value.quantile(0.1, "linear").alias("p10"),
        value.median().alias("p50"),
        value.quantile(0.9, "linear").alias("p90"),
        value.max().alias("high"),
        pl.len().alias("count"),
    )
    panels = source.panels(spread)
    schemes = source.schemes(spread)
    columns, width, height = panel_size(len(panels))
    bars = min(18.0, 0.62 * width / (len(categories) * max(1, len(schemes))))
    base = alt.Chart().encode(
        x=alt.X(
            "category:N",
            title=None,
            sort=list(categories),
            scale=alt.Scale(paddingInner=0.25, paddingOuter=0.12),
        ),
        xOffset=alt.XOffset("scheme:N", sort=schemes),
        color=scheme_colour(source.palette, schemes, symbol="square"),
        tooltip=[
            alt.Tooltip("scheme:N"),
            alt.Tooltip("category:N", title="where"),
            *(
                alt.Tooltip(f"{field}:Q", title=text, format=".4~g")
                for field, text in (
                    ("low", "smallest"),
                    ("p10", "10th percentile"),
                    ("p50", "median"),
                    ("p90", "90th percentile"),
                    ("high", "largest"),
                )
            ),
            alt.Tooltip("count:Q", title="values", format=","),
        ],
    )
    scale = alt.Scale(domain=[0, top]) if top is not None else alt.Scale(zero=True)
    ends = alt.Y("low:Q", title=axis, scale=scale, axis=alt.Axis(tickCount=5))
    middle = alt.Y("p10:Q", title=axis, scale=scale)
    chart = alt.layer(
        base.mark_rule(strokeWidth=1.5).encode(y=ends, y2="high:Q"),
        base.mark_bar(size=bars, cornerRadius=1).encode(y=middle, y2="p90:Q"),
        base.mark_point(size=24, filled=False, fill=PAPER_LIGHT, strokeWidth=1.5, opacity=1).encode(
            y="p50:Q"
        ),
    ).properties(width=width, height=height)
    return Figure(name, title, _CAPTION, in_panels(chart, data(spread), panels, columns))


def bars_figure(
    source: Source,
    frame: pl.DataFrame,
    name: str,
    title: str,
    axis: str,
    categories: Sequence[str],
) -> Figure | None:
    """A figure of the mean of `value` by `category` as bars: for a handful of flows."""
    means = (
        frame.drop_nulls("value")
        .group_by("scheme", "panel", "category", maintain_order=True)
        .agg(pl.col("value").mean())
    )
    if means.is_empty():
        return None
    panels = source.panels(means)
    schemes = source.schemes(means)
    columns, width, height = panel_size(len(panels), tall=220)
    chart = (
        alt.Chart()
        .mark_bar(cornerRadiusEnd=2)
        .encode(
            x=alt.X(
                "category:N",
                title=None,
                sort=list(categories),
                scale=alt.Scale(paddingInner=0.25, paddingOuter=0.12),
            ),
            xOffset=alt.XOffset("scheme:N", sort=schemes),
            y=alt.Y("value:Q", title=axis, axis=alt.Axis(tickCount=5)),
            color=scheme_colour(source.palette, schemes, symbol="square"),
            tooltip=[
                alt.Tooltip("scheme:N"),
                alt.Tooltip("category:N", title="flow"),
                alt.Tooltip("value:Q", title=axis, format=".4~g"),
            ],
        )
        .properties(width=width, height=height)
    )
    caption = "Mean over seeds."
    return Figure(name, title, caption, in_panels(chart, data(means), panels, columns))
