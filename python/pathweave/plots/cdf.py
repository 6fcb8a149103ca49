"""Cumulative distributions of goodput, flow completion time and job completion time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from pathweave.plots.figure import (
    Figure,
    data,
    in_panels,
    log_axis,
    panel_size,
    scheme_colour,
    scheme_dash,
)

if TYPE_CHECKING:
    from pathweave.plots.frames import Source

POINTS = 200
"""Points of a line at most; the largest values are all kept."""
FEWEST = 10
"""Values below which a distribution says nothing."""
_TAIL = 20


def cdf_figure(
    source: Source,
    frame: pl.DataFrame,
    name: str,
    title: str,
    axis: str,
    *,
    log: bool,
    what: str,
    shown: float = 1.0,
) -> Figure | None:
    """A figure of the distribution of the column `value` of `frame`, by scheme and panel.

    None when no line would have `FEWEST` values. `axis` is the title of the x axis with its unit,
    `what` the plural of what is counted. A linear axis ends where a share `shown` of every line
    is in the picture.
    """
    frame = frame.drop_nulls("value")
    if log:
        frame = frame.filter(pl.col("value") > 0)
    groups = frame.partition_by(["scheme", "panel"], maintain_order=True)
    parts = [_line(group) for group in groups if group.height >= FEWEST]
    if not parts:
        return None
    lines = pl.concat(parts)
    panels = source.panels(lines)
    columns, width, height = panel_size(len(panels))
    schemes = source.schemes(lines)
    chart = (
        alt.Chart()
        .mark_line(interpolate="step-after", clip=True)
        .encode(
            x=_value_axis(lines, axis, log=log, shown=shown),
            y=alt.Y(
                "share:Q",
                title=f"share of {what}",
                scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(tickCount=5),
            ),
            color=scheme_colour(source.palette, schemes),
            strokeDash=scheme_dash(source.palette, schemes),
            tooltip=[
                alt.Tooltip("scheme:N"),
                alt.Tooltip("value:Q", title=axis, format=".4~g"),
                alt.Tooltip("share:Q", title="share", format=".1%"),
            ],
        )
        .properties(width=width, height=height)
    )
    most = max(group.height for group in groups)
    caption = f"Share of {what} at or below a value, all seeds together."
    if most > POINTS:
        caption += (
            f" Lines are drawn through {POINTS} quantiles and the {_TAIL} largest values of "
            f"up to {most:,}."
        )
    if shown < 1:
        caption += f" The axis ends where {shown:.0%} of every line is in the picture."
    return Figure(name, title, caption, in_panels(chart, data(lines), panels, columns))


def _value_axis(lines: pl.DataFrame, axis: str, *, log: bool, shown: float) -> alt.X:
    if log:
        low, high = float(lines["value"].min()), float(lines["value"].max())  # pyright: ignore[reportArgumentType]
        return alt.X("value:Q", **log_axis(low, max(high, low * 1.01), title=axis))
    scale = alt.Scale(zero=True)
    if shown < 1:
        reached = lines.filter(pl.col("share") >= shown).group_by("scheme", "panel")
        end = reached.agg(pl.col("value").min())["value"].max()
        scale = alt.Scale(domain=[0, end])  # pyright: ignore[reportArgumentType]
    return alt.X("value:Q", title=axis, scale=scale, axis=alt.Axis(tickCount=5))


def _line(group: pl.DataFrame) -> pl.DataFrame:
    """Steps of one distribution, thinned; starts at share 0."""
    values = group["value"].sort()
    n = values.len()
    if n > POINTS:
        ranks = sorted(
            {0, *(round(at * (n - 1) / (POINTS - 1)) for at in range(POINTS)), *range(n - _TAIL, n)}
        )
    else:
        ranks = list(range(n))
    shares = [(rank + 1) / n for rank in ranks]
    kept = values.gather(ranks).to_list()
    return pl.DataFrame(
        {
            "scheme": group["scheme"][0],
            "panel": group["panel"][0],
            "value": [kept[0], *kept],
            "share": [0.0, *shares],
        },
        schema_overrides={"value": pl.Float64},
    )
