"""Slowdown by flow size: completion time over the ideal one, in decades of size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from pathweave.plots.cdf import FEWEST
from pathweave.plots.figure import (
    Figure,
    apart,
    in_panels,
    panel_size,
    panels_of,
    quantity,
    scheme_colour,
    scheme_dash,
    tip,
)
from pathweave.plots.ticks import log_axis
from pathweave.plots.words import by_panel
from pathweave.results.completion import has_finished
from pathweave.results.sizes import CLASSES
from pathweave.results.units import number

if TYPE_CHECKING:
    from pathweave.plots.figure import Spec
    from pathweave.plots.frames import Source

BUCKETS = tuple(CLASSES)


def slowdown(flows: pl.DataFrame) -> pl.DataFrame:
    """Median and 99th percentile of slowdown by scheme, panel and size bucket.

    Over finished flows with a size, all traffic groups together. The percentile is null where
    there are fewer than `FEWEST` flows.
    """
    bucket = pl.lit(BUCKETS[-1])
    for label, sizes in CLASSES.items():
        bucket = pl.when(sizes.holds()).then(pl.lit(label)).otherwise(bucket)
    ratio = pl.col("fct_s") / pl.col("fct_ideal_s")
    high = pl.col("slowdown").quantile(0.99, "linear")
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
            pl.when(pl.len() >= FEWEST).then(high).alias("p99"),
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
    schemes = source.schemes(frame)
    here = set(frame["bucket"])
    buckets = [bucket for bucket in BUCKETS if bucket in here]
    split = apart(frame, source.palette, source.panels(frame))
    panels = panels_of(split)
    columns, width, height = panel_size(len(panels), tall=190)
    rows: list[Spec] = []
    colour = scheme_colour(source.palette, schemes)
    # One word a line: they fit beside each other in narrow panels too.
    sizes = {
        "field": "bucket",
        "type": "ordinal",
        "title": "flow size",
        "sort": buckets,
        "axis": {"labelAngle": 0, "labelExpr": "split(datum.label, ' ')"},
    }
    for field, text in (("p50", "median slowdown"), ("p99", "99th percentile of slowdown")):
        known = split.drop_nulls(field)
        if known.is_empty():
            continue
        low = min(1.0, float(known[field].min() or 1.0))  # pyright: ignore[reportArgumentType]
        high = max(2.0, float(known[field].max() or 1.0))  # pyright: ignore[reportArgumentType]
        shared: Spec = {
            "x": sizes,
            "y": quantity(field) | log_axis(low, high, title=text),
            "color": colour,
            "tooltip": [
                tip("scheme", "variant"),
                tip("bucket", "size"),
                tip(field, text, ".4~g"),
                tip("count", "flows", ","),
            ],
        }
        line = {"strokeDash": scheme_dash(source.palette, schemes)}
        chart: Spec = {
            "layer": [
                {"mark": "line", "encoding": shared | line},
                {"mark": {"type": "point", "opacity": 1}, "encoding": shared},
            ],
            "width": width,
            "height": height,
        }
        rows.append(in_panels(chart, known, panels, columns))
    caption = (
        "Completion time over that of the same flow alone on an idle fabric; finished flows of all"
        f" traffic groups and seeds. No 99th percentile of fewer than {FEWEST} flows."
    )
    whole: Spec = {"vconcat": rows, "spacing": 24, "usermeta": rows[0]["usermeta"]}
    return Figure("slowdown-by-size", "Slowdown by flow size", caption, whole, _shows(split))


def _shows(frame: pl.DataFrame) -> str:
    said: dict[str, list[str]] = {}
    for (panel, scheme), part in frame.group_by("panel", "scheme", maintain_order=True):
        rows = {row["bucket"]: row for row in part.iter_rows(named=True)}
        texts = [
            f"{bucket} median {number(rows[bucket]['p50'], 3)},"
            f" p99 {number(rows[bucket]['p99'], 3)}"
            for bucket in BUCKETS
            if bucket in rows
        ]
        words = f"{scheme} " if scheme else ""
        said.setdefault(str(panel), []).append(f"{words}{', '.join(texts)}")
    return by_panel(said.items())
