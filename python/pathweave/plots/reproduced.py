"""Published numbers and ours in one chart: a claim's variants, in the published order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from pathweave.plots.figure import PAGE_WIDTH, SPACING, Figure, in_panels, name, quantity, tip
from pathweave.plots.palette import PAPER_LIGHT
from pathweave.plots.ticks import most_ticks, zero_axis
from pathweave.plots.words import by_panel, value_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pathweave.plots.figure import Spec

_ROW = 26
"""Pixels of a variant."""
_LETTER = 6.6
"""Pixels of a letter of a name, about."""
_OURS = "#31688e"
_PUBLISHED = "#55606b"


@dataclass(frozen=True)
class Shown:
    """A variant of a claim in a figure; all values are in its unit."""

    panel: str
    variant: str
    ours: float
    half: float | None
    """Half the interval of ours."""
    at_least: bool
    """Whether ours is only a lower bound."""
    published: float | None


def reproduced_figure(
    figure: str, title: str, axis: str, unit: str, rows: Sequence[Shown]
) -> Figure | None:
    """A figure of variants in their order.

    `axis` says what is measured; all values are in `unit`.
    """
    if not rows:
        return None
    frame = pl.DataFrame(
        [
            {
                "panel": each.panel,
                "variant": each.variant,
                "value": None if each.at_least else each.ours,
                "least": each.ours if each.at_least else None,
                "half": each.half,
                "low": None if each.half is None else max(0.0, each.ours - each.half),
                "high": None if each.half is None else each.ours + each.half,
                "published": each.published,
            }
            for each in rows
        ],
        schema_overrides=dict.fromkeys(
            ("value", "least", "half", "low", "high", "published"), pl.Float64
        ),
    )
    panels = frame["panel"].unique(maintain_order=True).to_list()
    variants = frame["variant"].unique(maintain_order=True).to_list()
    margin = int(min(200, max(map(len, variants)) * _LETTER)) + 24
    columns = min(3, len(panels))
    width = min(640, (PAGE_WIDTH - margin - SPACING * (columns - 1)) // columns)
    highest = frame.select(pl.max_horizontal("value", "least", "high", "published").max()).item()
    titled = f"{axis} ({unit})" if unit else axis
    x = zero_axis(titled, float(highest), most=most_ticks(width))
    x = x | {"axis": x["axis"] | {"grid": True}}
    y: Spec = {"y": name("variant", sort=variants, axis={"labelLimit": 200})}
    tips = [
        tip("variant", "variant"),
        tip("value", "ours", ".4~g"),
        tip("least", "ours, at least", ".4~g"),
        tip("half", "± (95 %)", ".2~g"),
        tip("published", "published", ".4~g"),
    ]
    shown = {"type": "point", "shape": "diamond", "size": 90, "strokeWidth": 1.8}
    layers: list[Spec] = [
        {
            "mark": {**shown, "fill": PAPER_LIGHT, "stroke": _PUBLISHED, "opacity": 1},
            "transform": [{"filter": "isValid(datum.published)"}],
            "encoding": y | {"x": quantity("published") | x, "tooltip": tips},
        },
        {
            "mark": {"type": "rule", "strokeWidth": 2.4, "color": _OURS},
            "transform": [{"filter": "isValid(datum.half)"}],
            "encoding": y | {"x": quantity("low") | x, "x2": {"field": "high"}},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 48, "color": _OURS, "opacity": 1},
            "transform": [{"filter": "isValid(datum.value)"}],
            "encoding": y | {"x": quantity("value") | x, "tooltip": tips},
        },
    ]
    bounds = any(each.at_least for each in rows)
    if bounds:
        layers.append(
            {
                "mark": {"type": "point", "shape": "triangle-right", "size": 60, "color": _OURS},
                "transform": [{"filter": "isValid(datum.least)"}],
                "encoding": y | {"x": quantity("least") | x, "tooltip": tips},
            }
        )
    chart: Spec = {"layer": layers, "width": width, "height": _ROW * len(variants)}
    caption = "Dot: ours, the mean over seeds; line: its 95 % interval."
    if any(each.published is not None for each in rows):
        caption = f"Diamond: published. {caption}"
    caption += " Triangle: ours is at least this." if bounds else ""
    said: dict[str, list[str]] = {}
    for each in rows:
        least = "at least " if each.at_least else ""
        text = f"{each.variant} {least}{value_text(each.ours, unit)}".strip()
        if each.published is not None:
            text += f", published {value_text(each.published, unit).strip()}"
        said.setdefault(each.panel, []).append(text)
    shows = by_panel((panel, said[panel]) for panel in panels)
    return Figure(
        figure, title, caption, in_panels(chart, frame, panels, columns, axis=margin), shows
    )
