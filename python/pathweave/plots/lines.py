"""Charts of values over time: lines in one panel, in panels of their own, or a band of many."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from pathweave.plots import timeline
from pathweave.plots.extent import EXTENT_NOTE, band
from pathweave.plots.figure import (
    AXIS_WIDTH,
    data,
    in_panels,
    name,
    panel_size,
    panel_width,
    panels_of,
    quantity,
    scheme_colour,
    tip,
    top_legend,
)
from pathweave.plots.figure import apart as split_panels
from pathweave.plots.palette import flow_colours
from pathweave.plots.thin import average, thin
from pathweave.plots.ticks import between, zero_axis
from pathweave.plots.words import by_panel, course
from pathweave.results.units import number, scale, time_unit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pathweave.plots.figure import Spec
    from pathweave.plots.frames import Source
    from pathweave.plots.timeline import Timeline
    from pathweave.results.runs import StoredRun

OWNERS_APART = 12
"""Flows or links with panels of their own at most."""
SUBFLOWS_APART = 4
"""Subflows that are lines in their flow's panel at most; more are a band."""
POINTS = 24_000
"""Points in a chart, about."""
PANELS = 12
"""Panels of variants at most."""
BANDS_TOGETHER = 2
"""Bands in one panel at most."""
BAND_BINS = 200
"""Stretches of time of a band."""
_SUBFLOW_DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [1, 3], [10, 4]]
_APART_HEIGHT = 90
_APART_SPACING = 22
_DESCRIBED = 4
"""Lines of a panel that are put into words at most."""


@dataclass(frozen=True)
class Lines:
    """What is to be drawn."""

    source: Source
    frame: pl.DataFrame
    """Columns scheme, panel, variant, owner_id, owner, subflow, time_s, value; perhaps low, high.
    """
    variants: Sequence[str]
    owners: Sequence[str]
    """Names of the flows or links in their order."""
    owner: str
    """What they are: "flow" or "link"."""
    quantity: str
    unit: str
    start_s: float
    """Where the time axis begins (s)."""
    end_s: float
    """Where it ends (s)."""
    averaged: bool
    """Long lines are thinned to means over short stretches of time, not to extremes."""

    @property
    def axis(self) -> str:
        """Title of the axis of values."""
        return f"{self.quantity} ({self.unit})"

    def most_lines(self) -> int:
        """Lines of the variant that has the most."""
        return self._most(pl.struct("owner_id", "subflow"))

    def most_owners(self) -> int:
        """Flows or links of the variant that has the most."""
        return self._most(pl.col("owner_id"))

    def most_subflows(self) -> int:
        """Subflows of the flow that has the most."""
        counts = self.frame.group_by("variant", "owner_id").agg(pl.col("subflow").n_unique())
        return int(counts["subflow"].max() or 0)  # pyright: ignore[reportArgumentType]

    def _most(self, what: pl.Expr) -> int:
        counts = self.frame.group_by("variant").agg(what.n_unique().alias("count"))
        return int(counts["count"].max() or 0)  # pyright: ignore[reportArgumentType]


@dataclass(frozen=True)
class Drawn:
    """A chart, what its caption has to say of it, and what it shows in words."""

    chart: Spec
    note: str
    shows: str


def together(lines: Lines) -> Drawn:
    """All lines of a variant in one panel, colour by flow or link; by scheme where there is one."""
    lines, left_out = _first_variants(lines)
    keys = ["scheme", "variant", "owner", "subflow"]
    count = lines.most_lines()
    kept, note = _thinned(lines, keys, count * len(lines.variants))
    kept, subflows = _subflow_names(kept.with_columns(panel=pl.col("variant")))
    columns, width, height = (
        (1, panel_width(1), 260) if len(lines.variants) <= 1 else (2, panel_width(2), 180)
    )
    palette = lines.source.palette
    colour = name(
        "owner",
        scale={"domain": list(lines.owners), "range": flow_colours(len(lines.owners))},
        legend=top_legend(lines.owners),
    )
    if len(lines.owners) == 1:
        colour = scheme_colour(palette, lines.source.schemes(kept), legend=False)
    marked = _timeline(lines, _label, width)
    chart: Spec = {
        "layer": _layers(lines, kept, colour, subflows, lines.axis, several=count > 1),
        "width": width,
        "height": height,
    }
    unit = time_unit(lines.end_s)
    shows = by_panel(
        (variant, _courses(kept.filter(pl.col("variant") == variant), lines.unit, unit))
        for variant in lines.variants
    )
    rows = marked.among(kept.drop("variant", "scheme") if len(lines.owners) > 1 else kept)
    panelled = in_panels(chart, rows, list(lines.variants), columns)
    return Drawn(panelled, _told(left_out, note, marked.note), shows)


