"""Slowdown by flow size: completion time over the ideal one, in decades of size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from pathweave.plots.cdf import FEWEST
from pathweave.plots.figure import (
    Figure,
    data,
    in_panels,
    log_axis,
    panel_size,
    scheme_colour,
    scheme_dash,
)
from pathweave.results.completion import has_finished

if TYPE_CHECKING:
    from pathweave.plots.frames import Source

BUCKETS = ("<10 KB", "10–100 KB", "0.1–1 MB", "1–10 MB", "10–100 MB", "≥100 MB")
_EDGES = (1e4, 1e5, 1e6, 1e7, 1e8)


def slowdown(flows: pl.DataFrame) -> pl.DataFrame:
    """Median and 99th percentile of slowdown by scheme, panel and size bucket.

    Over finished flows with a size, all traffic groups together.
    """
    bucket = pl.lit(BUCKETS[-1])
    for edge, label in reversed(list(zip(_EDGES, BUCKETS, strict=False))):
        bucket = pl.when(pl.col("size_bytes") < edge).then(pl.lit(label)).otherwise(bucket)
    ratio = pl.col("fct_s") / pl.col("fct_ideal_s")
    return (
        flows.filter(
            has_finished()
            & (pl.col("size_bytes") > 0)
            & (pl.col("fct_ideal_s") > 0)
            & pl.col("fct_s").is_not_null()
        )
        .with_columns(bucket.alias("bucket"), ratio.alias("slowdown"))
        .group_by("scheme", "panel", "bucket", maintain_order=True)
        .agg(
            pl.col("slowdown").median().alias("p50"),
            pl.col("slowdown").quantile(0.99, "linear").alias("p99"),
            pl.len().alias("count"),
        )
    )


def slowdown_figure(source: Source, flows: pl.DataFrame) -> Figure | None:
    """A figure of slowdown by size bucket, median above and 99th percentile below.

    None when no scheme has `FEWEST` flows to show.
    """
    frame = slowdown(flows)
    counts = frame.group_by("scheme", "panel").agg(pl.col("count").sum())
    if counts.filter(pl.col("count") >= FEWEST).is_empty():
        return None
    panels = source.panels(frame)
    schemes = source.schemes(frame)
    here = set(frame["bucket"])
    buckets = [bucket for bucket in BUCKETS if bucket in here]
    columns, width, height = panel_size(len(panels), tall=190)
    rows: list[alt.Chart | alt.LayerChart | alt.FacetChart] = []
    for field, text in (("p50", "median slowdown"), ("p99", "99th percentile of slowdown")):
        low = min(1.0, float(frame[field].min() or 1.0))  # pyright: ignore[reportArgumentType]
        high = max(2.0, float(frame[field].max() or 1.0) * 1.1)  # pyright: ignore[reportArgumentType]
        base = alt.Chart().encode(
            x=alt.X(
                "bucket:O",
                title="flow size",
                sort=buckets,
                # One word a line: they fit beside each other in narrow panels too.
                axis=alt.Axis(labelAngle=0, labelExpr="split(datum.label, ' ')"),
            ),
            y=alt.Y(f"{field}:Q", **log_axis(low, high, title=text)),
            color=scheme_colour(source.palette, schemes),
            tooltip=[
                alt.Tooltip("scheme:N"),
                alt.Tooltip("bucket:N", title="size"),
                alt.Tooltip(f"{field}:Q", title=text, format=".4~g"),
                alt.Tooltip("count:Q", title="flows", format=","),
            ],
        )
        chart = alt.layer(
            base.mark_line().encode(strokeDash=scheme_dash(source.palette, schemes)),
            base.mark_point(opacity=1),
        ).properties(width=width, height=height)
        rows.append(in_panels(chart, data(frame), panels, columns))  # pyright: ignore[reportArgumentType]
    caption = (
        "Completion time over that of the same flow alone on an idle fabric; finished flows of "
        "all traffic groups and seeds."
    )
    return Figure(
        "slowdown-by-size", "Slowdown by flow size", caption, alt.vconcat(*rows, spacing=24)
    )
