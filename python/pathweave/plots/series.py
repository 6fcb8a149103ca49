"""Rates, windows, round-trip times and queues over time.

A handful of lines is drawn as lines: all in one panel per variant, or, when that would be a tangle,
one panel per flow and variant. Where subflows are too many for that and flows are not, rates are
drawn by flow. Many lines are drawn as their mean and the band between their 10th and 90th
percentile.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from pathweave.plots.extent import EXTENT_NOTE, with_band, with_extent
from pathweave.plots.figure import (
    Figure,
    data,
    in_panels,
    panel_size,
    panel_width,
    scheme_colour,
    top_legend,
)
from pathweave.plots.palette import flow_colours
from pathweave.plots.thin import average, thin
from pathweave.results.units import number, rate_unit, scale, time_unit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pathweave.plots.frames import Source

LINES_CLOSE_UP = 6
"""Lines in one panel of a close-up at most."""
OWNERS_APART = 12
"""Flows with panels of their own at most."""
VARIANTS_APART = 4
POINTS = 24_000
"""Points in a chart, about."""
BAND_BINS = 200
CLOSE_UP = 200
"""Samples of a line that a close-up shows, about; longer series have one."""
PANELS = 12
"""Panels of variants at most."""
_SUBFLOW_DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [1, 3], [10, 4]]


@dataclass(frozen=True)
class Kind:
    """A kind of series: its table and columns, and what a line belongs to."""

    table: str
    column: str
    owner: str
    """Column of what a line belongs to: `flow` or `link`."""
    title: str
    quantity: str
    together: int
    """Lines in one panel at most: few for windows, whose teeth hide each other."""
    averaged: bool = False
    """Long series are thinned to means over short stretches of time, not to extremes."""
    summed: bool = False
    """Sums over a flow's subflows say something, and may be drawn where subflows are too many."""
    extent: tuple[str, str, str] | None = None
    """Columns with the minimum, mean and maximum since the sample before."""


KINDS = (
    Kind("rates", "rate_bps", "flow", "Rates over time", "rate", 6, averaged=True, summed=True),
    Kind(
        "windows", "window_packets", "flow", "Windows over time", "window", 2,
        extent=("window_min_packets", "window_mean_packets", "window_max_packets"),
    ),
    Kind(
        "rtts", "rtt_s", "flow", "Round-trip times over time", "round-trip time", 2,
        extent=("rtt_min_s", "rtt_mean_s", "rtt_max_s"),
    ),
    Kind(
        "queues", "packets", "link", "Queues over time", "packets waiting", 1,
        extent=("packets_min", "packets_mean", "packets_max"),
    ),
)  # fmt: skip


def series_figure(source: Source, kind: Kind, *, close_up: bool = False) -> Figure | None:
    """A figure of one kind of series; None when no run recorded it.

    With `close_up` a short stretch from the middle; None when the series is short anyway.
    """
    frame = source.table(
        kind.table,
        ["time_s", kind.owner, kind.column],
        optional=["subflow", *(kind.extent or ())],
        first_seed=True,
    )
    if frame is None:
        return None
    if "subflow" not in frame.columns:
        frame = frame.with_columns(pl.lit(0, pl.Int64).alias("subflow"))
    frame = frame.rename({kind.column: "value", kind.owner: "owner_id"}).drop_nulls("value")
    frame = with_extent(frame, kind.extent)
    notes = [f"Seed {frame['seed'].min()} of each variant." if _several_seeds(source) else ""]
    if kind.owner == "link":
        frame, note = _busy_only(frame)
        notes.append(note)
    if close_up:
        frame = _middle(frame)
    if frame.is_empty():
        return None
    variants = frame["variant"].unique(maintain_order=True).to_list()
    if len(variants) > PANELS:
        notes.append(f"The first {PANELS} of {len(variants)} variants.")
        variants = variants[:PANELS]
        frame = frame.filter(pl.col("variant").is_in(variants))
    unit, divisor = _unit(kind, frame)
    values = [name for name in ("value", "low", "high") if name in frame.columns]
    frame = frame.with_columns(pl.col(values) / divisor, _owner_names(source, kind, frame))
    axis = f"{kind.quantity} ({unit})"
    notes.append(EXTENT_NOTE if "low" in frame.columns else "")
    if frame["owner"].n_unique() == 1:
        notes.append(f"{kind.owner.capitalize()} {frame['owner'][0]}.")
    per_variant = frame.group_by("variant").agg(
        pl.struct("owner_id", "subflow").n_unique().alias("lines"),
        pl.col("owner_id").n_unique().alias("owners"),
    )
    lines = _top(per_variant["lines"])
    owners = _top(per_variant["owners"])
    if lines <= (LINES_CLOSE_UP if close_up else kind.together):
        chart, note = _together(source, frame, variants, axis, kind, lines)
    elif owners <= OWNERS_APART and len(variants) <= VARIANTS_APART:
        chart, note = _apart(source, frame, variants, axis, kind)
    elif kind.summed and owners <= kind.together:
        notes.append("Sums over the subflows of each flow.")
        chart, note = _together(source, over_subflows(frame), variants, axis, kind, owners)
    else:
        chart, note = _band(source, frame, axis, kind, lines)
    caption = " ".join(note for note in (*notes, note) if note)
    name, title = f"{kind.table}-over-time", kind.title
    if close_up:
        name, title = f"{kind.table}-close-up", f"{title}, close up"
    return Figure(name, title, caption, chart)


