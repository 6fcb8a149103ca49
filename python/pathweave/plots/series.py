"""Rates, windows, round-trip times and queues over time.

A handful of lines is drawn as lines: all in one panel per variant, or, when that would be a tangle,
one panel per flow and variant, in which many subflows are a band. Where flows or variants are too
many for that, rates are summed over the subflows of each flow. Many lines are drawn as their mean
and the band between their 10th and 90th percentile.

The scenario's phases and events are drawn in all of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from pathweave.plots.extent import with_extent
from pathweave.plots.figure import MOST_LINES, Figure
from pathweave.plots.lines import OWNERS_APART, Lines, apart, as_band, together
from pathweave.plots.ticks import round_step
from pathweave.results.units import rate_unit, scale, time_unit

if TYPE_CHECKING:
    from pathweave.plots.frames import Source

VARIANTS_APART = 4
CLOSE_UP = 200
"""Samples of a line that a close-up shows, about; longer series have one."""


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
    else:
        frame = _while_flows_last(source, frame)
    if close_up:
        frame, start_s, end_s = _middle(frame)
    else:
        start_s, end_s = 0.0, float(frame["time_s"].max() or 0.0)  # pyright: ignore[reportArgumentType]
    if frame.is_empty():
        return None
    variants = frame["variant"].unique(maintain_order=True).to_list()
    unit, divisor = _unit(kind, frame)
    values = [column for column in ("value", "low", "high") if column in frame.columns]
    frame = frame.with_columns(pl.col(values) / divisor, _owner_names(source, kind, frame))
    if frame["owner"].n_unique() == 1:
        notes.append(f"{kind.owner.capitalize()} {frame['owner'][0]}.")
    lines = Lines(
        source=source,
        frame=frame,
        variants=variants,
        owners=_in_order(source, kind, frame),
        owner=kind.owner,
        quantity=kind.quantity,
        unit=unit,
        start_s=start_s,
        end_s=end_s,
        averaged=kind.averaged,
    )
    most, owners = lines.most_lines(), lines.most_owners()
    if most <= (MOST_LINES if close_up else kind.together):
        drawn = together(lines)
    elif owners <= OWNERS_APART and len(variants) <= VARIANTS_APART:
        drawn = apart(lines)
    elif most <= MOST_LINES:
        drawn = together(lines)
    elif kind.summed and owners <= kind.together:
        notes.append("Sums over the subflows of each flow.")
        drawn = together(replace(lines, frame=over_subflows(frame)))
    else:
        drawn = as_band(lines)
    caption = " ".join(note for note in (*notes, drawn.note) if note)
    figure, title = f"{kind.table}-over-time", kind.title
    if close_up:
        figure, title = f"{kind.table}-close-up", f"{title}, close up"
    return Figure(figure, title, caption, drawn.chart, drawn.shows)


def _while_flows_last(source: Source, frame: pl.DataFrame) -> pl.DataFrame:
    """Without what was sampled after a flow's end, when a part of the interval had no traffic."""
    ends = source.table("flows", ["id", "end_s"], first_seed=True)
    if ends is None:
        return frame
    ends = ends.select("variant", "seed", pl.col("id").alias("owner_id"), "end_s")
    joined = frame.join(ends, on=["variant", "seed", "owner_id"], how="left")
    over = (pl.col("time_s") > pl.col("end_s")).fill_null(value=False)
    return joined.filter(~over).drop("end_s")


def _middle(frame: pl.DataFrame) -> tuple[pl.DataFrame, float, float]:
    """About `CLOSE_UP` samples a line from the middle, and their stretch of time (s).

    None of a short series or of many lines.
    """
    lines = frame.group_by("variant", "owner_id", "subflow").len()
    longest = _top(lines["len"])
    most = _top(lines.group_by("variant").agg(pl.len().alias("lines"))["lines"])
    if longest < 4 * CLOSE_UP or most > 2 * OWNERS_APART:
        return frame.clear(), 0.0, 0.0
    start = float(frame.select(pl.min("time_s")).item())
    span = float(frame.select(pl.max("time_s")).item()) - start
    length = round_step(span * CLOSE_UP / longest)
    begin = math.floor((start + span / 2) / length) * length
    end = begin + length
    return frame.filter(pl.col("time_s").is_between(begin, end)), begin, end


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


def over_subflows(frame: pl.DataFrame) -> pl.DataFrame:
    """The sum of `value` over each flow's subflows at each time, as if of one subflow."""
    keys = ["scheme", "panel", "variant", "seed", "owner_id", "owner", "time_s"]
    sums = frame.group_by(keys, maintain_order=True).agg(pl.col("value").sum())
    return sums.with_columns(pl.lit(0, frame.schema["subflow"]).alias("subflow"))
