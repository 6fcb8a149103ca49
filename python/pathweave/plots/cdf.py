"""Cumulative distributions of goodput, flow completion time and job completion time.

A distribution of completion times is over all that was started: what has not finished counts at its
age. Where that matters, it is drawn as the band in which it lies, and as Kaplan and Meier's
estimate where that holds (docs/statistics.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

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
from pathweave.plots.ticks import log_axis, most_ticks, zero_axis
from pathweave.plots.words import by_panel, value_text
from pathweave.results.completion import FEW_UNFINISHED
from pathweave.statistics.survival import bounds, kaplan_meier

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pathweave.plots.figure import Spec
    from pathweave.plots.frames import Source

    Vector = NDArray[np.float64]

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
    independent: bool = False,
) -> Figure | None:
    """A figure of the distribution of the column `value` of `frame`, by scheme and panel.

    None when no line would have `FEWEST` values. `axis` is the title of the x axis with its unit,
    as in "goodput (Mbps)"; `what` the plural of what is counted. A linear axis ends where a share
    `shown` of every line is in the picture. Where the column `finished` is false, `value` is an
    age; `independent` says that starts do not depend on ends, so that Kaplan and Meier's estimate
    holds.
    """
    frame = frame.drop_nulls("value")
    if log:
        frame = frame.filter(pl.col("value") > 0)
    if "finished" not in frame.columns:
        frame = frame.with_columns(finished=pl.lit(True))
    groups = frame.partition_by(["scheme", "panel"], maintain_order=True)
    groups = [group for group in groups if group.height >= FEWEST and group["finished"].any()]
    if not groups:
        return None
    lines = pl.concat([_line(group, independent=independent) for group in groups])
    lines = lines.sort(
        # What is drawn last is seen: the strongest colour.
        pl.col("scheme").replace_strict(
            {scheme: -source.palette.rank(scheme) for scheme in lines["scheme"].unique()},
            return_dtype=pl.Int64,
        ),
        maintain_order=True,
    )
    split = apart(lines, source.palette, source.panels(lines))
    panels = panels_of(split)
    columns, width, height = panel_size(len(panels))
    schemes = source.schemes(lines)
    # One that ends with the axis needs no clipping, which makes pictures slow.
    # The ages of unfinished flows may be tiny, and nothing is to be seen there.
    start = min(float(group.filter(pl.col("finished"))["value"].min()) for group in groups)  # pyright: ignore[reportArgumentType]
    split = split.filter(pl.col("value") >= start)
    inside = lines.filter(pl.col("value") >= start)
    encoded = _value_axis(inside, axis, log=log, shown=shown, most=most_ticks(width))
    split = _up_to(split, float(encoded["scale"]["domain"][1]))
    banded = bool((lines["low"] < lines["high"]).any())
    x = quantity("value") | encoded
    y_axis = {"values": [0, 0.25, 0.5, 0.75, 1], "format": ".0%"}
    y: Spec = {"title": f"share of {what}", "scale": {"domain": [0, 1]}, "axis": y_axis}
    colour = scheme_colour(source.palette, schemes)
    layers: list[Spec] = []
    if banded:
        area = {"type": "area", "interpolate": "step-after", "opacity": 0.16}
        ends = {"y": quantity("low") | y, "y2": {"field": "high"}}
        layers.append({"mark": area, "encoding": {"x": x, **ends, "color": colour}})
    layers.append(
        {
            "mark": {"type": "line", "interpolate": "step-after"},
            "encoding": {
                "x": x,
                "y": quantity("share") | y,
                "color": colour,
                "strokeDash": scheme_dash(source.palette, schemes),
                "tooltip": [
                    tip("scheme", "variant"),
                    tip("value", axis, ".4~g"),
                    tip("share", "share", ".1%"),
                ],
            },
        }
    )
    chart: Spec = {"layer": layers, "width": width, "height": height}
    most = max(group.height for group in groups)
    caption = _caption(what, most, shown, banded=banded, independent=independent)
    shows = _shows(groups, source, axis)
    return Figure(name, title, caption, in_panels(chart, split, panels, columns), shows)


def _caption(what: str, most: int, shown: float, *, banded: bool, independent: bool) -> str:
    caption = f"Share of {what} at or below a value, all seeds together."
    if banded:
        caption += (
            " Where more than 1 % did not finish, the band holds the share among all that started,"
            " whatever becomes of those: its upper edge is the share if they all finished at their"
            " present age, its lower edge the share if they never did."
        )
        caption += (
            " The line is Kaplan and Meier's estimate."
            if independent
            else " The line is the lower edge."
        )
    if most > POINTS:
        caption += (
            f" Lines are drawn through {POINTS} quantiles and the {_TAIL} largest values of "
            f"up to {most:,}."
        )
    if shown < 1:
        caption += f" The axis ends where {shown:.0%} of every line is in the picture."
    return caption


def _value_axis(
    lines: pl.DataFrame, axis: str, *, log: bool, shown: float, most: int
) -> dict[str, Any]:
    low, high = float(lines["value"].min()), float(lines["value"].max())  # pyright: ignore[reportArgumentType]
    if log:
        return log_axis(low, max(high, low * 1.01), title=axis)
    if shown < 1:
        reached = lines.filter(pl.col("share") >= shown).group_by("scheme", "panel")
        ends = reached.agg(pl.col("value").min())["value"]
        return zero_axis(axis, high, end=float(ends.max() or high), most=most)  # pyright: ignore[reportArgumentType]
    return zero_axis(axis, high, most=most)


def _up_to(lines: pl.DataFrame, end: float) -> pl.DataFrame:
    """The lines without what lies beyond the axis; each is drawn up to its end."""
    inside = lines.filter(pl.col("value") <= end)
    cut = lines.filter(pl.col("value") > end).select("scheme", "panel").unique(maintain_order=True)
    last = inside.group_by("scheme", "panel", maintain_order=True).last()
    ends = last.join(cut, on=["scheme", "panel"], how="semi").with_columns(value=pl.lit(end))
    return pl.concat([inside, ends.select(inside.columns)])


def _line(group: pl.DataFrame, *, independent: bool) -> pl.DataFrame:
    """Steps of one distribution and of its bounds, thinned; starts at share 0."""
    done = group.filter(pl.col("finished"))["value"].to_numpy().astype(np.float64)
    ages = group.filter(~pl.col("finished"))["value"].to_numpy().astype(np.float64)
    limits = bounds(done, ages)
    grid = _thinned(np.sort(np.concatenate([done, ages])))
    low, high = limits.latest.along(grid), limits.earliest.along(grid)
    if len(ages) <= FEW_UNFINISHED * group.height:
        high = low
        share = low
    else:
        share = 1 - kaplan_meier(done, ages).survival.along(grid) if independent else low
    # A line begins at the first value, at share 0.
    start = np.zeros(1)
    return pl.DataFrame(
        {
            "scheme": group["scheme"][0],
            "panel": group["panel"][0],
            "value": np.concatenate([grid[:1], grid]),
            "share": np.concatenate([start, share]),
            "low": np.concatenate([start, low]),
            "high": np.concatenate([start, high]),
        }
    )


def _thinned(ordered: Vector) -> Vector:
    n = len(ordered)
    if n <= POINTS:
        return ordered
    ranks = {0, *(round(at * (n - 1) / (POINTS - 1)) for at in range(POINTS)), *range(n - _TAIL, n)}
    return ordered[sorted(ranks)]


def _shows(groups: list[pl.DataFrame], source: Source, axis: str) -> str:
    """Medians and 90th percentiles; of completion times lower bounds, where no more is known."""
    unit = axis[axis.rfind("(") + 1 : -1] if axis.endswith(")") else ""
    said: dict[str, list[str]] = {}
    for group in groups:
        done = group.filter(pl.col("finished"))["value"].to_numpy().astype(np.float64)
        ages = group.filter(~pl.col("finished"))["value"].to_numpy().astype(np.float64)
        limits = bounds(done, ages)
        texts: list[str] = []
        for percent, words in ((50, "median"), (90, "90th percentile")):
            found = limits.percentile(percent)
            if found is not None:
                least = "at least " if found.at_least else ""
                texts.append(f"{words} {least}{value_text(found.value, unit)}")
        scheme = f"{group['scheme'][0]} " if group["scheme"][0] else ""
        said.setdefault(group["panel"][0], []).append(f"{scheme}{', '.join(texts)}")
    order = source.panels(pl.concat(groups))
    return by_panel((panel, said[panel]) for panel in order if panel in said)