def _middle(frame: pl.DataFrame) -> pl.DataFrame:
    """About `CLOSE_UP` samples a line from the middle; none of a short series or of many lines."""
    lines = frame.group_by("variant", "owner_id", "subflow").len()
    longest = _top(lines["len"])
    most = _top(lines.group_by("variant").agg(pl.len().alias("lines"))["lines"])
    if longest < 4 * CLOSE_UP or most > 2 * OWNERS_APART:
        return frame.clear()
    start = float(frame.select(pl.min("time_s")).item())
    span = float(frame.select(pl.max("time_s")).item()) - start
    middle = start + span / 2
    return frame.filter(pl.col("time_s").is_between(middle, middle + span * CLOSE_UP / longest))


def _several_seeds(source: Source) -> bool:
    return len({run.seed for run in source.scenario.runs}) > 1


def _top(values: pl.Series) -> int:
    top = values.max()
    return top if isinstance(top, int) else 0


def _unit(kind: Kind, frame: pl.DataFrame) -> tuple[str, float]:
    high = frame["value"].quantile(0.95) or 0.0
    if kind.column.endswith("_bps"):
        unit = rate_unit(float(high))
    elif kind.column.endswith("_s"):
        unit = time_unit(float(high))
    else:
        return "packets", 1.0
    return unit, scale(unit)


def _busy_only(frame: pl.DataFrame) -> tuple[pl.DataFrame, str]:
    """Without the links on which nothing ever waited."""
    top = pl.col("value").max().over("variant", "owner_id")
    busy = frame.filter(top > 0)
    every = frame["owner_id"].n_unique()
    left = busy["owner_id"].n_unique()
    return busy, f"{every - left} links on which nothing waited are left out." * (left < every)


def _owner_names(source: Source, kind: Kind, frame: pl.DataFrame) -> pl.Expr:
    """The column `owner`: names of links, and of flows where they have one."""
    if kind.owner == "link":
        return pl.col("owner_id").cast(pl.String).alias("owner")
    table = source.table("flows", ["id", "name"])
    names = {} if table is None else dict(table.select("id", "name").iter_rows())
    ids = frame["owner_id"].unique().to_list()
    chosen = {owner: names.get(owner) or f"{kind.owner} {owner}" for owner in ids}
    return pl.col("owner_id").replace_strict(chosen, return_dtype=pl.String).alias("owner")


