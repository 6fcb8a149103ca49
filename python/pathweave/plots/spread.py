"""A quantity by category and scheme: boxes of many values, points of a few, means of seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from pathweave.plots.figure import (
    PAGE_WIDTH,
    SPACING,
    Figure,
    in_panels,
    name,
    quantity,
    scheme_colour,
    tip,
)
from pathweave.plots.palette import PAPER_LIGHT
from pathweave.plots.ticks import most_ticks, zero_axis
from pathweave.plots.words import by_panel, value_text
from pathweave.results.present import seeds_text
from pathweave.statistics.interval import half_width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pathweave.plots.figure import Spec
    from pathweave.plots.frames import Source

FEWEST = 5
"""Values below which each is a point, and none a box."""
_ROW = 15
"""Pixels of a box with its margin."""
_GAP = 14
"""Pixels between categories."""
_LETTER = 6.6
"""Pixels of a letter of a category's name, about."""


def spread_figure(
    source: Source,
    frame: pl.DataFrame,
    figure: str,
    title: str,
    axis: str,
    categories: Sequence[str],
    *,
    top: float | None = None,
    caption: str = "",
) -> Figure | None:
    """A figure of the column `value` by the column `category`, scheme below scheme.

    `categories` gives their order, `axis` the title of the x axis with its unit, `top` its end
    where that is known, `caption` what is to be said beside how boxes are read.
    """
    frame = frame.drop_nulls("value").select("scheme", "panel", "category", "value")
    if frame.is_empty():
        return None
    value = pl.col("value")
    keys = ["scheme", "panel", "category"]
    counts = frame.with_columns(pl.len().over(keys).alias("count"))
    boxes = (
        counts.filter(pl.col("count") >= FEWEST)
        .group_by(keys, maintain_order=True)
        .agg(
            value.min().alias("low"),
            value.quantile(0.25, "linear").alias("p25"),
            value.median().alias("p50"),
            value.quantile(0.75, "linear").alias("p75"),
            value.max().alias("high"),
            pl.col("count").first(),
        )
    )
    points = counts.filter(pl.col("count") < FEWEST)
    shown = pl.concat([boxes, points], how="diagonal_relaxed")
    panels = source.panels(shown)
    schemes = source.schemes(shown)
    columns, width, margin = _panels(len(panels), categories)
    high = max(float(frame["value"].max() or 0.0), 0.0)  # pyright: ignore[reportArgumentType]
    x = _with_grid(zero_axis(axis, high, end=top, most=most_ticks(width)))
    shared = _rows(source, schemes, categories)
    about = [tip("scheme", "variant"), tip("category", "where")]
    ends = (
        ("low", "smallest"),
        ("p25", "first quartile"),
        ("p50", "median"),
        ("p75", "third quartile"),
        ("high", "largest"),
    )
    box = [*about, *(tip(field, text, ".4~g") for field, text in ends), tip("count", "values", ",")]
    has_box, has_point = "isValid(datum.p50)", "isValid(datum.value)"

    def part(mark: Spec, test: str, **encoding: Spec) -> Spec:
        return {"mark": mark, "transform": [{"filter": test}], "encoding": shared | encoding}

    rule = {"type": "rule", "strokeWidth": 1.3}
    outline = {
        "type": "bar", "filled": False, "fill": PAPER_LIGHT, "strokeWidth": 1.5, "size": 9,
    }  # fmt: skip
    layers = [
        part(rule, has_box, x=quantity("low") | x, x2={"field": "p25"}),
        part(rule, has_box, x=quantity("p75") | x, x2={"field": "high"}),
        part(
            outline,
            has_box,
            x=quantity("p25") | x,
            x2={"field": "p75"},
            tooltip=box,  # pyright: ignore[reportArgumentType]
        ),
        part(
            {"type": "tick", "thickness": 2.6, "size": 11},
            has_box,
            x=quantity("p50") | x,
            tooltip=box,  # pyright: ignore[reportArgumentType]
        ),
        part(
            {"type": "point", "size": 34, "opacity": 0.9},
            has_point,
            x=quantity("value") | x,
            tooltip=[*about, tip("value", axis, ".4~g")],  # pyright: ignore[reportArgumentType]
        ),
    ]
    height = len(categories) * (_ROW * max(1, len(schemes)) + _GAP)
    chart: Spec = {"layer": layers, "width": width, "height": height}
    read: list[str] = []
    if not boxes.is_empty():
        read.append("Box: first to third quartile; tick: median; line: smallest to largest.")
    if not points.is_empty():
        read.append("Points: single values.")
    told = " ".join([*read, "All seeds together.", caption]).strip()
    shows = _medians(source, frame, categories, axis)
    return Figure(figure, title, told, in_panels(chart, shown, panels, columns, axis=margin), shows)