def apart(lines: Lines) -> Drawn:
    """A row of panels per flow or link, a column per variant, colour by scheme."""
    keys = ["scheme", "variant", "owner", "subflow"]
    many = lines.most_subflows() > SUBFLOWS_APART
    if many:
        kept = _subflow_bands(lines)
        note = (
            f"Line: mean over a flow's {lines.most_subflows()} subflows; band: smallest to largest;"
            f" {BAND_BINS} stretches of time."
        )
    else:
        count = lines.frame.select(pl.struct(keys).n_unique()).item()
        kept, note = _thinned(lines, keys, count)
    kept, subflows = _subflow_names(every_panel(kept))
    width = panel_width(len(lines.variants)) - 30
    colour = scheme_colour(lines.source.palette, lines.source.schemes(kept), legend=False)
    marked = _timeline(lines, _label, width)
    axis = zero_axis("", _top(kept), most=3) | {"title": None}
    chart: Spec = {
        "layer": _layers(lines, kept, colour, subflows, axis, several=len(subflows) > 1),
        "width": width,
        "height": _APART_HEIGHT,
    }
    header = {"labelAngle": 0, "labelAlign": "left", "titleFontWeight": "normal"}
    grid: Spec = {
        "data": data(marked.among_rows(kept, lines.owners)),
        "facet": {
            "row": name("owner", lines.axis, sort=list(lines.owners), header=header),
            "column": name("variant", sort=list(lines.variants)),
        },
        "spacing": _APART_SPACING,
        "spec": chart,
        "usermeta": {"axis": AXIS_WIDTH + 30},
    }
    unit = time_unit(lines.end_s)
    described = by_panel(
        (
            f"{variant}, {owner}" if variant else owner,
            _courses(
                kept.filter((pl.col("variant") == variant) & (pl.col("owner") == owner)),
                lines.unit,
                unit,
            ),
        )
        for variant in lines.variants
        for owner in lines.owners
    )
    return Drawn(grid, _told(note, marked.note), described)


def as_band(lines: Lines) -> Drawn:
    """Mean over all lines, and the band of their 10th to 90th percentile, by scheme.

    Several bands over each other are a smear: they have panels of their own where these are not too
    many, otherwise there are means alone.
    """
    frame, panel_of = lines.frame, lines.source.panel
    many = lines.frame["scheme"].n_unique() > BANDS_TOGETHER
    if many and len(lines.variants) <= PANELS:
        frame, panel_of = frame.with_columns(panel=pl.col("variant")), _label
    per_line = _binned(frame, lines, ["scheme", "panel", "variant", "owner_id", "subflow"])
    bands = (
        per_line.group_by("scheme", "panel", "time_s", maintain_order=True)
        .agg(
            pl.col("value").mean(),
            pl.col("value").quantile(0.1, "linear").alias("low"),
            pl.col("value").quantile(0.9, "linear").alias("high"),
        )
        .sort("scheme", "panel", "time_s")
        .with_columns(owner=pl.lit(""), subflow=pl.lit("1"))
    )
    what = "links" if lines.owner == "link" else "subflows"
    note = f"Line: mean over up to {lines.most_lines():,} {what}"
    if many and len(lines.variants) > PANELS:
        bands = bands.drop("low", "high")
    else:
        note += "; band: 10th to 90th percentile of them"
    note += f"; averaged over {BAND_BINS} stretches of time."
    order = list(dict.fromkeys(panel_of(run) for run in lines.source.scenario.counted().runs))
    whole = [panel for panel in order if panel in set(bands["panel"])]
    marked = _timeline(lines, panel_of, panel_size(len(whole))[1])
    split = split_panels(marked.among(bands), lines.source.palette, whole)
    panels = panels_of(split)
    columns, width, height = panel_size(len(panels))
    colour = scheme_colour(
        lines.source.palette, lines.source.schemes(bands), legend=panel_of is not _label
    )
    chart: Spec = {
        "layer": _layers(lines, bands, colour, ["1"], lines.axis, several=True),
        "width": width,
        "height": height,
    }
    unit = time_unit(lines.end_s)
    shows = by_panel(
        (panel, _courses(split.filter(pl.col("panel") == panel), lines.unit, unit))
        for panel in panels
    )
    return Drawn(in_panels(chart, split, panels, columns), _told(note, marked.note), shows)