def _thinned(
    kind: Kind, frame: pl.DataFrame, keys: list[str], lines: int
) -> tuple[pl.DataFrame, str]:
    # Dashes, which tell subflows apart, make long lines slow to draw.
    budget = POINTS // 2 if frame["subflow"].n_unique() > 1 else POINTS
    bins = max(40, min(300, budget // (4 * max(1, lines))))
    if kind.averaged or "low" in frame.columns:
        means = average(frame.select(pl.col("^(time_s|value|low|high)$"), *keys), keys, bins)
        if means.height == frame.height:
            return means, ""
        span = float(frame.select(pl.max("time_s") - pl.min("time_s")).item())
        unit = time_unit(span / bins)
        length = number(span / bins / scale(unit), 3)
        return means, f"Averaged over stretches of {length} {unit}."
    thin_frame = thin(frame.select("time_s", "value", *keys), keys, bins)
    if thin_frame.height < frame.height:
        note = (
            f"Thinned to first, smallest, largest and last of each of {bins} stretches of time "
            f"({thin_frame.height:,} of {frame.height:,} samples)."
        )
        return thin_frame, note
    return thin_frame, ""


def time_axis(frame: pl.DataFrame) -> alt.X:
    """The axis of `time_s`, labelled in the unit that suits the latest time in `frame`."""
    latest = frame["time_s"].max()
    unit = time_unit(latest if isinstance(latest, float) else 0.0)
    return alt.X(
        "time_s:Q",
        title=f"time ({unit})",
        scale=alt.Scale(nice=False),
        axis=alt.Axis(tickCount=6, labelExpr=f"format(datum.value / {scale(unit)}, '~r')"),
    )


def _value_axis(axis: str) -> alt.Y:
    return alt.Y("value:Q", title=axis, axis=alt.Axis(tickCount=4))


def _subflow_dash(subflows: Sequence[str]) -> alt.StrokeDash | alt.StrokeDashValue:
    if len(subflows) == 1:
        return alt.StrokeDashValue([])
    return alt.StrokeDash(
        "subflow:N",
        title="subflow",
        scale=alt.Scale(
            domain=list(subflows),
            range=[_SUBFLOW_DASHES[place % len(_SUBFLOW_DASHES)] for place in range(len(subflows))],
        ),
        legend=top_legend(subflows, "subflow"),
    )


def over_subflows(frame: pl.DataFrame) -> pl.DataFrame:
    """The sum of `value` over each flow's subflows at each time, as if of one subflow."""
    keys = ["scheme", "panel", "variant", "seed", "owner_id", "owner", "time_s"]
    sums = frame.group_by(keys, maintain_order=True).agg(pl.col("value").sum())
    return sums.with_columns(pl.lit(0, frame.schema["subflow"]).alias("subflow"))


def _subflow_names(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    numbers = sorted(frame["subflow"].unique().to_list())
    named = frame.with_columns((pl.col("subflow") + 1).cast(pl.String))
    return named, [str(number + 1) for number in numbers]


def _together(
    source: Source,
    frame: pl.DataFrame,
    variants: Sequence[str],
    axis: str,
    kind: Kind,
    lines: int,
) -> tuple[alt.Chart | alt.FacetChart, str]:
    """All lines of a variant in one panel, colour by flow or link."""
    owners = _in_order(source, kind, frame)
    keys = ["variant", "owner", "subflow"]
    kept, note = _thinned(kind, frame, keys, lines * len(variants))
    kept, subflows = _subflow_names(kept.rename({"variant": "panel"}))
    columns, width, height = _wide_panels(len(variants))
    colour = alt.Color(
        "owner:N",
        title=None,
        scale=alt.Scale(domain=owners, range=flow_colours(len(owners))),
        legend=top_legend(owners) if len(owners) > 1 else None,
    )
    line = (
        alt.Chart()
        .mark_line(strokeWidth=1.4, clip=True)
        .encode(
            x=time_axis(kept),
            y=_value_axis(axis),
            color=colour,
            strokeDash=_subflow_dash(subflows),
            tooltip=[
                alt.Tooltip("owner:N", title=kind.owner),
                alt.Tooltip("time_s:Q", title="time (s)"),
                alt.Tooltip("value:Q", title=axis, format=".4~g"),
            ],
        )
    )
    chart = with_band(line, time_axis(kept), kept, colour, several=lines > 1)
    chart = chart.properties(width=width, height=height)
    return in_panels(chart, data(kept), list(variants), columns), note  # pyright: ignore[reportReturnType]


def _apart(
    source: Source, frame: pl.DataFrame, variants: Sequence[str], axis: str, kind: Kind
) -> tuple[alt.FacetChart, str]:
    """A row of panels per flow or link, a column per variant, colour by scheme."""
    owners = _in_order(source, kind, frame)
    keys = ["scheme", "variant", "owner", "subflow"]
    kept, note = _thinned(kind, frame, keys, frame.select(pl.struct(keys).n_unique()).item())
    kept, subflows = _subflow_names(every_panel(kept))
    width = panel_width(len(variants)) - 30
    colour = scheme_colour(source.palette, source.schemes(kept), legend=False)
    line = (
        alt.Chart()
        .mark_line(strokeWidth=1.3, clip=True)
        .encode(
            x=time_axis(kept),
            y=alt.Y("value:Q", title=None, axis=alt.Axis(tickCount=3)),
            color=colour,
            strokeDash=_subflow_dash(subflows),
        )
    )
    chart = with_band(line, time_axis(kept), kept, colour, several=len(subflows) > 1)
    chart = chart.properties(width=width, height=90)
    grid = chart.facet(
        row=alt.Row(
            "owner:N",
            title=axis,
            sort=owners,
            header=alt.Header(labelAngle=0, labelAlign="left", titleFontWeight="normal"),
        ),
        column=alt.Column("variant:N", title=None, sort=list(variants)),
        data=data(kept),
        spacing=22,
    )
    return grid, note


def every_panel(frame: pl.DataFrame) -> pl.DataFrame:
    """With an empty row for each pair of variant and owner that has none.

    A grid of panels puts the others under wrong headers when one is missing.
    """
    owners = frame.select("owner").unique(maintain_order=True)
    grid = frame.select("scheme", "variant").unique(maintain_order=True).join(owners, how="cross")
    missing = grid.join(frame, on=["variant", "owner"], how="anti")
    first = frame["subflow"].min()
    subflow = pl.lit(first, frame["subflow"].dtype).alias("subflow")
    return pl.concat([frame, missing.with_columns(subflow)], how="diagonal")


def _band(
    source: Source, frame: pl.DataFrame, axis: str, kind: Kind, lines: int
) -> tuple[alt.LayerChart | alt.FacetChart, str]:
    """Mean over all lines, and the band of their 10th to 90th percentile, by scheme."""
    start = float(frame["time_s"].min() or 0.0)  # pyright: ignore[reportArgumentType]
    end = float(frame["time_s"].max() or 0.0)  # pyright: ignore[reportArgumentType]
    width_s = max((end - start) / BAND_BINS, 1e-12)
    place = ((pl.col("time_s") - start) / width_s).floor().clip(0, BAND_BINS - 1)
    per_line = frame.group_by(
        "scheme", "panel", "variant", "owner_id", "subflow", place.alias("bin"), maintain_order=True
    ).agg(pl.col("value").mean())
    bands = (
        per_line.group_by("scheme", "panel", "bin", maintain_order=True)
        .agg(
            pl.col("value").mean(),
            pl.col("value").quantile(0.1, "linear").alias("low"),
            pl.col("value").quantile(0.9, "linear").alias("high"),
        )
        .with_columns(time_s=start + (pl.col("bin") + 0.5) * width_s)
        .drop("bin")
        .sort("scheme", "panel", "time_s")
    )
    panels = source.panels(bands)
    schemes = source.schemes(bands)
    columns, width, height = panel_size(len(panels))
    base = alt.Chart().encode(x=time_axis(bands), color=scheme_colour(source.palette, schemes))
    chart = alt.layer(
        base.mark_area(opacity=0.18).encode(
            y=alt.Y("low:Q", title=axis, axis=alt.Axis(tickCount=4)), y2="high:Q"
        ),
        base.mark_line(strokeWidth=1.8).encode(y=_value_axis(axis)),
    ).properties(width=width, height=height)
    what = "links" if kind.owner == "link" else "subflows"
    note = (
        f"Line: mean over up to {lines:,} {what}; band: 10th to 90th percentile of them; "
        f"averaged over {BAND_BINS} stretches of time."
    )
    return in_panels(chart, data(bands), panels, columns), note  # pyright: ignore[reportReturnType]


def _in_order(source: Source, kind: Kind, frame: pl.DataFrame) -> list[str]:
    """Names of flows or links in the order of their table: flows by group as in the scenario."""
    key = "link" if kind.owner == "link" else "id"
    table = source.table("links" if kind.owner == "link" else "flows", [key], optional=["group"])
    owners = frame.select(pl.col("owner_id"), "owner").unique(maintain_order=True)
    if table is None:
        return owners.sort("owner_id")["owner"].to_list()
    if "group" in table.columns:
        place = {group: at for at, group in enumerate(source.groups(table))}
        table = table.sort(pl.col("group").replace_strict(place), key, maintain_order=True)
    order = table.select(pl.col(key).alias("owner_id")).unique(maintain_order=True)
    named = order.join(owners, on="owner_id", how="inner", maintain_order="left")
    return named["owner"].unique(maintain_order=True).to_list()


def _wide_panels(count: int) -> tuple[int, int, int]:
    if count <= 1:
        return 1, panel_width(1), 260
    return 2, panel_width(2), 180