def means_figure(
    source: Source,
    frame: pl.DataFrame,
    figure: str,
    title: str,
    axis: str,
    categories: Sequence[str],
) -> Figure | None:
    """A figure of the mean of `value` over seeds by `category`, with its 95 % interval.

    For a handful of flows.
    """
    keys = ["scheme", "panel", "category"]
    by_seed = (
        frame.drop_nulls("value")
        .group_by(*keys, "seed", maintain_order=True)
        .agg(pl.col("value").mean())
    )
    if by_seed.is_empty():
        return None
    rows: list[dict[str, Any]] = []
    for group in by_seed.partition_by(keys, maintain_order=True):
        values: list[float] = group["value"].to_list()
        mean = sum(values) / len(values)
        half = half_width(values)
        rows.append(
            {key: group[key][0] for key in keys}
            | {"value": mean, "half": half, "seeds": len(values)}
            | {"low": None if half is None else max(0.0, mean - half)}
            | {"high": None if half is None else mean + half}
        )
    means = pl.DataFrame(
        rows, schema_overrides={"half": pl.Float64, "low": pl.Float64, "high": pl.Float64}
    )
    panels = source.panels(means)
    schemes = source.schemes(means)
    columns, width, margin = _panels(len(panels), categories)
    highest = means.select(pl.max_horizontal("value", "high").max()).item()
    x = _with_grid(zero_axis(axis, float(highest), most=most_ticks(width)))
    shared = _rows(source, schemes, categories)
    tips = [
        tip("scheme", "variant"),
        tip("category", "flow"),
        tip("value", axis, ".4~g"),
        tip("half", "± (95 %)", ".2~g"),
        tip("seeds", "seeds", ","),
    ]
    dot = {"type": "point", "size": 60, "opacity": 1}
    layers: list[Spec] = [
        {
            "mark": {"type": "rule", "strokeWidth": 2},
            "transform": [{"filter": "isValid(datum.half)"}],
            "encoding": shared | {"x": quantity("low") | x, "x2": {"field": "high"}},
        },
        {"mark": dot, "encoding": shared | {"x": quantity("value") | x, "tooltip": tips}},
    ]
    height = len(categories) * (_ROW * max(1, len(schemes)) + _GAP)
    chart: Spec = {"layer": layers, "width": width, "height": height}
    most = int(means["seeds"].max() or 1)  # pyright: ignore[reportArgumentType]
    caption = f"Point: mean over {seeds_text(most)}; line: its 95 % interval."
    if most == 1:
        caption = "One seed, so there are no intervals."
    unit = axis[axis.rfind("(") + 1 : -1]
    said: dict[str, list[str]] = {}
    for row in means.iter_rows(named=True):
        half = "" if row["half"] is None else f" ± {value_text(row['half'], '', 2)}"
        text = f"{row['category']} {row['scheme']} {value_text(row['value'], '')}{half} {unit}"
        said.setdefault(row["panel"], []).append(" ".join(text.split()))
    shows = by_panel((panel, said[panel]) for panel in panels)
    return Figure(
        figure, title, caption, in_panels(chart, means, panels, columns, axis=margin), shows
    )


def _with_grid(x: Spec) -> Spec:
    """Lines by which values are read where there are no others."""
    return x | {"axis": x["axis"] | {"grid": True}}


def _rows(source: Source, schemes: Sequence[str], categories: Sequence[str]) -> Spec:
    """Encoding of rows: a category each, in it a scheme each, in its colour."""
    return {
        "y": name(
            "category",
            sort=list(categories),
            scale={"paddingInner": 0.14, "paddingOuter": 0.07},
            axis={"labelLimit": 180},
        ),
        "yOffset": {"field": "scheme", "type": "nominal", "sort": list(schemes)},
        "color": scheme_colour(source.palette, schemes),
    }


def _panels(count: int, categories: Sequence[str]) -> tuple[int, int, int]:
    """Columns, width of each panel, and room for the names of the categories, in pixels."""
    longest = max((len(category) for category in categories), default=1)
    margin = int(min(180, longest * _LETTER)) + 20
    columns = min(count, 3) if count != 4 else 2
    columns = max(columns, 1)
    width = (PAGE_WIDTH - margin - SPACING * (columns - 1)) // columns
    return columns, min(640, width), margin


def _medians(source: Source, frame: pl.DataFrame, categories: Sequence[str], axis: str) -> str:
    unit = axis[axis.rfind("(") + 1 : -1]
    medians = frame.group_by("scheme", "panel", "category", maintain_order=True).agg(
        pl.col("value").median(), pl.col("value").max().alias("high")
    )
    found = {
        (row["panel"], row["category"], row["scheme"]): row for row in medians.iter_rows(named=True)
    }

    def texts(panel: str) -> list[str]:
        said: list[str] = []
        for category in categories:
            parts = [
                f"{scheme} {value_text(row['value'], unit)}, at most {value_text(row['high'], '')}"
                for scheme in source.schemes(frame)
                if (row := found.get((panel, category, scheme))) is not None
            ]
            if parts:
                said.append(f"{category}: median {'; '.join(part.strip() for part in parts)}")
        return said

    return by_panel((panel, texts(panel)) for panel in source.panels(frame))