def time_axis(start_s: float, end_s: float) -> Spec:
    """Encoding by `time_s`, labelled in the unit that suits the latest time."""
    unit = time_unit(end_s)
    divisor = scale(unit)
    ticks = [tick * divisor for tick in between(start_s / divisor, end_s / divisor)]
    return quantity(
        "time_s",
        f"time ({unit})",
        scale={"domain": [start_s, end_s], "nice": False, "zero": False},
        axis={"values": ticks, "labelExpr": f"format(datum.value / {divisor}, ',.6~r')"},
    )


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


def _first_variants(lines: Lines) -> tuple[Lines, str]:
    if len(lines.variants) <= PANELS:
        return lines, ""
    kept = lines.variants[:PANELS]
    frame = lines.frame.filter(pl.col("variant").is_in(kept))
    note = f"The first {PANELS} of {len(lines.variants)} variants."
    return replace(lines, frame=frame, variants=kept), note


def _label(run: StoredRun) -> str:
    return run.label


def _layers(
    lines: Lines,
    kept: pl.DataFrame,
    colour: Spec,
    subflows: Sequence[str],
    axis: str | Spec,
    *,
    several: bool,
) -> list[Spec]:
    """Phases, bands, lines and events, in the order in which they are drawn."""
    time = time_axis(lines.start_s, lines.end_s)
    value = axis if isinstance(axis, dict) else zero_axis(axis, _top(kept))
    line: Spec = {
        "mark": {"type": "line", "strokeWidth": 1.4 if several else 1.6},
        "transform": [{"filter": "isValid(datum.value)"}],
        "encoding": {
            "x": time,
            "y": quantity("value") | value,
            "color": colour,
            "strokeDash": _subflow_dash(subflows),
            "tooltip": [
                tip(colour["field"], "variant" if colour["field"] == "scheme" else lines.owner),
                tip("time_s", "time (s)", ".6~g"),
                tip("value", lines.axis, ".4~g"),
            ],
        },
    }
    return [
        *timeline.behind(time),
        *band(time, value, colour, kept, several=several),
        line,
        *timeline.before(time),
    ]


def _timeline(lines: Lines, panel: Callable[[StoredRun], str], width: int) -> Timeline:
    """Events and phases of the runs that are drawn, by `panel`."""
    runs: dict[str, list[StoredRun]] = {}
    shown = set(lines.variants)
    for run in lines.source.scenario.counted().runs:
        if run.label in shown:
            runs.setdefault(panel(run), []).append(run)
    return timeline.timeline(runs, lines.start_s, lines.end_s, width)


def _thinned(lines: Lines, keys: list[str], count: int) -> tuple[pl.DataFrame, str]:
    frame = lines.frame
    extent = EXTENT_NOTE if "low" in frame.columns else ""
    # Dashes, which tell subflows apart, make long lines slow to draw.
    budget = POINTS // 2 if frame["subflow"].n_unique() > 1 else POINTS
    bins = max(40, min(300, budget // (4 * max(1, count))))
    if lines.averaged or "low" in frame.columns:
        means = average(frame.select(pl.col("^(time_s|value|low|high)$"), *keys), keys, bins)
        if means.height == frame.height:
            return means, extent
        length = (lines.end_s - lines.start_s) / bins
        unit = time_unit(length)
        over = f"Averaged over stretches of {number(length / scale(unit), 3)} {unit}."
        return means, _told(extent, over)
    thin_frame = thin(frame.select("time_s", "value", *keys), keys, bins)
    if thin_frame.height < frame.height:
        note = (
            f"Thinned to first, smallest, largest and last of each of {bins} stretches of time "
            f"({thin_frame.height:,} of {frame.height:,} samples)."
        )
        return thin_frame, note
    return thin_frame, ""


def _subflow_bands(lines: Lines) -> pl.DataFrame:
    """Of each flow the mean over its subflows, and the smallest and the largest of them."""
    keys = ["scheme", "variant", "owner"]
    per_line = _binned(lines.frame, lines, [*keys, "subflow"])
    return (
        per_line.group_by(*keys, "time_s", maintain_order=True)
        .agg(
            pl.col("value").mean(),
            pl.col("value").min().alias("low"),
            pl.col("value").max().alias("high"),
        )
        .with_columns(subflow=pl.lit(0, lines.frame.schema["subflow"]))
        .sort(*keys, "time_s", maintain_order=True)
    )


def _binned(frame: pl.DataFrame, lines: Lines, keys: list[str]) -> pl.DataFrame:
    """The mean of each line in each of `BAND_BINS` stretches of time, at their middles."""
    width_s = max((lines.end_s - lines.start_s) / BAND_BINS, 1e-12)
    place = ((pl.col("time_s") - lines.start_s) / width_s).floor().clip(0, BAND_BINS - 1)
    middle = lines.start_s + (pl.col("bin") + 0.5) * width_s
    return (
        frame.group_by(*keys, place.alias("bin"), maintain_order=True)
        .agg(pl.col("value").mean())
        .with_columns(time_s=middle)
        .drop("bin")
    )


def _subflow_dash(subflows: Sequence[str]) -> Spec:
    if len(subflows) == 1:
        return {"value": [1, 0]}
    return name(
        "subflow",
        "subflow",
        scale={
            "domain": list(subflows),
            "range": [
                _SUBFLOW_DASHES[place % len(_SUBFLOW_DASHES)] for place in range(len(subflows))
            ],
        },
        legend=top_legend(subflows, "subflow"),
    )


def _subflow_names(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    numbers = sorted(frame["subflow"].unique().to_list())
    named = frame.with_columns((pl.col("subflow") + 1).cast(pl.String))
    return named, [str(number + 1) for number in numbers]


def _top(frame: pl.DataFrame) -> float:
    columns = [column for column in ("value", "high") if column in frame.columns]
    return max((float(frame[column].max() or 0.0) for column in columns), default=0.0)  # pyright: ignore[reportArgumentType]


def _courses(frame: pl.DataFrame, unit: str, moment: str) -> list[str]:
    """How the first lines of a panel run."""
    known = frame.drop_nulls("value")
    parts = known.partition_by("scheme", "owner", "subflow", maintain_order=True)
    several = known["subflow"].n_unique() > 1
    schemes = known["scheme"].n_unique() > 1
    said: list[str] = []
    for part in parts[:_DESCRIBED]:
        words = [part["scheme"][0] if schemes else "", part["owner"][0]]
        words.append(f"subflow {part['subflow'][0]}" if several else "")
        text = course(part["time_s"].to_list(), part["value"].to_list(), unit, moment)
        said.append(" ".join(word for word in (*words, text) if word))
    left = len(parts) - _DESCRIBED
    return [*said, f"{left} more lines"] if left > 0 else said


def _told(*notes: str) -> str:
    return " ".join(note for note in notes if note)
